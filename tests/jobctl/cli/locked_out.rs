//! An account that may no longer log in starts no body later than its session is old, and the row says why nothing runs.

use super::takeover::start;
use super::tool::{SOON, call, good};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::Session;

/// Age at which sessions are renewed, in seconds.
const AGE: i64 = 2;

/// Takes an account its login or its rights; gives what brings them back.
async fn lock_out(db: &Db, admin: &mut Session, bob: &Account, how: &str) -> Vec<String> {
    let grants: Vec<_> = admin.rows(&format!("SHOW GRANTS FOR {bob}")).await.concat();
    match how {
        "locked" => {
            admin.run(&format!("ALTER USER {bob} ACCOUNT LOCK")).await;
            vec![format!("ALTER USER {bob} ACCOUNT UNLOCK")]
        }
        "dropped" => {
            admin.run(&format!("DROP USER {bob}")).await;
            let create = format!("CREATE USER {bob} IDENTIFIED BY '{}'", bob.password);
            [create].into_iter().chain(grants.into_iter().filter(|grant| !grant.starts_with("GRANT USAGE"))).collect()
        }
        _ => {
            let mut back = Vec::new();
            for grant in db.grants() {
                let (what, _) = grant.rsplit_once(" TO ").expect("a GRANT has a TO");
                admin.run(&format!("{} FROM {bob}", what.replacen("GRANT", "REVOKE", 1))).await;
                back.push(format!("{what} TO {bob}"));
            }
            back
        }
    }
}

#[test]
fn an_account_that_was_locked_dropped_or_stripped_starts_no_body_for_long() {
    each(|db| async move {
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        for how in ["locked", "dropped", "stripped"] {
            let bob = db.account(how).await;
            good(&db, &bob, &["define", how, "--call", &call(&db, "hello"), "--every", "0.2s"]).await;
            let start = start(&db, &bob, &["--all", "--ttl", "6s", "--session-max-age", &format!("{AGE}s")]);
            start.says("run ok", 3).await;
            let back = lock_out(&db, &mut admin, &bob, how).await;
            let since = admin.one("SELECT UTC_TIMESTAMP(6)").await;
            let word =
                format!("SELECT CONCAT(status, ': ', COALESCE(status_detail, '')) FROM job_overview WHERE job_name = '{how}'");
            // Whose rights are gone, that cannot even say any more that its controller lives, and its runner ends at once.
            let said = match how {
                "locked" => "ENABLED: owner cannot log in",
                _ => "LOST: owner cannot log in, or its controller hangs",
            };
            wait_until(&format!("{how}: {said}"), SOON, async || admin.one(&word).await == said).await;
            // A body that was under way when the session became too old is the last one.
            let late = format!(
                "SELECT COALESCE(MAX(TIMESTAMPDIFF(SECOND, '{since}', started_at)), 0) FROM job_run WHERE job_name = '{how}'"
            );
            assert!(admin.number(&late).await <= AGE + 10, "{how}: {:#?}", start.log());

            for statement in back {
                admin.run(&statement).await;
            }
            let ran = start.count("run ok");
            start.says("run ok", ran + 3).await;
            wait_until("it works again", SOON, async || admin.one(&word).await == "SLEEPING: ").await;
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
        }
    });
}
