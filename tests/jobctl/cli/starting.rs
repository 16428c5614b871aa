//! `jobctl start` in quiet times: what it says, when and how it ends.

use std::time::Duration;

use super::tool::{Going, SOON, Tool, bad, call, good, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::Session;

/// What a runner must never leave behind.
pub async fn nothing_left(db: &Db, account: &Account, admin: &mut Session) {
    let sessions = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin = '{}'",
        account.user
    );
    wait_until("no session is left", Duration::from_secs(5), async || admin.number(&sessions).await == 0).await;
    assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'").await, "0");
    assert_eq!(
        admin.one("SELECT COUNT(*) FROM job WHERE job_runner_status IS NOT NULL OR job_run_open IS NOT NULL").await,
        "0"
    );
    let locks = format!(
        "SELECT COUNT(*) FROM job JOIN job_setting ON setting_name = 'secret' \
         WHERE IS_USED_LOCK(SHA2(CONCAT(setting_value, ':', '{}', ':job:', job_id), 256)) IS NOT NULL",
        db.schema()
    );
    assert_eq!(admin.one(&locks).await, "0");
}

/// Moves the end of a schedule to so many seconds from now.
async fn finish_in(admin: &mut Session, job: &str, seconds: &str) {
    admin
        .run(&format!(
            "UPDATE job SET job_schedule_finish = UTC_TIMESTAMP(6) + INTERVAL {seconds} SECOND WHERE job_name = '{job}'"
        ))
        .await;
}

#[test]
fn one_line_tells_each_thing_that_happens() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.body("fails", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no paper\nin tray 2'").await;
        for (job, procedure) in [("good", "hello"), ("bad one", "fails")] {
            good(&db, &bob, &["define", job, "--call", &call(&db, procedure), "--every", "0.5s"]).await;
        }
        let start = Tool::new(&db, &bob, &["start", "good", "bad one"]).start();
        start.says("good: run ok in ", 2).await;
        start.says("bad one: run failed in ", 2).await;
        let mut admin = db.admin().await;
        finish_in(&mut admin, "good", "0.2").await;
        start.says("good: schedule ended: FINISHED", 1).await;
        admin.run("UPDATE job SET job_status = 'ABORTED' WHERE job_name = 'bad one'").await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 1, "{log:#?}");
        assert!(
            log.iter().all(|line| line.starts_with("20") || line.starts_with("error: ") || line.starts_with("hint: ")),
            "{log:#?}"
        );
        for text in [
            "good: runner started",
            "bad one: runner started",
            "good: runner ended",
            "bad one: runner ended",
            "bad one: schedule ended: ABORTED",
        ] {
            assert_eq!(log.iter().filter(|line| line.contains(text)).count(), 1, "{text}: {log:#?}");
        }
        assert!(
            log.iter().any(|line| line.contains("no paper") && line.contains("in tray 2")),
            "one line, whatever the message: {log:#?}"
        );
        let ended = log.last().unwrap();
        assert!(
            ended.starts_with("error: ") && ended.contains("`bad one` is ABORTED") && !ended.contains("`good`"),
            "{log:#?}"
        );
        // As many lines as runs.
        for (outcome, text) in [("OK", "run ok in "), ("ERROR", "run failed in ")] {
            let runs = admin.number(&format!("SELECT COUNT(*) FROM job_run WHERE outcome = '{outcome}'")).await;
            assert_eq!(i64::try_from(log.iter().filter(|line| line.contains(text)).count()).unwrap(), runs, "{log:#?}");
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn the_log_is_json_when_asked_for() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x \"y\"", "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
        let start = Tool::new(&db, &bob, &["start", "--all", "--log-format", "json"]).start();
        start.says("run ok", 2).await;
        start.signal("INT");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        let lines: Vec<serde_json::Value> =
            log.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
        for line in &lines {
            assert!(line["timestamp"].as_str().is_some_and(|time| time.starts_with("20") && time.ends_with('Z')), "{line}");
            assert!(line["level"].is_string() && line["message"].is_string(), "{line}");
        }
        let run = lines.iter().find(|line| line["message"].as_str().unwrap().starts_with("run ok")).unwrap();
        assert!(run["job"] == "x \"y\"" && run["run_no"].is_u64(), "{run}");
    });
}

#[test]
fn it_ends_with_0_when_all_schedules_are_finished() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        for job in ["x", "y"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "hello"), "--every", "0.3s"]).await;
        }
        let mut admin = db.admin().await;
        let mut start = Tool::new(&db, &bob, &["start", "x", "y"]).start();
        start.says("x: run ok", 1).await;
        start.says("y: run ok", 1).await;
        finish_in(&mut admin, "x", "0.5").await;
        start.says("x: schedule ended: FINISHED", 1).await;
        assert!(start.works(), "it waits for the other one: {:#?}", start.log());
        finish_in(&mut admin, "y", "0.5").await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert_eq!(log.iter().filter(|line| line.contains("schedule ended: FINISHED")).count(), 2, "{log:#?}");
        assert_eq!(admin.one("SELECT GROUP_CONCAT(DISTINCT job_status) FROM job").await, "FINISHED");
        nothing_left(&db, &bob, &mut admin).await;
        // What is over is refused at once.
        let refused = bad(&db, &bob, 4, &["start", "x"]).await;
        assert!(refused.contains("`x` is FINISHED"), "{refused}");
    });
}

#[test]
fn a_schedule_that_was_over_before_its_runner_came_has_ended() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        let mut admin = db.admin().await;
        finish_in(&mut admin, "x", "-1").await;
        let (code, log) = Tool::new(&db, &bob, &["start", "x"]).start().ends().await;
        assert_eq!(code, 4, "{log:#?}");
        assert!(log[0].contains("`x` is FINISHED"), "{log:#?}");
        assert_eq!(json(&db, &bob, &["status", "x"]).await[0]["status"], "FINISHED");
        nothing_left(&db, &bob, &mut admin).await;
        // Nobody logs in for it again and again.
        let start = Tool::new(&db, &bob, &["start", "--all"]).start();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(start.count("runner started"), 0, "{:#?}", start.log());
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
    });
}

#[test]
fn it_ends_with_1_when_a_job_is_given_up() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.body("fails", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "fails"), "--every", "0.1s", "--max-failures", "2"]).await;
        good(&db, &bob, &["define", "y", "--call", &call(&db, "hello"), "--every", "0.3s"]).await;
        let mut admin = db.admin().await;
        let start = Tool::new(&db, &bob, &["start", "x", "y"]).start();
        start.says("y: run ok", 1).await;
        start.says("x: schedule ended: ERROR", 1).await;
        finish_in(&mut admin, "y", "0.5").await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 1, "{log:#?}");
        assert!(log.last().unwrap().contains("`x` is ERROR"), "{log:#?}");
        assert_eq!(admin.one("SELECT GROUP_CONCAT(job_status ORDER BY job_name) FROM job").await, "ERROR,FINISHED");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'ERROR'").await, "2");
    });
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_runs() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        for job in ["x", "y"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
        }
        let mut admin = db.admin().await;
        for word in ["DISABLED", "ABORTED", "ERROR", "FINISHED"] {
            admin.run(&format!("UPDATE job SET job_status = '{word}' WHERE job_name = 'y'")).await;
            let refused = bad(&db, &bob, 4, &["start", "x", "y"]).await;
            assert!(refused.contains(&format!("`y` is {word}")) && refused.contains("hint: "), "{refused}");
        }
        let refused = bad(&db, &bob, 3, &["start", "x", "z"]).await;
        assert!(refused.contains("`z`"), "{refused}");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run").await, "0");
    });
}

#[test]
fn all_picks_up_jobs_that_are_defined_or_enabled_later() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut start = Tool::new(&db, &bob, &["start", "--all"]).start();
        tokio::time::sleep(Duration::from_millis(300)).await;
        good(&db, &bob, &["define", "later", "--call", &call(&db, "hello"), "--every", "0.2s"]).await;
        start.says("later: run ok", 2).await;
        let mut admin = db.admin().await;
        finish_in(&mut admin, "later", "0").await;
        status(&db, &bob, "later", "FINISHED").await;
        admin.run("UPDATE job SET job_status = 'ENABLED', job_schedule_finish = NULL").await;
        start.says("later: runner started", 2).await;
        start.says("later: run ok", 5).await;
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        start.says("later: runner ended", 2).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(start.works(), "{:#?}", start.log());
        assert_eq!(start.count("runner started"), 2, "{:#?}", start.log());
        // Its jobs may all be dropped, and others come.
        good(&db, &bob, &["drop", "later"]).await;
        good(&db, &bob, &["define", "other", "--call", &call(&db, "hello"), "--every", "0.2s"]).await;
        start.says("other: run ok", 1).await;
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert_eq!(json(&db, &bob, &["status"]).await[0]["status"], "ENABLED");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_named_job_that_is_dropped_has_ended() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        status(&db, &bob, "x", "SLEEPING").await;
        db.admin().await.run("UPDATE job SET job_status = 'DISABLED'").await;
        start.says("runner ended", 1).await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 1, "{log:#?}");
        assert!(log.last().unwrap().contains("`x` is DISABLED"), "{log:#?}");
        good(&db, &bob, &["drop", "x"]).await;
    });
}

#[test]
fn a_signal_is_heard_at_any_moment() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
        let mut admin = db.admin().await;
        for moment in [60, 80, 100, 130, 170, 220, 300, 500] {
            let start = Tool::new(&db, &bob, &["start", "--all"]).start();
            tokio::time::sleep(Duration::from_millis(moment)).await;
            start.signal("TERM");
            let (code, log) = start.ends().await;
            // Before it listens, the signal ends it as any process.
            assert!(code == 0 || (code == -15 && log.is_empty()), "{moment} ms: {code} {log:#?}");
            nothing_left(&db, &bob, &mut admin).await;
        }
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')").await, "0");
    });
}

#[test]
fn a_signal_ends_runners_that_wait_within_seconds() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        for job in ["a", "b", "c", "paused"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "hello"), "--every", "1h"]).await;
        }
        good(&db, &bob, &["define", "ahead", "--call", &call(&db, "hello"), "--every", "1h", "--start", "2031-01-01"]).await;
        admin.run("UPDATE job SET job_status = 'PAUSED' WHERE job_name = 'paused'").await;
        for (round, signal) in [(1, "TERM"), (2, "INT")] {
            let start = Tool::new(&db, &bob, &["start", "--all"]).start();
            start.says("runner started", 5).await;
            let live = "SELECT COUNT(*) FROM job_overview WHERE job_runner_connection_id IS NOT NULL";
            wait_until("all wait", SOON, async || admin.number(live).await == 5).await;
            let begun = std::time::Instant::now();
            start.signal(signal);
            let (code, log) = start.ends().await;
            assert_eq!(code, 0, "{log:#?}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            assert_eq!(log.iter().filter(|line| line.contains("runner ended")).count(), 5, "{log:#?}");
            nothing_left(&db, &bob, &mut admin).await;
            let words = admin.one("SELECT GROUP_CONCAT(job_status ORDER BY job_name) FROM job").await;
            assert_eq!(words, "ENABLED,ENABLED,ENABLED,ENABLED,PAUSED", "round {round}");
            assert_eq!(admin.one("SELECT COUNT(*) FROM job_run").await, "0");
        }
    });
}

#[test]
fn a_signal_lets_bodies_finish_and_records_them() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(n INT)").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(2.5); INSERT INTO done VALUES (1); END").await;
        let mut admin = db.admin().await;
        let done = format!("SELECT COUNT(*) FROM {}.done", db.bodies());
        for job in ["a", "b"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "slow"), "--every", "0.5s"]).await;
        }
        for (round, signal) in [(1, "TERM"), (2, "INT")] {
            let start = Tool::new(&db, &bob, &["start", "a", "b"]).start();
            let running = "SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'";
            wait_until("both bodies run", SOON, async || admin.number(running).await == 2).await;
            start.signal(signal);
            let (code, log) = start.ends().await;
            assert_eq!(code, 0, "{log:#?}");
            assert_eq!(log.iter().filter(|line| line.contains("run ok in ")).count(), 2, "{log:#?}");
            assert_eq!(admin.number(&done).await, 2 * round);
            assert_eq!(admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await, 2 * round);
            assert_eq!(admin.number("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')").await, 0);
            assert_eq!(admin.one("SELECT GROUP_CONCAT(job_status) FROM job").await, "ENABLED,ENABLED");
            nothing_left(&db, &bob, &mut admin).await;
        }
    });
}

/// Job `name` of Bob, a run of which takes four seconds.
async fn slow(db: &Db, bob: &Account, name: &str) -> Going {
    good(db, bob, &["define", name, "--call", &call(db, "slow"), "--every", "0.5s"]).await;
    let start = Tool::new(db, bob, &["start", name, "--grace", "1s"]);
    let start = if name == "kill" { start.argument("--on-grace=kill") } else { start }.start();
    status(db, bob, name, "RUNNING").await;
    start
}

#[test]
fn a_second_signal_stops_the_run() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN WHILE TRUE DO DO SLEEP(0.5); END WHILE; END").await;
        let mut admin = db.admin().await;
        for (job, signal, wanted) in [("a", "TERM", 143), ("b", "INT", 130)] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "slow"), "--every", "0.5s"]).await;
            let start = Tool::new(&db, &bob, &["start", job]).start();
            status(&db, &bob, job, "RUNNING").await;
            start.signal(signal);
            start.says("runners end after their present runs", 1).await;
            start.signal(signal);
            let (code, log) = start.ends().await;
            assert_eq!(code, wanted, "{log:#?}");
            assert!(log.iter().any(|line| line.contains("run stopped, it is KILLED")), "{log:#?}");
            let row = format!("SELECT outcome, run_stop_reason FROM job_run WHERE job_name = '{job}' AND attempt > 0");
            assert_eq!(admin.rows(&row).await, [["KILLED", "its controller got a second signal"]]);
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn when_the_grace_is_over_runs_are_left_to_the_server_or_stopped() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(n INT)").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(4); INSERT INTO done VALUES (1); END").await;
        let mut admin = db.admin().await;
        let leaves = slow(&db, &bob, "leave").await;
        let kills = slow(&db, &bob, "kill").await;
        for start in [&leaves, &kills] {
            start.signal("TERM");
        }
        let (code, log) = leaves.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert!(log.iter().any(|line| line.contains("leave: left to the server")), "{log:#?}");
        status(&db, &bob, "leave", "RUNNING (controller gone)").await;
        let (code, log) = kills.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert!(log.iter().any(|line| line.contains("kill: run stopped, it is KILLED")), "{log:#?}");
        let outcomes = "SELECT job_name, outcome FROM job_run WHERE attempt > 0 AND outcome <> 'RUNNING' ORDER BY job_name";
        wait_until("the server has recorded it", SOON, async || admin.rows(outcomes).await.len() == 2).await;
        assert_eq!(admin.rows(outcomes).await, [["kill", "KILLED"], ["leave", "OK"]]);
        // It had been asked to end: no further cycle.
        status(&db, &bob, "leave", "ENABLED").await;
        assert_eq!(admin.rows(outcomes).await.len(), 2);
        nothing_left(&db, &bob, &mut admin).await;
    });
}
