//! What a parked job does, and what can be done with it.

use std::time::{Duration, Instant};

use super::{SECOND, are_parked, due_in, end, good, hourly, lot, runs, sessions, start, status};
use crate::cli::starting::nothing_left;
use crate::cli::tool::{SOON, bad, json};
use crate::each::{each, wait_until};

#[test]
fn a_job_that_is_not_due_has_no_session_and_is_shown_with_its_next_instant() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 1).await;
        let direct = start(&db, &bob, &["j001", "--park", "never"]);
        status(&db, &bob, "j001", "SLEEPING").await;
        assert_eq!(admin.one("SELECT MAX(job_runner_parked) FROM job_overview").await, "0");
        end(direct).await;

        let start = start(&db, &bob, &["j001", "--park", "10s"]);
        status(&db, &bob, "j001", "SLEEPING").await;
        are_parked(&mut admin, 1).await;
        // Beside the controller's own two, the one for all jobs, and it idles.
        wait_until("three sessions", SOON, async || sessions(&mut admin, &bob).await == 3).await;
        let lot = lot(&mut admin, "j001").await;
        let idles = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {lot} AND command = 'Sleep'");
        wait_until("it idles", SOON, async || admin.number(&idles).await == 1).await;
        let shown = json(&db, &bob, &["status"]).await;
        assert_eq!((shown[0]["status"].as_str(), shown[0]["job_runner_connection_id"].to_string()), (Some("SLEEPING"), lot));
        assert!(shown[0]["job_next"].is_string(), "{shown:?}");
        start.says("runner started, parked until ", 1).await;
        let refused = bad(&db, &bob, 4, &["drop", "j001"]).await;
        assert!(refused.contains("Parked by controller "), "{refused}");
        let mut session = db.login(&bob).await;
        let told = session.row("CALL job$run('j001')").await;
        assert!(told[1].starts_with("Parked by controller "), "{told:?}");
        // Nothing is wrong with it.
        assert_eq!(session.rows("CALL job$doctor()").await, Vec::<Vec<String>>::new());
        drop(session);
        let log = end(start).await;
        assert!(
            log.iter().any(|line| line.contains("j001: runner ended: Ended because its controller shuts down")),
            "{log:#?}"
        );
        let events = "SELECT GROUP_CONCAT(event_kind ORDER BY event_no) FROM job_event WHERE event_kind LIKE 'RUNNER%'";
        assert_eq!(admin.one(events).await, "RUNNER_START,RUNNER_STOP,RUNNER_START,RUNNER_STOP");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn requests_and_plain_updates_reach_a_parked_job_at_once() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 1).await;
        let start = start(&db, &bob, &["--all", "--park", "10s"]);
        are_parked(&mut admin, 1).await;
        status(&db, &bob, "j001", "SLEEPING").await;
        let now = "SELECT COALESCE(job_runner_status, 'none') FROM job";
        for (verb, word) in [("pause", "PAUSED"), ("resume", "SLEEPING")] {
            good(&db, &bob, &[verb, "j001"]).await;
            let begun = Instant::now();
            wait_until(word, SOON, async || admin.one(now).await == word).await;
            assert!(begun.elapsed() < SECOND, "{verb}: {:?}", begun.elapsed());
            are_parked(&mut admin, 1).await;
        }
        for (sql, word) in [
            ("UPDATE job SET job_status = 'PAUSED'", "PAUSED"),
            ("UPDATE job SET job_status = 'RESUMED'", "SLEEPING"),
            ("UPDATE job SET job_schedule_start = '2039-01-01'", "WAITING"),
            ("UPDATE job SET job_schedule_start = NULL", "SLEEPING"),
        ] {
            admin.run(sql).await;
            wait_until(sql, SOON, async || admin.one(now).await == word).await;
        }
        for (arguments, word) in [(["pause", "--all"], "PAUSED (all)"), (["resume", "--all"], "SLEEPING")] {
            good(&db, &bob, &arguments).await;
            status(&db, &bob, "j001", word).await;
        }
        wait_until("it sleeps", SOON, async || admin.one(now).await == "SLEEPING").await;
        good(&db, &bob, &["alter", "j001", "--every", "2h"]).await;
        wait_until("replanned", SOON, async || admin.one("SELECT job_next_interval FROM job").await.starts_with("7200")).await;
        for (way, back, message) in
            [("abort", "enable", "Aborted at request"), ("disable", "enable", "The job became DISABLED")]
        {
            good(&db, &bob, &[way, "j001"]).await;
            start.says(&format!("j001: runner ended: {message}"), 1).await;
            wait_until("it is free", SOON, async || admin.one(now).await == "none").await;
            good(&db, &bob, &[back, "j001"]).await;
            are_parked(&mut admin, 1).await;
        }
        // Asked to be renewed, it is parked anew.
        db.login(&bob).await.run("CALL job$stop('j001', NULL)").await;
        start.says("j001: runner ended: Ended because its controller shuts down", 1).await;
        are_parked(&mut admin, 1).await;
        // A row that is locked is waited for, and others are not kept waiting.
        let mut other = db.admin().await;
        other.run("START TRANSACTION").await;
        other.run("UPDATE job SET job_status = 'ABORTED'").await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        other.run("COMMIT").await;
        start.says("j001: runner ended: Aborted at request", 2).await;
        // A renamed one as well.
        good(&db, &bob, &["enable", "j001"]).await;
        are_parked(&mut admin, 1).await;
        good(&db, &bob, &["alter", "j001", "--rename", "new"]).await;
        wait_until("a look", SOON, async || start.count("new: ") > 0 || start.count("standing by") > 0).await;
        good(&db, &bob, &["abort", "new"]).await;
        start.says("runner ended: Aborted at request", 3).await;
        good(&db, &bob, &["drop", "new"]).await;
        assert_eq!(runs(&mut admin, &db).await, 0);
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_parked_job_runs_at_its_instant_and_is_parked_again() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 1).await;
        due_in(&mut admin, 14, "TRUE").await;
        let start = start(&db, &bob, &["j001", "--park", "10s"]);
        are_parked(&mut admin, 1).await;
        let lot_before = lot(&mut admin, "j001").await;
        wait_until("it has a session", SOON, async || {
            admin.number("SELECT COUNT(*) FROM job_overview WHERE job_runner_parked = 0 AND status = 'WAITING'").await == 1
        })
        .await;
        assert_eq!(runs(&mut admin, &db).await, 0, "it is there before");
        start.says("j001: run ok", 1).await;
        are_parked(&mut admin, 1).await;
        status(&db, &bob, "j001", "SLEEPING").await;
        assert_eq!(lot(&mut admin, "j001").await, lot_before);
        assert_eq!(runs(&mut admin, &db).await, 1);
        let late = "SELECT TIMESTAMPDIFF(MICROSECOND, scheduled_for, started_at) FROM job_run WHERE attempt = 1";
        let late = admin.number(late).await;
        eprintln!("{}: {late} us late", db.server().name);
        assert!((0..5_000_000).contains(&late), "{late}");
        let row = "SELECT job_runner_cycles, job_runner_epoch FROM job";
        assert_eq!(admin.row(row).await, ["1", "3"]);
        let events = "SELECT GROUP_CONCAT(event_kind ORDER BY event_no) FROM job_event WHERE event_kind LIKE 'RUNNER%'";
        assert_eq!(admin.one(events).await, "RUNNER_START");
        let log = end(start).await;
        assert_eq!(log.iter().filter(|line| line.contains("runner started")).count(), 1, "{log:#?}");
        assert_eq!(admin.one(events).await, "RUNNER_START,RUNNER_STOP");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn what_falls_into_a_pause_of_a_parked_job_is_recorded_and_never_caught_up() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 1).await;
        due_in(&mut admin, 6, "TRUE").await;
        admin.run("UPDATE job SET job_status = 'PAUSED'").await;
        let start = start(&db, &bob, &["j001", "--park", "10s"]);
        status(&db, &bob, "j001", "PAUSED").await;
        are_parked(&mut admin, 1).await;
        tokio::time::sleep(Duration::from_secs(7)).await;
        are_parked(&mut admin, 1).await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
        status(&db, &bob, "j001", "SLEEPING").await;
        let row = "SELECT outcome, reason, span_count FROM job_run";
        wait_until("the span", SOON, async || admin.rows(row).await == [["SKIPPED", "PAUSED", "1"]]).await;
        assert_eq!(runs(&mut admin, &db).await, 0);
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_schedule_that_ends_while_its_job_is_parked_ends_it() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 1).await;
        let start = start(&db, &bob, &["j001", "--park", "10s"]);
        are_parked(&mut admin, 1).await;
        admin.run("UPDATE job SET job_schedule_finish = UTC_TIMESTAMP() + INTERVAL 5 MINUTE").await;
        start.says("j001: runner ended: Ok: the schedule is over", 1).await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        status(&db, &bob, "j001", "FINISHED").await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_span_that_is_too_short_is_refused() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let refused = bad(&db, &bob, 2, &["start", "--all", "--park", "9.9s"]).await;
        assert!(refused.contains("at least 10s") && refused.contains("hint: "), "{refused}");
        let refused = bad(&db, &bob, 2, &["start", "--all", "--park", "sometimes"]).await;
        assert!(refused.contains("`auto` or `never`"), "{refused}");
    });
}

#[test]
fn parked_jobs_are_held_and_upgraded_as_others_are() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 3).await;
        let start = start(&db, &bob, &["--all", "--park", "10s"]);
        are_parked(&mut admin, 3).await;
        admin.run("UPDATE job_setting SET setting_value = '' WHERE setting_name = 'routines_digest'").await;
        let told = good(&db, &db.root(), &["install"]).await;
        assert!(told.contains("3 runners ended for it"), "{told}");
        start.says("runner started", 6).await;
        are_parked(&mut admin, 3).await;
        admin.run("INSERT INTO job_setting (setting_name, setting_value) VALUES ('hold', 'test')").await;
        start.says("runner ended", 6).await;
        status(&db, &bob, "j002", "HELD").await;
        admin.run("DELETE FROM job_setting WHERE setting_name = 'hold'").await;
        are_parked(&mut admin, 3).await;
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}
