//! A runner that dies, by a kill or with its client: its run is closed, its lock is free.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::complete;
use crate::session::Session;

const SOON: Duration = Duration::from_secs(60);

/// Bob's job `x`, whose body says that it is in and then sleeps for `seconds`.
async fn slow(db: &Db, seconds: &str) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.table("inside", "(n INT)").await;
    db.body(
        "slow",
        &format!(
            "BEGIN DECLARE n INT; INSERT INTO inside VALUES (1); SET n = SLEEP({seconds}); INSERT INTO inside VALUES (2); END"
        ),
    )
    .await;
    db.define(&bob, "x", "slow", "0.5", "").await;
    (bob, db.admin().await)
}

async fn status(admin: &mut Session, word: &str) {
    wait_until(word, SOON, async || admin.one("SELECT status FROM job_overview").await == word).await;
}

async fn inside(db: &Db, admin: &mut Session) {
    let inside = format!("SELECT COUNT(*) FROM {}.inside", db.bodies());
    wait_until("the body is in", SOON, async || admin.number(&inside).await > 0).await;
}

#[test]
fn a_killed_runner_leaves_a_lost_run_that_the_next_one_closes() {
    each(|db| async move {
        let (bob, mut admin) = slow(&db, "600").await;
        let runner = db.runner(&bob, "x").await;
        inside(&db, &mut admin).await;
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "RUNNING");
        admin.run(&format!("KILL {}", runner.id)).await;
        status(&mut admin, "LOST").await;
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job_overview").await, "NULL");
        assert_eq!(admin.one("SELECT outcome FROM job_run WHERE attempt > 0").await, "RUNNING");
        let next = db.runner(&bob, "x").await;
        wait_until("it is closed", SOON, async || {
            admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'LOST'").await == 1
        })
        .await;
        let event = admin.row("SELECT event_to, event_message FROM job_event WHERE event_kind = 'LOST'").await;
        assert_eq!(event[0], admin.one("SELECT run_no FROM job_run WHERE outcome = 'LOST'").await);
        assert!(event[1].contains(&runner.id.to_string()), "{event:?}");
        status(&mut admin, "RUNNING").await;
        assert_eq!(admin.row("SELECT job_failures, job_runner_epoch FROM job").await, ["1", "2"]);
        // The occurrence that was lost is not run again.
        let entries = complete(&mut admin, 500_000).await;
        assert_eq!(entries.iter().filter(|entry| entry.outcome == "LOST").count(), 1);
        drop(next);
    });
}

#[test]
fn a_runner_killed_in_its_sleep_frees_the_lock_and_loses_no_run() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut admin = db.admin().await;
        let runner = db.runner(&bob, "x").await;
        status(&mut admin, "SLEEPING").await;
        admin.run(&format!("KILL {}", runner.id)).await;
        status(&mut admin, "LOST").await;
        let next = db.runner(&bob, "x").await;
        status(&mut admin, "SLEEPING").await;
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job").await, next.id.to_string());
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run").await, "0");
        assert_eq!(admin.one("SELECT job_failures FROM job").await, "0");
    });
}

#[test]
fn a_query_killed_in_the_body_never_leaves_a_run_without_an_end() {
    each(|db| async move {
        let (bob, mut admin) = slow(&db, "600").await;
        let runner = db.runner(&bob, "x").await;
        inside(&db, &mut admin).await;
        admin.run(&format!("KILL QUERY {}", runner.id)).await;
        // MySQL ends the whole procedure, MariaDB lets the handler of the runner record a failure and go on.
        wait_until("the run has ended, or the runner", SOON, async || {
            runner.ended() || admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'ERROR'").await > 0
        })
        .await;
        if runner.ended() {
            status(&mut admin, "LOST").await;
        }
        let _next = db.runner(&bob, "x").await;
        let closed = "SELECT COUNT(*) FROM job_run WHERE outcome IN ('LOST', 'ERROR')";
        wait_until("it is closed", SOON, async || admin.number(closed).await > 0).await;
    });
}

#[test]
fn a_run_whose_client_dies_finishes_and_is_recorded() {
    each(|db| async move {
        let (bob, mut admin) = slow(&db, "3").await;
        let mut client = db.doomed(&bob, &format!("CALL {}.job$run('x')", db.schema()));
        inside(&db, &mut admin).await;
        client.kill().await.unwrap();
        let ok = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        wait_until("it is recorded", SOON, async || admin.number(ok).await > 0).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED', 'RUNNING')").await, "0");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'RUNNER_START'").await, "1");
    });
}
