//! A server that is killed and comes back: nothing runs twice, nothing is forgotten.

use std::time::Duration;

use crate::db::Db;
use crate::each::{each_private, wait_until};
use crate::ledger::complete;
use crate::servers::Private;

const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_run_on_a_server_that_was_killed_is_lost_and_the_job_goes_on_after_its_restart() {
    each_private(|server| async move {
        let mut private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "restart").await;
        let bob = db.account("bob").await;
        db.table("inside", "(n INT)").await;
        // The first run never ends by itself.
        db.body(
            "slow",
            "BEGIN DECLARE n INT; INSERT INTO inside VALUES (1); IF (SELECT COUNT(*) FROM inside) = 1 THEN SET n = SLEEP(600); END IF; END",
        )
        .await;
        db.define(&bob, "x", "slow", "1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it runs", SOON, async || admin.one("SELECT status FROM job_overview").await == "RUNNING").await;
        let inside = format!("SELECT COUNT(*) FROM {}.inside", db.bodies());
        wait_until("the body is in", SOON, async || admin.number(&inside).await == 1).await;
        drop(admin);

        private.stop(true);
        assert!(runner.outcome().await.is_err(), "its client sees that the server is gone");
        private.restart(&[]);

        let mut admin = db.admin().await;
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "LOST");
        // Connection ids are given out anew: whoever has the number of the dead runner is not the runner.
        let dead = admin.number("SELECT job_runner_connection_id FROM job").await;
        let mut strangers = Vec::new();
        while i64::from(strangers.last().map_or(0, crate::session::Session::id)) < dead + 1 {
            strangers.push(db.login(&bob).await);
        }
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "LOST");
        let next = db.runner(&bob, "x").await;
        let ok = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        wait_until("runs go on", SOON, async || {
            assert!(!next.ended(), "{}", admin.one("SELECT job_runner_message FROM job").await);
            admin.number(ok).await >= 2
        })
        .await;
        let entries = complete(&mut admin, 1_000_000).await;
        assert_eq!(entries[0].outcome, "LOST", "{entries:#?}");
        assert_eq!(entries.iter().filter(|entry| entry.outcome == "LOST").count(), 1, "{entries:#?}");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'LOST'").await, "1");
    });
}
