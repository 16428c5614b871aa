//! `jobctl doctor`: what is written is compared with what is, each mismatch is named, and what is safe to mend is mended.

use super::tool::{SOON, Tool, bad, call, good, jobctl, json, status};
use crate::db::{Account, Db};
use crate::each::{each, each_private, wait_until};
use crate::servers::Private;
use crate::session::Session;

async fn job(db: &Db) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(1000); END").await;
    good(db, &bob, &["define", "x", "--call", &call(db, "slow"), "--every", "1s"]).await;
    let admin = db.admin().await;
    (bob, admin)
}

/// What is found about jobs; the test servers are not durable, which is found as well.
async fn found(db: &Db, bob: &Account, arguments: &[&str]) -> Vec<String> {
    let ran = jobctl(db, bob, &[&["doctor", "--output", "json"], arguments].concat()).await;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    assert_eq!(ran.code, i32::from(!rows.is_empty()), "{ran:#?}");
    let text = |row: &serde_json::Value| format!("{} {}", row["job_name"], row["finding"]).replace('"', "");
    rows.iter().map(text).filter(|row| !row.ends_with("NOT_DURABLE")).collect()
}

#[test]
fn a_runner_that_is_gone_is_found_and_its_row_mended() {
    each(|db| async move {
        let (bob, mut admin) = job(&db).await;
        assert_eq!(found(&db, &bob, &[]).await, [""; 0]);
        let runner = db.runner(&bob, "x").await;
        status(&db, &bob, "x", "RUNNING").await;
        assert_eq!(found(&db, &bob, &[]).await, [""; 0], "as long as it lives");
        let told = Tool::new(&db, &bob, &["doctor", "--fix"]).run().await;
        assert!(!told.stdout.contains('x') || told.code == 1, "{told:#?}");
        admin.run(&format!("KILL {}", runner.id)).await;
        status(&db, &bob, "x", "LOST").await;
        assert_eq!(found(&db, &bob, &[]).await, ["x LOST"]);
        let told = jobctl(&db, &bob, &["doctor"]).await;
        assert!(
            told.stdout.contains(&format!("connection {}", runner.id)) && told.stdout.contains("jobctl doctor --fix"),
            "{told:#?}"
        );
        assert_eq!(found(&db, &bob, &["--fix"]).await, [""; 0]);
        let run = admin.row("SELECT outcome, finished_at IS NOT NULL FROM job_run WHERE attempt > 0").await;
        assert_eq!(run, ["LOST", "1"]);
        status(&db, &bob, "x", "ENABLED").await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'MENDED'").await, "1");
    });
}

#[test]
fn a_lock_in_strange_hands_and_a_controller_that_is_gone_are_found() {
    each(|db| async move {
        let (bob, mut admin) = job(&db).await;
        let mut owner = db.login(&bob).await;
        owner.run("CALL job$get_lock('x', @status, @by)").await;
        assert_eq!(found(&db, &bob, &[]).await, ["x LOCK_TAKEN"]);
        let (code, told) = owner.error("CALL job$mend('x')").await;
        assert!(code == 45004 && told.contains("somebody holds the lock"), "{code} {told}");
        owner.run("CALL job$release_lock('x', @status, @by)").await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        status(&db, &bob, "x", "RUNNING").await;
        start.signal("KILL");
        start.ends().await;
        wait_until("it is a ghost", SOON, async || found(&db, &bob, &[]).await == ["x CONTROLLER_GONE"]).await;
        // Somebody's foreign job is none of theirs.
        let eve = db.account("eve").await;
        assert_eq!(found(&db, &eve, &[]).await, [""; 0]);
        let told = bad(&db, &eve, 3, &["show", "x"]).await;
        assert!(told.contains("you own no job"), "{told}");
        good(&db, &bob, &["abort", "--now", "x"]).await;
        assert_eq!(json(&db, &bob, &["status", "x"]).await[0]["status"], "ABORTED");
        assert_eq!(found(&db, &bob, &[]).await, [""; 0]);
        drop(admin.one("SELECT 1").await);
    });
}

#[test]
fn a_controller_that_hangs_and_a_runner_of_another_version_are_found() {
    each(|db| async move {
        let (bob, mut admin) = job(&db).await;
        let start = Tool::new(&db, &bob, &["start", "x", "--ttl", "3s"]).start();
        status(&db, &bob, "x", "RUNNING").await;
        assert_eq!(found(&db, &bob, &[]).await, [""; 0]);
        admin.run("UPDATE job SET job_runner_version = '0.0.1', job_changed = job_changed").await;
        assert_eq!(found(&db, &bob, &[]).await, ["x VERSION"]);
        admin
            .run(&format!("UPDATE job SET job_runner_version = '{}', job_changed = job_changed", env!("CARGO_PKG_VERSION")))
            .await;
        start.signal("STOP");
        wait_until("it hangs", SOON, async || found(&db, &bob, &[]).await == ["x CONTROLLER_STALE"]).await;
        start.signal("CONT");
        wait_until("it is heard again", SOON, async || found(&db, &bob, &[]).await.is_empty()).await;
        for _ in 0..2 {
            start.signal("TERM");
        }
        start.ends().await;
    });
}

#[test]
fn a_server_that_may_lose_what_it_committed_is_named_and_a_read_only_one_is_refused() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &["--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1"]);
        let db = Db::installed(&private.server, "doctor").await;
        let bob = db.account("bob").await;
        assert_eq!(good(&db, &bob, &["doctor"]).await, "all is as it should be\n");
        let mut admin = db.admin().await;
        admin.run("SET GLOBAL innodb_flush_log_at_trx_commit = 2").await;
        let told = jobctl(&db, &bob, &["doctor"]).await;
        assert!(told.code == 1 && told.stdout.contains("innodb_flush_log_at_trx_commit is 2"), "{told:#?}");
        admin.run("SET GLOBAL read_only = 1").await;
        let told = bad(&db, &bob, 4, &["doctor"]).await;
        assert!(told.contains("this server is read-only"), "{told}");
        admin.run("SET GLOBAL read_only = 0").await;
    });
}
