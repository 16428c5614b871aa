//! Somebody else locks rows of jobctl for a while: the runner waits or tries again, and loses nothing.

use std::time::Duration;

use crate::each::{each, full, wait_until};
use crate::ledger::complete;
use crate::runner::Runner;

const SOON: Duration = Duration::from_secs(40);
const ENDED: &str = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('SKIPPED', 'RUNNING')";

#[test]
fn a_row_lock_that_outlasts_the_lock_wait_timeout_loses_nothing() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.2", "").await;
        let mut session = db.login(&bob).await;
        session.run("SET SESSION innodb_lock_wait_timeout = 1").await;
        let runner = Runner::start(session, db.schema(), "x");
        let mut admin = db.admin().await;
        wait_until("runs", SOON, async || admin.number(ENDED).await >= 2).await;
        let mut holder = db.admin().await;
        holder.run("START TRANSACTION").await;
        holder.rows("SELECT * FROM job FOR UPDATE").await;
        let before = admin.number(ENDED).await;
        // Three timeouts of the runner, and more.
        tokio::time::sleep(Duration::from_millis(3500)).await;
        assert!(admin.number(ENDED).await <= before + 1);
        holder.run("ROLLBACK").await;
        wait_until("more runs", SOON, async || admin.number(ENDED).await >= before + 4).await;
        assert!(!runner.ended());
        let entries = complete(&mut admin, 200_000).await;
        assert!(entries.iter().any(|entry| entry.outcome == "SKIPPED" && entry.span_count.unwrap() >= 10), "{entries:#?}");
        assert!(entries.iter().filter(|entry| entry.ran()).all(|entry| entry.outcome == "OK" || entry.outcome == "RUNNING"));
    });
}

#[test]
fn deadlocks_are_answered_by_doing_the_transaction_again() {
    let rounds = full(200, 25);
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let (mut admin, mut other) = (db.admin().await, db.admin().await);
        wait_until("a run", SOON, async || admin.number(ENDED).await >= 1).await;
        let mut victims = 0;
        for _ in 0..rounds {
            // The gap where the next run goes first, the job row second: the runner takes them the other way round.
            other.run("START TRANSACTION").await;
            other.rows("SELECT * FROM job_run FOR UPDATE").await;
            tokio::time::sleep(Duration::from_millis(120)).await;
            if other.attempt("SELECT * FROM job FOR UPDATE").await.is_err() {
                victims += 1;
            }
            other.run("ROLLBACK").await;
        }
        let before = admin.number(ENDED).await;
        wait_until("runs go on", SOON, async || admin.number(ENDED).await >= before + 3).await;
        assert!(!runner.ended());
        eprintln!("{}: of {rounds} deadlocks, the runner was the victim in {}", db.server().name, rounds - victims);
        complete(&mut admin, 100_000).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED', 'RUNNING')").await, "0");
    });
}

#[test]
fn plain_updates_of_the_row_while_it_runs_are_neither_lost_nor_in_the_way() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("a run", SOON, async || admin.number(ENDED).await >= 1).await;
        for round in 0..200 {
            admin.run(&format!("UPDATE job SET job_description = 'round {round}'")).await;
        }
        let changed = admin.row("SELECT job_description, job_changed FROM job").await;
        let before = admin.number(ENDED).await;
        wait_until("runs go on", SOON, async || admin.number(ENDED).await >= before + 3).await;
        assert_eq!(
            admin.row("SELECT job_description, job_changed FROM job").await,
            changed,
            "bookkeeping leaves job_changed alone"
        );
        assert_eq!(changed[0], "round 199");
        assert!(!runner.ended());
        complete(&mut admin, 100_000).await;
    });
}
