//! A run that goes on in the server although its controller is dead: said to be one, and held to its timeout all the same.

use super::takeover::start;
use super::tool::{SOON, call, good, json, status};
use crate::each::{each, wait_until};

#[test]
fn a_run_whose_controller_is_dead_is_called_so_until_it_is_over() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(4); END").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "slow"), "--every", "1s"]).await;
        let first = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "RUNNING").await;
        let mut admin = db.admin().await;
        first.signal("KILL");
        status(&db, &bob, "x", "RUNNING (controller gone)").await;
        // Whoever starts meanwhile under the same name does not make it a run of his own.
        let second = start(&db, &bob, &["x"]);
        second.says("standing by", 1).await;
        assert_eq!(json(&db, &bob, &["status", "x"]).await[0]["status"], "RUNNING (controller gone)");
        let found = db.jobctl(&bob, &["doctor"]).await;
        assert!(found.code == 1 && found.stdout.contains("is gone"), "{found:?}");
        second.says("runner started", 1).await;
        assert_eq!(admin.one("SELECT outcome FROM job_run WHERE attempt > 0 ORDER BY run_no LIMIT 1").await, "OK");
        status(&db, &bob, "x", "RUNNING").await;
        for _ in 0..2 {
            second.signal("TERM");
        }
        second.ends().await;
    });
}

#[test]
fn a_timeout_is_enforced_on_a_ghost_and_on_a_job_that_was_paused_meanwhile() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(600); END").await;
        for job in ["ghost", "paused"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "slow"), "--every", "1s", "--timeout", "4s"]).await;
        }
        let first = start(&db, &bob, &["ghost"]);
        status(&db, &bob, "ghost", "RUNNING").await;
        let second = start(&db, &bob, &["--all"]);
        second.says("standing by", 1).await;
        status(&db, &bob, "paused", "RUNNING").await;
        first.signal("KILL");
        good(&db, &bob, &["pause", "paused"]).await;
        status(&db, &bob, "paused", "PAUSING").await;
        let mut admin = db.admin().await;
        let stopped = "SELECT COUNT(DISTINCT job_name) FROM job_run WHERE outcome = 'TIMEOUT'";
        wait_until("both are stopped", SOON, async || admin.number(stopped).await == 2).await;
        for _ in 0..2 {
            second.signal("TERM");
        }
        second.ends().await;
    });
}
