//! `jobctl uninstall`.

use super::tool::{SOON, Tool, bad, call, good};
use crate::each::{each, wait_until};

#[test]
fn uninstall_asks_and_only_a_yes_is_a_yes() {
    each(|db| async move {
        let root = db.root();
        let mut admin = db.admin().await;
        let objects = format!(
            "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{0}') \
             + (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{0}')",
            db.schema()
        );
        let whole = admin.number(&objects).await;
        let refused = bad(&db, &root, 4, &["uninstall"]).await;
        assert!(refused.contains("hint: `--yes`"), "{refused}");
        for answer in ["n\n", "\n", "yess\n", "maybe\n"] {
            let ran = Tool::on_terminal(&db, &root, &["uninstall"]).answering("[y/N] ", answer).await;
            assert_eq!(ran.code, 4, "{answer:?}: {ran:#?}");
            assert!(ran.stdout.contains(&format!("`{}`", db.schema())) && ran.stdout.contains("0 jobs"), "{ran:#?}");
            assert_eq!(admin.number(&objects).await, whole, "{answer:?}");
        }
        let ran = Tool::on_terminal(&db, &root, &["uninstall"]).answering("[y/N] ", "y\n").await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert_eq!(admin.number(&objects).await, 0);
        let schemata = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '{}'", db.schema());
        assert_eq!(admin.number(&schemata).await, 0);
        let gone = bad(&db, &root, 3, &["uninstall", "--yes"]).await;
        assert!(gone.contains("not installed"), "{gone}");
        assert!(good(&db, &root, &["install"]).await.starts_with("installed"));
        assert_eq!(admin.number(&objects).await, whole);
    });
}

#[test]
fn uninstall_refuses_while_a_runner_lives() {
    each(|db| async move {
        let (root, bob) = (db.root(), db.account("bob").await);
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "sleeper", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        let runner = db.runner(&bob, "sleeper").await;
        super::tool::status(&db, &bob, "sleeper", "SLEEPING").await;
        let refused = bad(&db, &root, 4, &["uninstall", "--yes"]).await;
        assert!(refused.contains("`sleeper`") && refused.contains("hint: "), "{refused}");
        let mut admin = db.admin().await;
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "SLEEPING");
        admin.run(&format!("KILL {}", runner.id)).await;
        wait_until("the runner is gone", SOON, async || {
            admin.one("SELECT job_runner_connection_id FROM job_overview").await == "NULL"
        })
        .await;
        good(&db, &root, &["uninstall", "--yes"]).await;
    });
}

#[test]
fn uninstall_leaves_what_is_not_ours_and_refuses_a_schema_that_is_not_ours() {
    each(|db| async move {
        let (root, eve) = (db.root(), db.stranger("eve").await);
        let mut admin = db.admin().await;
        bad(&db, &eve, 3, &["uninstall", "--yes"]).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_overview").await, "0");
        admin.run("CREATE TABLE job_orders (id INT)").await;
        admin.run("CREATE PROCEDURE `job$mine`() DO 0").await;
        let dropped = good(&db, &root, &["uninstall", "--yes"]).await;
        assert!(dropped.contains("which holds more"), "{dropped}");
        let left = format!(
            "SELECT GROUP_CONCAT(name ORDER BY name) FROM (SELECT table_name AS name FROM information_schema.tables \
             WHERE table_schema = '{0}' UNION SELECT routine_name FROM information_schema.routines WHERE routine_schema = '{0}') AS x",
            db.schema()
        );
        assert_eq!(admin.one(&left).await, "job$mine,job_orders");
        bad(&db, &root, 3, &["uninstall", "--yes"]).await;
        // Half an installation can be taken away too.
        admin.run("DROP TABLE job_orders").await;
        admin.run("DROP PROCEDURE `job$mine`").await;
        good(&db, &root, &["install"]).await;
        admin.run("DROP VIEW job_overview").await;
        admin.run("DROP TABLE job_ticket, job_setting").await;
        good(&db, &root, &["uninstall", "--yes"]).await;
    });
}
