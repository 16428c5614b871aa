//! `jobctl install` over an installation: what owners may do stays, what somebody broke is put right; whose rights it has.

use super::installing::contents;
use super::tool::{Tool, bad, call, good, jobctl, status};
use crate::db::{Account, Db};
use crate::each::each;
use crate::session::name;

async fn rights(db: &Db, account: &Account) -> Vec<Vec<String>> {
    let mut rights = db.admin().await.rows(&format!("SHOW GRANTS FOR {account}")).await;
    rights.sort();
    rights
}

async fn nothing_to_do(db: &Db) {
    let again = good(db, &db.root(), &["install"]).await;
    assert!(again.starts_with("nothing to do"), "{again}");
}

#[test]
fn a_routine_that_was_dropped_or_changed_by_hand_is_put_right_and_owners_keep_their_rights() {
    each(|db| async move {
        let (root, bob) = (db.root(), db.account("bob").await);
        let stamp = &db.schema()[db.schema().len() - 16..];
        let odd = db.stranger_at(&format!("o'\"`@{stamp}"), "127.0.0.%").await;
        db.own(&odd).await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        admin.run(&format!("GRANT EXECUTE ON PROCEDURE `job$run` TO {odd} WITH GRANT OPTION")).await;
        let (before, whole) = (rights(&db, &bob).await, contents(&mut admin, db.schema()).await.len());
        let odd_before = rights(&db, &odd).await;
        for damage in [
            &["DROP PROCEDURE `job$define`"][..],
            &["DROP PROCEDURE `job$_lost`"],
            &["DROP PROCEDURE `job$stop`", "CREATE PROCEDURE `job$stop`(a INT, b INT) DO 0"],
            &["DROP PROCEDURE `job$_event`", "CREATE PROCEDURE `job$_event`() SELECT 'not ours'"],
            &["ALTER PROCEDURE `job$_define` SQL SECURITY INVOKER"],
            &["CREATE OR REPLACE VIEW job_overview AS SELECT job_id, job_name FROM job"],
            &["ALTER SQL SECURITY INVOKER VIEW job_overview AS SELECT * FROM job"],
        ] {
            for sql in damage {
                admin.run(sql).await;
            }
            let repaired = good(&db, &root, &["install"]).await;
            assert!(repaired.starts_with("reinstalled "), "{damage:?}: {}", repaired.lines().next().unwrap_or_default());
            nothing_to_do(&db).await;
            assert_eq!(rights(&db, &bob).await, before, "{damage:?}");
            assert_eq!(rights(&db, &odd).await, odd_before, "{damage:?}");
            assert_eq!(contents(&mut admin, db.schema()).await.len(), whole, "{damage:?}");
            good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h", "--replace"]).await;
        }
    });
}

#[test]
fn a_missing_table_is_not_called_nothing_to_do() {
    each(|db| async move {
        db.admin().await.run("DROP TABLE job_progress").await;
        let ran = jobctl(&db, &db.root(), &["install"]).await;
        assert!(!ran.stdout.starts_with("nothing to do"), "{:?}", ran.stdout.lines().next());
    });
}

#[test]
fn a_role_of_owners_keeps_its_rights_too() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let role = format!("owners{}", &db.schema()[db.schema().len() - 16..]);
        admin.run(&format!("CREATE ROLE {role}")).await;
        for grant in db.grants() {
            admin.run(&format!("{} TO {role}", grant.rsplit_once(" TO ").unwrap().0)).await;
        }
        let before = admin.rows(&format!("SHOW GRANTS FOR {role}")).await;
        admin.run("DROP PROCEDURE `job$define`").await;
        let ran = jobctl(&db, &db.root(), &["install"]).await;
        let after = admin.rows(&format!("SHOW GRANTS FOR {role}")).await;
        admin.run(&format!("DROP ROLE {role}")).await;
        assert!(ran.code == 0 && !ran.stderr.contains("warning"), "{ran:#?}");
        let sorted = |mut rows: Vec<Vec<String>>| {
            rows.sort();
            rows
        };
        assert_eq!(sorted(after), sorted(before));
    });
}

#[test]
fn the_printed_grants_are_what_an_owner_needs_and_nothing_more() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let mut admin = db.admin().await;
        admin.run(&format!("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {bob}")).await;
        let printed = good(&db, &db.root(), &["install", "--owner", &format!("{}@%", bob.user)]).await;
        let (_, printed) = printed.split_once("an account that owns jobs needs:").expect(&printed);
        let printed: Vec<_> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        // As they stand, by the plain client.
        let ran = db.client(&db.root(), &[], &printed.join("\n")).await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        let plain = |text: &str| text.replace(['`', ';', '\''], "").replace(" WITH GRANT OPTION", "").to_lowercase();
        let mut wanted: Vec<_> = printed.iter().map(|line| plain(line)).collect();
        let rows = rights(&db, &bob).await;
        let mut held: Vec<_> =
            rows.iter().map(|row| plain(&row[0])).filter(|line| !line.starts_with("grant usage on *.*")).collect();
        wanted.sort();
        held.sort();
        assert_eq!(held, wanted);
        assert!(!rows.iter().any(|row| row[0].contains("GRANT OPTION")), "{rows:?}");
        admin.run(&format!("GRANT EXECUTE ON {}.* TO {bob}", name(db.bodies()))).await;
        db.body("hello", "DO 0").await;
        let procedure = call(&db, "hello");
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "0.1s"]).await;
        for verb in [&["list"][..], &["show", "x"], &["status"]] {
            assert!(good(&db, &bob, verb).await.contains('x'), "{verb:?}");
        }
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        start.says("run ok", 2).await;
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        good(&db, &bob, &["drop", "x", "--purge-history"]).await;
        let mut session = db.login(&bob).await;
        for sql in [
            "SELECT COUNT(*) FROM job",
            "SELECT COUNT(*) FROM job_overview",
            "SELECT ticket_token FROM job_ticket",
            "SELECT setting_value FROM job_setting",
            "DELETE FROM job_run",
            "INSERT INTO job_ticket (ticket_token, ticket_account) VALUES ('a', 'root@%')",
            "CALL job$_lost(1, 1, 'x')",
            "CALL job$_event(1, 'x', 'x', NULL, NULL, NULL)",
            "CALL job$_caller('x', @a, @b)",
            "CREATE TABLE mine (id INT)",
        ] {
            let (code, message) = session.error(sql).await;
            assert!([1142, 1143, 1370, 1044].contains(&code), "{sql}: {code} {message}");
        }
    });
}

#[test]
fn a_locked_definer_made_as_printed_is_enough_and_its_loss_is_told() {
    each(|db| async move {
        let root = db.root();
        // The printed commands, for an account of this test's own.
        let ran = jobctl(&db, &root, &["install", "--owner", "bob@%"]).await;
        let definer = format!("definer{}", &db.schema()[db.schema().len() - 16..]);
        let printed: Vec<_> = ran
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("hint: "))
            .filter(|line| line.starts_with("CREATE USER") || line.starts_with("GRANT"))
            .map(|line| line.replace("`jobctl`@`localhost`", &format!("`{definer}`@`localhost`")))
            .collect();
        assert!(printed.len() >= 2 && printed[0].contains("ACCOUNT LOCK"), "{ran:#?}");
        let ran = db.client(&root, &[], &printed.join("\n")).await;
        assert_eq!(ran.code, 0, "{printed:#?} {ran:#?}");
        let bob = db.account("bob").await;
        let before = rights(&db, &bob).await;
        let moved = good(&db, &root, &["install", "--definer", &format!("{definer}@localhost")]).await;
        assert!(moved.contains(&format!("with the rights of `{definer}`@`localhost`")), "{moved}");
        assert_eq!(rights(&db, &bob).await, before);
        let mut admin = db.admin().await;
        let definers = "SELECT COUNT(DISTINCT definer), MAX(definer) FROM (SELECT CAST(definer AS CHAR) COLLATE utf8mb4_bin AS definer \
                        FROM information_schema.routines WHERE routine_schema = DATABASE() UNION \
                        SELECT CAST(definer AS CHAR) COLLATE utf8mb4_bin FROM information_schema.views WHERE table_schema = DATABASE()) AS d";
        assert_eq!(admin.row(definers).await, ["1", &format!("{definer}@localhost")]);
        // Who repeats it without the option keeps it.
        nothing_to_do(&db).await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        start.says("run ok", 2).await;
        status(&db, &bob, "x", "SLEEPING").await;
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        admin.run(&format!("DROP USER `{definer}`@`localhost`")).await;
        for (account, arguments) in [
            (&bob, &["define", "y", "--call", &call(&db, "hello"), "--every", "1h"][..]),
            (&bob, &["status"]),
            (&root, &["status"]),
            (&bob, &["drop", "x"]),
        ] {
            let refused = bad(&db, account, 4, arguments).await;
            assert!(refused.contains("1449") && refused.contains("hint: "), "{arguments:?}: {refused}");
            assert!(refused.contains("jobctl install --definer ACCOUNT"), "{arguments:?}: {refused}");
        }
        let refused = bad(&db, &root, 4, &["install"]).await;
        assert!(refused.contains("does not exist") && refused.contains("hint: CREATE USER"), "{refused}");
        let admin_account = admin.one("SELECT CURRENT_USER()").await;
        good(&db, &root, &["install", "--definer", &admin_account]).await;
        assert_eq!(admin.row(definers).await[1], admin_account);
        good(&db, &bob, &["drop", "x"]).await;
        assert_eq!(rights(&db, &bob).await, before);
    });
}

#[test]
fn runs_go_on_while_what_is_missing_is_put_right() {
    each(|db| async move {
        let (root, bob) = (db.root(), db.account("bob").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.1", "").await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        start.says("run ok", 2).await;
        // Where there is nothing to do, nobody is in the way.
        nothing_to_do(&db).await;
        let mut admin = db.admin().await;
        admin.run("DROP PROCEDURE `job$get_lock`").await;
        assert!(good(&db, &root, &["install"]).await.starts_with("reinstalled"));
        let ran = start.count("run ok");
        start.says("run ok", ran + 3).await;
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        let bad_ends = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')";
        assert_eq!(admin.number(bad_ends).await, 0, "{log:#?}");
    });
}
