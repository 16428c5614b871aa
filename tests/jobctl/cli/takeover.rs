//! Controllers that die, stand by, or lose their runners.

use std::time::Duration;

use super::starting::nothing_left;
use super::tool::{Going, SOON, Tool, call, good, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::complete;
use crate::session::Session;

/// Bob's job `x`, whose body notices whether it is alone.
pub(super) async fn jealous(db: &Db, every: &str) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.table("inside", "(id BIGINT)").await;
    db.table("clash", "(id BIGINT)").await;
    #[rustfmt::skip]
    let body = "BEGIN DECLARE n INT; INSERT INTO inside VALUES (CONNECTION_ID()); SELECT COUNT(*) INTO n FROM inside; \
        IF n > 1 THEN INSERT INTO clash VALUES (CONNECTION_ID()); END IF; SET n = SLEEP(0.1); DELETE FROM inside; END";
    db.body("jealous", body).await;
    good(db, &bob, &["define", "x", "--call", &call(db, "jealous"), "--every", every]).await;
    let admin = db.admin().await;
    (bob, admin)
}

/// `jobctl start` as `account`.
pub(super) fn start(db: &Db, account: &Account, arguments: &[&str]) -> Going {
    Tool::new(db, account, &[&["start"], arguments].concat()).start()
}

async fn runners(admin: &mut Session) -> i64 {
    admin.number("SELECT COUNT(*) FROM job_event WHERE event_kind = 'RUNNER_START'").await
}

#[test]
fn two_controllers_never_run_a_job_twice_and_the_second_takes_over() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "0.2s").await;
        let clash = format!("SELECT COUNT(*) FROM {}.clash", db.bodies());
        let controllers = [start(&db, &bob, &["x"]), start(&db, &bob, &["--all"])];
        wait_until("somebody runs it", SOON, async || admin.number("SELECT COUNT(*) FROM job_run").await > 8).await;
        assert_eq!(runners(&mut admin).await, 1);
        assert_eq!(controllers.iter().filter(|start| start.count("runner started") == 1).count(), 1);
        let [one, two] = controllers;
        let (first, second) = if one.count("runner started") == 1 { (one, two) } else { (two, one) };
        first.signal("KILL");
        let begun = std::time::Instant::now();
        second.says("x: run ok", 3).await;
        eprintln!("{}: taken over and run in {:?}", db.server().name, begun.elapsed());
        assert_eq!(runners(&mut admin).await, 2);
        assert_eq!(admin.number(&clash).await, 0);
        // Every occurrence of the change-over is a row too.
        complete(&mut admin, 200_000).await;
        second.signal("TERM");
        assert_eq!(second.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_controller_killed_while_its_runner_sleeps_is_replaced_by_the_one_that_stands_by() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "1h").await;
        let first = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "SLEEPING").await;
        let second = start(&db, &bob, &["x"]);
        first.signal("KILL");
        second.says("x: runner started", 1).await;
        status(&db, &bob, "x", "SLEEPING").await;
        assert_eq!(runners(&mut admin).await, 2);
        second.signal("TERM");
        assert_eq!(second.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_run_whose_controller_is_killed_finishes_before_the_next_runner_starts() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(id BIGINT)").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(3); INSERT INTO done VALUES (CONNECTION_ID()); END").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "slow"), "--every", "0.5s"]).await;
        let mut admin = db.admin().await;
        let first = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "RUNNING").await;
        let ghost = admin.one("SELECT job_runner_connection_id FROM job").await;
        let second = start(&db, &bob, &["x"]);
        first.signal("KILL");
        second.says("x: runner started", 1).await;
        let done = format!("SELECT GROUP_CONCAT(id) FROM {}.done", db.bodies());
        assert_eq!(admin.one(&done).await, ghost);
        assert_eq!(
            admin.one("SELECT GROUP_CONCAT(outcome) FROM job_run WHERE attempt > 0 AND finished_at IS NOT NULL").await,
            "OK"
        );
        second.signal("TERM");
        let (code, log) = second.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'LOST'").await, "0");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_runner_whose_connection_is_killed_is_back_within_seconds() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(60); END").await;
        good(&db, &bob, &["define", "sleeps", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        good(&db, &bob, &["define", "works", "--call", &call(&db, "slow"), "--every", "0.5s"]).await;
        let mut admin = db.admin().await;
        let start = start(&db, &bob, &["--all"]);
        status(&db, &bob, "sleeps", "SLEEPING").await;
        status(&db, &bob, "works", "RUNNING").await;
        for row in admin.rows("SELECT job_runner_connection_id FROM job").await {
            admin.run(&format!("KILL {}", row[0])).await;
        }
        let begun = std::time::Instant::now();
        start.says("runner started", 4).await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        status(&db, &bob, "sleeps", "SLEEPING").await;
        status(&db, &bob, "works", "RUNNING").await;
        assert_eq!(start.count("runner ended"), 2, "{:#?}", start.log());
        let outcomes = admin.rows("SELECT job_name, outcome FROM job_run WHERE attempt > 0 ORDER BY run_no").await;
        assert_eq!(outcomes, [["works", "LOST"], ["works", "RUNNING"]]);
        assert_eq!(json(&db, &bob, &["status", "works"]).await[0]["job_failures"], 1);
        // The last one is not waited for.
        start.signal("TERM");
        start.says("runners end after", 1).await;
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 143);
    });
}
