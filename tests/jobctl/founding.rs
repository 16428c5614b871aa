//! The founding way: a plain client calls `job$run`, a second session's plain UPDATEs are seen by the sleeping runner.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::runner::Runner;

/// Two slices of a runner without a controller, which looks at its row every 6 s, on a busy machine.
const LOOKS: Duration = Duration::from_secs(25);

/// Bob, and a runner of his job `x`, which is asleep for the next hour.
async fn asleep(db: &Db) -> (Account, Runner) {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    db.define(&bob, "x", "hello", "3600", "").await;
    let runner = db.runner(&bob, "x").await;
    status(db, "SLEEPING").await;
    (bob, runner)
}

async fn status(db: &Db, word: &str) {
    let mut admin = db.admin().await;
    wait_until(word, LOOKS, async || admin.one("SELECT status FROM job_overview").await == word).await;
}

async fn update(db: &Db, set: &str) {
    db.admin().await.run(&format!("UPDATE job SET {set}")).await;
}

#[test]
fn the_plain_client_runs_a_schedule_to_its_end() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("seen", "(at DATETIME(6))").await;
        db.body("look", "INSERT INTO seen VALUES (UTC_TIMESTAMP(6))").await;
        let mut session = db.login(&bob).await;
        let finish = session.one("SELECT UTC_TIMESTAMP(6) + INTERVAL 1500000 MICROSECOND").await;
        session.define(&db, "x", "look", "0.5", &format!(r#", "finish": "{finish}""#)).await;
        let call = format!("CALL {}.job$run('x');", db.schema());
        let ran = db.client(&bob, &["--batch"], &call).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.stdout, "job_name\tmessage\nx\tOk: the schedule is over\n");
        let mut admin = db.admin().await;
        let seen = format!("SELECT COUNT(*) FROM {}.seen", db.bodies());
        let (seen, recorded) = (admin.one(&seen).await, admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await);
        assert_eq!(seen, recorded);
        assert!(["2", "3"].contains(&seen.as_str()), "half a second, within a second and a half: {seen}");
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "FINISHED");
    });
}

#[test]
fn result_sets_of_the_body_come_before_the_result_row() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("answer", "BEGIN SELECT 42 AS answer; SELECT 'a', 'b'; END").await;
        db.define(&bob, "x", "answer", "0.1", r#", "max_failures": 1"#).await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("a run", LOOKS, async || admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await > 0).await;
        update(&db, "job_status = 'ABORTED'").await;
        let sets = runner.outcome().await.unwrap();
        let full: Vec<_> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        assert_eq!(full[0], [["42"]]);
        assert_eq!(full[1], [["a", "b"]]);
        assert_eq!(full[full.len() - 1], [["x", "Aborted at request"]]);
    });
}

#[test]
fn a_sleeping_runner_sees_a_plain_update_of_the_interval() {
    each(|db| async move {
        let (_, runner) = asleep(&db).await;
        update(&db, "job_schedule_interval = 0.2").await;
        let mut admin = db.admin().await;
        wait_until("runs", LOOKS, async || admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await >= 3).await;
        assert!(!runner.ended());
    });
}

#[test]
fn a_sleeping_runner_sees_a_plain_update_of_the_finish() {
    each(|db| async move {
        let (_, runner) = asleep(&db).await;
        update(&db, "job_schedule_finish = UTC_TIMESTAMP(6) + INTERVAL 1 SECOND").await;
        assert_eq!(runner.message().await, "Ok: the schedule is over");
        status(&db, "FINISHED").await;
        assert_eq!(db.admin().await.one("SELECT job_runner_message FROM job").await, "Ok: the schedule is over");
    });
}

#[test]
fn a_sleeping_runner_sees_a_plain_abort() {
    each(|db| async move {
        let (_, runner) = asleep(&db).await;
        update(&db, "job_status = 'ABORTED'").await;
        assert_eq!(db.admin().await.one("SELECT status FROM job_overview").await, "ABORTING");
        assert_eq!(runner.message().await, "Aborted at request");
        status(&db, "ABORTED").await;
    });
}

#[test]
fn a_sleeping_runner_sees_that_its_job_is_disabled() {
    each(|db| async move {
        let (bob, runner) = asleep(&db).await;
        update(&db, "job_status = 'DISABLED'").await;
        assert_eq!(runner.message().await, "The job became DISABLED");
        status(&db, "DISABLED").await;
        update(&db, "job_status = 'ENABLED'").await;
        let runner = db.runner(&bob, "x").await;
        status(&db, "SLEEPING").await;
        assert!(!runner.ended());
    });
}

/// PAUSED, then `word`: the runner stays, skips what falls into the pause as one span, and goes on at the next instant.
fn paused_and_then(word: &'static str) {
    each(move |db| async move {
        let (_, runner) = asleep(&db).await;
        let mut admin = db.admin().await;
        update(&db, "job_schedule_interval = 0.5, job_schedule_start = UTC_TIMESTAMP(6)").await;
        wait_until("a run", LOOKS, async || admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await > 0).await;
        update(&db, "job_status = 'PAUSED'").await;
        wait_until("the runner is paused", LOOKS, async || admin.one("SELECT job_runner_status FROM job").await == "PAUSED")
            .await;
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "PAUSED");
        let before = admin.number("SELECT MAX(run_no) FROM job_run").await;
        let late = "SELECT COUNT(*) FROM job WHERE job_next < UTC_TIMESTAMP(6) - INTERVAL 2 SECOND";
        wait_until("four instants pass", LOOKS, async || admin.number(late).await > 0).await;
        assert_eq!(admin.number("SELECT MAX(run_no) FROM job_run").await, before);
        update(&db, &format!("job_status = '{word}'")).await;
        let resumed = format!("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK' AND run_no > {before}");
        wait_until("a run after the pause", LOOKS, async || admin.number(&resumed).await > 0).await;
        assert_eq!(admin.one("SELECT job_status FROM job").await, "ENABLED");
        let spans = admin
            .rows(&format!("SELECT reason, span_count FROM job_run WHERE outcome = 'SKIPPED' AND run_no > {before}"))
            .await;
        assert_eq!((spans.len(), spans[0][0].as_str()), (1, "PAUSED"), "{spans:?}");
        assert!(spans[0][1].parse::<u32>().unwrap() >= 4, "{spans:?}");
        assert!(!runner.ended());
    });
}

#[test]
fn a_paused_runner_goes_on_when_enabled() {
    paused_and_then("ENABLED");
}

#[test]
fn a_paused_runner_goes_on_when_resumed_in_the_founding_word() {
    paused_and_then("RESUMED");
}

#[test]
fn what_a_runner_does_is_no_status_that_can_be_asked_for() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        for word in ["RUNNING", "SLEEPING", "enabled", ""] {
            let (code, message) = db.admin().await.error(&format!("UPDATE job SET job_status = '{word}'")).await;
            assert!([3819, 4025].contains(&code) && message.contains("ck_job_status"), "{word}: {code} {message}");
        }
    });
}
