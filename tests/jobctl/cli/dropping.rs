//! `jobctl drop`, and what commands say of jobs that are not there.

use super::tool::{Tool, bad, call, good, json, status};
use crate::each::each;

#[test]
fn drop_keeps_the_record_unless_it_is_to_be_purged() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        let record = "SELECT (SELECT COUNT(*) FROM job_run) > 0, (SELECT COUNT(*) FROM job_event WHERE job_id > 0) > 0, (SELECT COUNT(*) FROM job)";
        for (purge, left) in [(false, ["1", "1", "0"]), (true, ["0", "0", "0"])] {
            admin.run("DELETE FROM job_run").await;
            admin.run("DELETE FROM job_event").await;
            good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
            let start = Tool::new(&db, &bob, &["start", "x"]).start();
            start.says("run ok", 2).await;
            start.signal("TERM");
            start.ends().await;
            let runs = admin.one("SELECT COUNT(*) FROM job_run").await;
            let more = if purge { &["--purge-history"][..] } else { &[] };
            let row = &json(&db, &bob, &[&["drop", "x"], more].concat()).await[0];
            assert_eq!(row["runs_purged"].to_string(), if purge { runs } else { "0".into() });
            assert_eq!(admin.row(record).await, left);
        }
        // The name is free, the id is not used again.
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        assert_eq!(admin.one("SELECT job_id FROM job").await, "3");
    });
}

#[test]
fn drop_is_refused_while_a_runner_lives() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(60); END").await;
        good(&db, &bob, &["define", "asleep", "--call", &call(&db, "slow"), "--every", "1h"]).await;
        good(&db, &bob, &["define", "at work", "--call", &call(&db, "slow"), "--every", "0.1s"]).await;
        for (job, word) in [("asleep", "SLEEPING"), ("at work", "RUNNING")] {
            let runner = db.runner(&bob, job).await;
            status(&db, &bob, job, word).await;
            for arguments in [&["drop", job][..], &["drop", job, "--purge-history"]] {
                let refused = bad(&db, &bob, 4, arguments).await;
                assert!(refused.contains(&format!("connection {}", runner.id)), "{refused}");
            }
            db.admin().await.run(&format!("KILL {}", runner.id)).await;
            status(&db, &bob, job, "LOST").await;
            good(&db, &bob, &["drop", job]).await;
        }
        // Whose runner was lost has its run closed.
        assert_eq!(db.admin().await.one("SELECT GROUP_CONCAT(outcome) FROM job_run WHERE attempt > 0").await, "LOST");
    });
}

#[test]
fn a_job_that_is_not_there_or_not_ones_own_is_not_found() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        for arguments in [&["show"][..], &["drop"], &["status"], &["start"]] {
            for (account, job) in [(&bob, "X"), (&bob, "y"), (&eve, "x")] {
                let refused = bad(&db, account, 3, &[arguments, &[job]].concat()).await;
                assert!(refused.contains(&format!("`{job}`")) || refused.contains("no job"), "{refused}");
                assert!(refused.contains("hint: "), "{refused}");
            }
        }
        // One that is there does not make up for one that is not.
        bad(&db, &bob, 3, &["status", "x", "y"]).await;
        bad(&db, &bob, 3, &["start", "x", "y"]).await;
        bad(&db, &bob, 2, &["start"]).await;
        bad(&db, &bob, 2, &["start", "--all", "x"]).await;
        assert_eq!(json(&db, &eve, &["list"]).await.len(), 0);
        // Root sees everybody's, and yet drops none but its own.
        assert_eq!(json(&db, &db.root(), &["list"]).await.len(), 1);
        bad(&db, &db.root(), 3, &["drop", "x"]).await;
        assert_eq!(json(&db, &bob, &["list"]).await.len(), 1);
    });
}
