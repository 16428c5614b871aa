//! The table of states, cell by cell: every request in every state, with and without a runner, from SQL and from the command line.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, join, wait_until};
use crate::session::literal;

const STATES: [&str; 6] = ["ENABLED", "PAUSED", "ABORTED", "DISABLED", "FINISHED", "ERROR"];
const REQUESTS: [&str; 5] = ["pause", "resume", "abort", "enable", "disable"];
const SOON: Duration = Duration::from_secs(30);

/// What a request leads to, written down once more, from the words of the design: `None` where it is refused.
fn to(request: &str, from: &str) -> Option<&'static str> {
    match (request, from) {
        ("pause", "ENABLED" | "PAUSED") => Some("PAUSED"),
        ("resume", "PAUSED" | "ENABLED") => Some("ENABLED"),
        ("abort", "ENABLED" | "PAUSED" | "ABORTED") => Some("ABORTED"),
        ("enable", "ABORTED" | "DISABLED" | "FINISHED" | "ERROR" | "ENABLED") => Some("ENABLED"),
        ("disable", _) => Some("DISABLED"),
        _ => None,
    }
}

/// A job whose status a DBA set.
async fn job_in(db: &Db, owner: &Account, job: &str, status: &str) {
    db.define(owner, job, "hello", "3600", "").await;
    db.admin().await.run(&format!("UPDATE job SET job_status = {} WHERE job_name = {}", literal(status), literal(job))).await;
}

async fn status_of(db: &Db, job: &str) -> String {
    db.admin().await.one(&format!("SELECT job_status FROM job WHERE job_name = {}", literal(job))).await
}

#[test]
fn every_request_in_every_state_from_sql() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        for request in REQUESTS {
            for from in STATES {
                let job = format!("{request} {from}");
                job_in(&db, &bob, &job, from).await;
                let call = format!("CALL job${request}({}, '{{\"reason\": \"why not\"}}')", literal(&job));
                match to(request, from) {
                    Some(to) => {
                        let row = session.row(&call).await;
                        assert_eq!(row[1..3], [from, to], "{job}");
                        assert_eq!(status_of(&db, &job).await, to, "{job}");
                        assert_eq!(row[3].contains("already"), from == to, "{job}: {row:?}");
                    }
                    None => {
                        let (code, message) = session.error(&call).await;
                        assert_eq!(code, 45004, "{job}");
                        let target = match request {
                            "pause" | "abort" => "ENABLED",
                            _ => "PAUSED",
                        };
                        assert!(message.contains(from) && message.contains(target), "names both states: {message}");
                        assert_eq!(status_of(&db, &job).await, from, "{job}");
                    }
                }
                let event = format!(
                    "SELECT event_from, event_to, event_message, event_by FROM job_event JOIN job USING (job_id) \
                     WHERE job.job_name = {} AND event_kind = 'STATUS'",
                    literal(&job)
                );
                let events = db.admin().await.rows(&event).await;
                match to(request, from).filter(|to| *to != from) {
                    Some(to) => {
                        assert_eq!(events.len(), 1, "{job}");
                        assert_eq!(events[0][..3], [from, to, "why not"], "{job}");
                        assert!(events[0][3].starts_with(&bob.user), "{job}");
                    }
                    None => assert!(events.is_empty(), "{job}: {events:?}"),
                }
            }
        }
    });
}

#[test]
fn every_request_in_every_state_from_the_command_line() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let cells = REQUESTS.iter().flat_map(|request| STATES.iter().map(move |from| (*request, *from)));
        for (request, from) in cells {
            let job = format!("{request} {from}");
            job_in(&db, &bob, &job, from).await;
            let ran = db.jobctl(&bob, &[request, &job, "--reason", "deploy"]).await;
            match to(request, from) {
                Some(to) => {
                    let said =
                        if from == to { format!("`{job}` was {to} already") } else { format!("`{job}` is {to}, was {from}") };
                    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some(said.as_str())), "{ran:?}");
                    assert_eq!(status_of(&db, &job).await, to, "{job}");
                }
                None => {
                    assert_eq!(ran.code, 4, "{ran:?}");
                    assert!(ran.stderr.contains(from), "{ran:?}");
                    assert_eq!(status_of(&db, &job).await, from, "{job}");
                }
            }
        }
    });
}

#[test]
fn every_request_meets_a_runner_that_waits() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let cells = ["ENABLED", "PAUSED"].iter().flat_map(|from| REQUESTS.iter().map(move |request| (*request, *from)));
        let lives = cells.map(|(request, from)| {
            let (db, bob) = (db.clone(), bob.clone());
            async move {
                let job = format!("{request} {from}");
                job_in(&db, &bob, &job, from).await;
                let runner = db.runner(&bob, &job).await;
                let mut admin = db.admin().await;
                let word = format!("SELECT status FROM job_overview WHERE job_name = {}", literal(&job));
                let holds = format!("SELECT COALESCE(job_runner_status, '') FROM job WHERE job_name = {}", literal(&job));
                let waits = if from == "PAUSED" { "PAUSED" } else { "SLEEPING" };
                wait_until(&format!("{job}: the runner waits"), SOON, async || admin.one(&holds).await == waits).await;
                let mut session = db.login(&bob).await;
                let answer = session.attempt(&format!("CALL job${request}({}, NULL)", literal(&job))).await;
                assert_eq!(answer.is_ok(), to(request, from).is_some(), "{job}");
                let wanted = to(request, from).unwrap_or(from);
                if matches!(wanted, "ABORTED" | "DISABLED") {
                    let message = if wanted == "ABORTED" { "Aborted at request" } else { "The job became DISABLED" };
                    assert_eq!(runner.message().await, message, "{job}");
                    assert_eq!(admin.one(&word).await, wanted, "{job}");
                } else {
                    let shown = if wanted == "PAUSED" { "PAUSED" } else { "SLEEPING" };
                    wait_until(&format!("{job}: {shown}"), SOON, async || admin.one(&word).await == shown).await;
                    assert!(!runner.ended(), "{job}");
                    admin.run(&format!("UPDATE job SET job_status = 'ABORTED' WHERE job_name = {}", literal(&job))).await;
                    runner.message().await;
                }
            }
        });
        join(lives.collect()).await;
    });
}

#[test]
fn an_abort_belongs_to_the_runner_that_it_met() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("gate", "(open INT)").await;
        db.body("slow", "BEGIN WHILE (SELECT COUNT(*) FROM gate) = 0 DO DO SLEEP(0.05); END WHILE; END").await;
        db.define(&bob, "x", "slow", "0.2", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        let word = "SELECT status FROM job_overview";
        wait_until("the body runs", SOON, async || admin.one(word).await == "RUNNING").await;
        let mut session = db.login(&bob).await;
        session.run("CALL job$abort('x', NULL)").await;
        assert_eq!(admin.one(word).await, "ABORTING");
        session.run("CALL job$enable('x', NULL)").await;
        assert_eq!(admin.one(word).await, "RUNNING");
        admin.run(&format!("INSERT INTO {}.gate VALUES (1)", crate::session::name(db.bodies()))).await;
        assert_eq!(runner.message().await, "Aborted at request");
        assert_eq!(admin.one("SELECT job_status FROM job").await, "ENABLED");
        let again = db.runner(&bob, "x").await;
        wait_until("a new runner works", SOON, async || admin.number("SELECT job_runner_epoch FROM job").await == 2).await;
        assert!(!again.ended());
        session.run("CALL job$disable('x', NULL)").await;
        again.message().await;
    });
}

#[test]
fn what_falls_into_a_pause_is_one_span_and_never_caught_up() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        let mut session = db.login(&bob).await;
        for (job, alone) in [("alone", true), ("with a runner", false)] {
            // A nightly job, whose night fell into the pause.
            db.define(&bob, job, "hello", "86400", "").await;
            let named = format!("WHERE job_name = {}", literal(job));
            let runner = if alone { None } else { Some(db.runner(&bob, job).await) };
            session.run(&format!("CALL job$pause({}, NULL)", literal(job))).await;
            if !alone {
                let word = format!("SELECT status FROM job_overview {named}");
                wait_until("paused", SOON, async || admin.one(&word).await == "PAUSED").await;
            }
            admin.run(&format!("UPDATE job SET job_next = job_next - INTERVAL 36 HOUR, job_schedule_anchor = job_schedule_anchor - INTERVAL 36 HOUR {named}")).await;
            let night = admin.one(&format!("SELECT job_next FROM job {named}")).await;
            session.run(&format!("CALL job$resume({}, NULL)", literal(job))).await;
            let rows = admin.rows(&format!("SELECT outcome, reason, scheduled_for, span_count FROM job_run {named}")).await;
            assert_eq!(rows, [["SKIPPED", "PAUSED", night.as_str(), "1"]], "{job}");
            assert_eq!(admin.one(&format!("SELECT job_next > UTC_TIMESTAMP(6) FROM job {named}")).await, "1", "{job}");
            if let Some(runner) = runner {
                let word = format!("SELECT status FROM job_overview {named}");
                wait_until("sleeping", SOON, async || admin.one(&word).await == "SLEEPING").await;
                assert_eq!(admin.number(&format!("SELECT COUNT(*) FROM job_run {named}")).await, 1, "nothing was caught up");
                session.run(&format!("CALL job$abort({}, NULL)", literal(job))).await;
                runner.message().await;
            }
        }
    });
}

#[test]
fn the_switch_pauses_all_and_leaves_each_status_as_it_is() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "runs", "hello", "0.2", "").await;
        db.define(&bob, "paused", "hello", "0.2", "").await;
        db.define(&eve, "hers", "hello", "3600", "").await;
        let runner = db.runner(&bob, "runs").await;
        let mut admin = db.admin().await;
        let mut session = db.login(&bob).await;
        session.run("CALL job$pause('paused', NULL)").await;
        let ran = "SELECT COUNT(*) FROM job_run WHERE job_name = 'runs' AND outcome = 'OK'";
        wait_until("a run", SOON, async || admin.number(ran).await > 0).await;

        let paused = db.jobctl(&bob, &["pause", "--all", "--reason", "restore"]).await;
        assert_eq!((paused.code, paused.stdout.as_str()), (0, "all your jobs are paused\n"), "{paused:?}");
        let words = "SELECT status FROM job_overview ORDER BY job_name";
        wait_until("the runner pauses", SOON, async || admin.rows(words).await == [["ENABLED"], ["PAUSED"], ["PAUSED (all)"]])
            .await;
        assert_eq!(admin.rows("SELECT job_status FROM job ORDER BY job_name").await, [["ENABLED"], ["PAUSED"], ["ENABLED"]]);
        let count = admin.number(ran).await;
        let due = "SELECT COUNT(*) FROM job WHERE job_name = 'runs' AND job_next < UTC_TIMESTAMP(6) - INTERVAL 1 SECOND";
        wait_until("instants pass", SOON, async || admin.number(due).await == 1).await;
        assert_eq!(admin.number(ran).await, count, "nothing runs");

        let resumed = db.jobctl(&bob, &["resume", "--all"]).await;
        assert_eq!(resumed.code, 0, "{resumed:?}");
        wait_until("it runs again", SOON, async || admin.number(ran).await > count).await;
        let span = "SELECT COUNT(*) FROM job_run WHERE job_name = 'runs' AND reason = 'SWITCH' AND span_count >= 5";
        assert_eq!(admin.number(span).await, 1);
        assert_eq!(admin.one("SELECT status FROM job_overview WHERE job_name = 'paused'").await, "PAUSED");
        session.run("CALL job$abort('runs', NULL)").await;
        runner.message().await;
    });
}
