//! Controllers that die, stand by, or lose their runners.

use std::time::Duration;

use super::starting::nothing_left;
use super::tool::{Going, SOON, Tool, call, good, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::complete;
use crate::session::Session;

/// The bound is one second; a noisy machine with two cores gets more.
const AT_ONCE: Duration = Duration::from_secs(4);

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

/// The first run lasts 20 s. Each row of the ledger is a transaction of its own, which no rollback undoes.
const LONG: &str = "BEGIN DECLARE n INT DEFAULT 0; INSERT INTO ledger (what, id) VALUES ('begin', CONNECTION_ID()); \
    IF (SELECT COUNT(*) FROM ledger) = 1 THEN \
        START TRANSACTION; INSERT INTO done VALUES (CONNECTION_ID()); \
        WHILE n < 40 DO DO SLEEP(0.5); SET n = n + 1; END WHILE; COMMIT; \
    END IF; INSERT INTO ledger (what, id) VALUES ('end', CONNECTION_ID()); END";

#[test]
fn a_run_of_20_seconds_whose_controller_is_killed_finishes_before_the_next_runner_starts() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("ledger", "(seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(5), id BIGINT)").await;
        db.table("done", "(id BIGINT)").await;
        db.body("slow", LONG).await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "slow"), "--every", "0.5s"]).await;
        let mut admin = db.admin().await;
        let first = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "RUNNING").await;
        let ghost = admin.one("SELECT job_runner_connection_id FROM job").await;
        let second = start(&db, &bob, &["x"]);
        second.says("standing by", 1).await;
        let half =
            "SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING' AND started_at < UTC_TIMESTAMP() - INTERVAL 10 SECOND";
        wait_until("half of it is done", SOON, async || admin.number(half).await == 1).await;
        first.signal("KILL");
        second.says("x: run ok", 1).await;
        // Once, to its end, and committed; then the next occurrence, by the one that stood by.
        let ledger = admin.rows(&format!("SELECT what, id = {ghost} FROM {}.ledger ORDER BY seq LIMIT 3", db.bodies())).await;
        assert_eq!(ledger, [["begin", "1"], ["end", "1"], ["begin", "0"]]);
        assert_eq!(admin.one(&format!("SELECT GROUP_CONCAT(id) FROM {}.done", db.bodies())).await, ghost);
        let long = "SELECT outcome, run_connection_id, TIMESTAMPDIFF(SECOND, started_at, finished_at) BETWEEN 20 AND 40 FROM job_run \
                    WHERE attempt > 0 ORDER BY run_no LIMIT 1";
        assert_eq!(admin.row(long).await, ["OK", &ghost, "1"]);
        let entries = complete(&mut admin, 500_000).await;
        assert!(entries.iter().all(|entry| entry.outcome != "LOST"), "{entries:#?}");
        let gap = "SELECT TIMESTAMPDIFF(MICROSECOND, MIN(s.event_at), MAX(t.event_at)) FROM job_event AS s, job_event AS t \
                   WHERE s.event_kind = 'RUNNER_STOP' AND t.event_kind = 'RUNNER_START'";
        let gap = Duration::from_micros(admin.number(gap).await.try_into().expect("the one after the other"));
        eprintln!("{}: the one that stood by has the lock after {gap:?}", db.server().name);
        assert!(gap < AT_ONCE, "{gap:?}");
        second.signal("TERM");
        let (code, log) = second.ends().await;
        assert_eq!(code, 0, "{log:#?}");
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
