//! `jobctl alter`, and its twin `job$alter`: what is named changes, what is not named stays, a live runner obeys.

use std::time::Duration;

use crate::cli::tool::{bad, call, good, jobctl, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::{Session, literal, name};

const SOON: Duration = Duration::from_secs(40);
/// What a definition consists of, and what must stay beside it.
const DEFINITION: &str = "SELECT job_name, job_description, job_procedure_schema, job_procedure_name, job_schedule_start, \
    job_schedule_finish, job_schedule_interval, job_max_failures, job_status, job_id, job_owner, job_failures FROM job";
const NAMES: usize = 0;
const DESCRIPTION: usize = 1;
const PROCEDURE: usize = 3;
const START: usize = 4;
const FINISH: usize = 5;
const INTERVAL: usize = 6;
const LIMIT: usize = 7;

/// A job `x` of bob with everything set.
async fn full_job(db: &Db) -> Account {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    db.body("other one", "DO 1").await;
    define(db, &bob, "x").await;
    bob
}

async fn define(db: &Db, account: &Account, job: &str) {
    let more =
        r#", "start": "2031-01-01 02:00:00", "finish": "2041-01-01 00:00:00", "max_failures": 7, "description": "it's so""#;
    db.define(account, job, "hello", "3600", more).await;
}

/// Everything that is stored of all jobs, and how many events there are.
async fn everything(db: &Db) -> (Vec<Vec<String>>, String) {
    let mut admin = db.admin().await;
    (admin.rows("SELECT * FROM job ORDER BY job_id").await, admin.one("SELECT COUNT(*) FROM job_event").await)
}

async fn altered(session: &mut Session, job: &str, options: &str) -> Vec<String> {
    session.row(&format!("CALL job$alter({}, {})", literal(job), literal(options))).await
}

async fn last_change(admin: &mut Session) -> Vec<String> {
    admin
        .row("SELECT event_by, event_from, event_to, job_name FROM job_event WHERE event_kind = 'CHANGED' ORDER BY event_no DESC LIMIT 1")
        .await
}

#[test]
fn each_option_of_alter_changes_that_alone_and_leaves_an_event_with_old_and_new() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let mut admin = db.admin().await;
        let other = format!("`{}`.`other one`", db.bodies());
        let changes: [(&[&str], usize, &str, &str, &str); 13] = [
            (&["--call", &other], PROCEDURE, "other one", "hello", "other one"),
            (&["--every", "1h30m"], INTERVAL, "5400.000000", "3600", "5400"),
            (&["--every", "0.1s"], INTERVAL, "0.100000", "5400", "0.1"),
            (
                &["--start", "2032-05-06 07:08:09"],
                START,
                "2032-05-06 07:08:09.000000",
                "2031-01-01 02:00:00",
                "2032-05-06 07:08:09",
            ),
            (
                &["--start", "2032-07-01 00:00", "--tz", "Europe/Berlin"],
                START,
                "2032-06-30 22:00:00.000000",
                "2032-05-06",
                "2032-06-30",
            ),
            (
                &["--finish", "2042-01-01T00:00:00+01:00"],
                FINISH,
                "2041-12-31 23:00:00.000000",
                "2041-01-01",
                "2041-12-31 23:00:00",
            ),
            (&["--max-failures", "3"], LIMIT, "3", "7", "3"),
            (&["--description", "\"q\" \\ 🚀"], DESCRIPTION, "\"q\" \\ 🚀", "it's so", "🚀"),
            (&["--start", "none"], START, "NULL", "2032-06-30", "null"),
            (&["--finish", "none"], FINISH, "NULL", "2041-12-31", "null"),
            (&["--max-failures", "none"], LIMIT, "NULL", "3", "null"),
            (&["--description", "none"], DESCRIPTION, "NULL", "🚀", "null"),
            (&["--description", ""], DESCRIPTION, "", "null", "\"\""),
        ];
        for (arguments, column, value, old, new) in changes {
            let mut wanted = admin.row(DEFINITION).await;
            wanted[column] = value.into();
            let said = good(&db, &bob, &[&["alter", "x"], arguments].concat()).await;
            assert!(said.starts_with("changed job `x`\n"), "{arguments:?}: {said}");
            assert_eq!(admin.row(DEFINITION).await, wanted, "{arguments:?}");
            let event = last_change(&mut admin).await;
            assert!(event[0].starts_with(&bob.user), "{arguments:?}: {event:?}");
            assert!(event[1].contains(old) && event[2].contains(new), "{arguments:?}: {event:?}");
        }
        let events = "SELECT COUNT(*) FROM job_event WHERE event_kind = 'CHANGED'";
        assert_eq!(admin.number(events).await, i64::try_from(changes.len()).unwrap());
    });
}

#[test]
fn all_options_of_alter_go_together_and_the_answer_shows_what_comes() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let other = format!("`{}`.`other one`", db.bodies());
        #[rustfmt::skip]
        let arguments = ["alter", "x", "--call", &other, "--every", "1d", "--start", "2035-01-01 00:00", "--finish", "2035-01-02 12:00",
            "--max-failures", "1", "--description", "new", "--rename", "it's `y`"];
        let row = &json(&db, &bob, &arguments).await[0];
        assert_eq!(
            (row["next_1"].as_str(), row["next_2"].as_str()),
            (Some("2035-01-01T00:00:00Z"), Some("2035-01-02T00:00:00Z"))
        );
        assert!(row["next_3"].is_null(), "it is after the finish: {row}");
        assert_eq!(row["job_status"], "ENABLED");
        let wanted = [
            "it's `y`",
            "new",
            db.bodies(),
            "other one",
            "2035-01-01 00:00:00.000000",
            "2035-01-02 12:00:00.000000",
            "86400.000000",
            "1",
        ];
        let mut admin = db.admin().await;
        assert_eq!(admin.row(DEFINITION).await[..8], wanted);
        assert_eq!(last_change(&mut admin).await[3], "it's `y`");
    });
}

#[test]
fn options_of_the_twin_change_alone_too_and_null_takes_away() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        let both = format!(r#"{{"schema": "{}", "procedure": "other one"}}"#, db.bodies());
        for (options, column, value) in [
            (both.as_str(), PROCEDURE, "other one"),
            (r#"{"every": 0.25}"#, INTERVAL, "0.250000"),
            (r#"{"every": "0.1"}"#, INTERVAL, "0.100000"),
            (r#"{"start": "2033-01-01 00:00:00.000001"}"#, START, "2033-01-01 00:00:00.000001"),
            (r#"{"finish": "2033-01-01 00:00:00.000001"}"#, FINISH, "2033-01-01 00:00:00.000001"),
            (r#"{"max_failures": 999999999}"#, LIMIT, "999999999"),
            (r#"{"description": "null"}"#, DESCRIPTION, "null"),
            (r#"{"rename": "X"}"#, NAMES, "X"),
            (r#"{"rename": "X"}"#, NAMES, "X"),
            (r#"{"rename": "x"}"#, NAMES, "x"),
            (r#"{"description": null}"#, DESCRIPTION, "NULL"),
            (r#"{"max_failures": null}"#, LIMIT, "NULL"),
            (r#"{"start": null}"#, START, "NULL"),
            (r#"{"finish": null}"#, FINISH, "NULL"),
        ] {
            let mut wanted = admin.row(DEFINITION).await;
            wanted[column] = value.into();
            let job = wanted[NAMES].clone();
            let before = if column == NAMES { admin.one("SELECT job_name FROM job").await } else { job };
            let answer = altered(&mut session, &before, options).await;
            assert_eq!(answer[..2], [wanted[9].as_str(), "ENABLED"], "{options}");
            assert_eq!(admin.row(DEFINITION).await, wanted, "{options}");
        }
    });
}

#[test]
fn what_is_wrong_in_alter_changes_nothing() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let eve = db.account("eve").await;
        db.body("needy", "DO 0").await;
        let mut admin = db.admin().await;
        admin.run(&format!("CREATE PROCEDURE {}.args(IN a INT) SQL SECURITY INVOKER DO 0", name(db.bodies()))).await;
        define(&db, &bob, "taken").await;
        define(&db, &eve, "hers").await;
        let before = everything(&db).await;
        let (args, missing, long) = (call(&db, "args"), call(&db, "missing"), "d".repeat(1025));
        let too_long = "n".repeat(130);
        let wrong: [(i32, &[&str]); 36] = [
            (2, &["x"]),
            (2, &["x", "--tz", "Europe/Berlin"]),
            (2, &[]),
            (2, &["x", "--every", "0s"]),
            (2, &["x", "--every=-5m"]),
            (2, &["x", "--every", "0.05s"]),
            (2, &["x", "--every", "36526d"]),
            (2, &["x", "--every", "5"]),
            (2, &["x", "--every", "none"]),
            (2, &["x", "--start", "tomorrow-ish"]),
            (2, &["x", "--start", "2042-01-01 00:00"]),
            (2, &["x", "--start", "1960-01-01 00:00"]),
            (2, &["x", "--start", "2031-02-30 00:00"]),
            (2, &["x", "--start", ""]),
            (2, &["x", "--finish", "2030-12-31 00:00"]),
            (2, &["x", "--start", "none", "--finish", "2001-01-01 00:00"]),
            (2, &["x", "--finish", "9999-01-01 00:00"]),
            (2, &["x", "--max-failures", "0"]),
            (2, &["x", "--max-failures=-1"]),
            (2, &["x", "--max-failures", "1.5"]),
            (2, &["x", "--max-failures", "many"]),
            (2, &["x", "--max-failures", "1000000000"]),
            (2, &["x", "--max-failures", ""]),
            (2, &["x", "--description", &long]),
            (2, &["x", "--call", "nodot"]),
            (2, &["x", "--call", &args]),
            (2, &["x", "--call", &missing]),
            (2, &["x", "--rename", ""]),
            (2, &["x", "--rename", " y"]),
            (2, &["x", "--rename", "a\u{1}b"]),
            (2, &["x", "--rename", &too_long]),
            (2, &["x", "--tz", "No/Where", "--start", "2032-01-01 00:00"]),
            (4, &["x", "--rename", "taken"]),
            (4, &["x", "--rename", "taken", "--description", "half done"]),
            (3, &["unknown", "--every", "5m"]),
            (3, &["hers", "--every", "5m"]),
        ];
        for (code, arguments) in wrong {
            let said = bad(&db, &bob, code, &[&["alter"], arguments].concat()).await;
            assert!(said.contains("hint: "), "{arguments:?}: {said}");
            assert_eq!(everything(&db).await, before, "{arguments:?}");
        }
        let said = bad(&db, &bob, 3, &["alter", "hers", "--rename", "mine"]).await;
        assert!(said.contains("hers"), "{said}");
        assert_eq!(everything(&db).await, before);
    });
}

#[test]
fn what_is_wrong_for_the_twin_changes_nothing() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let eve = db.account("eve").await;
        define(&db, &bob, "taken").await;
        define(&db, &eve, "hers").await;
        let mut session = db.login(&bob).await;
        let before = everything(&db).await;
        let schema = db.bodies();
        let wrong = [
            (45002, "x", r#"{"evry": 5}"#.to_owned()),
            (45002, "x", r#"{"replace": true}"#.to_owned()),
            (45002, "x", r#"{"every": 5, "job_status": "PAUSED"}"#.to_owned()),
            (45002, "x", "[]".to_owned()),
            (45002, "x", "nonsense".to_owned()),
            (45002, "x", String::new()),
            (45002, "x", r#""every""#.to_owned()),
            (45002, "x", r#"{"procedure": "hello"}"#.to_owned()),
            (45002, "x", format!(r#"{{"schema": "{schema}"}}"#)),
            (45002, "x", format!(r#"{{"schema": "{schema}", "procedure": null}}"#)),
            (45002, "x", r#"{"schema": null, "procedure": null}"#.to_owned()),
            (45002, "x", format!(r#"{{"schema": "{schema}", "procedure": "missing"}}"#)),
            (45002, "x", format!(r#"{{"schema": "{schema}", "procedure": "{}"}}"#, "p".repeat(65))),
            (45002, "x", r#"{"every": null}"#.to_owned()),
            (45002, "x", r#"{"every": 0.0999999}"#.to_owned()),
            (45002, "x", r#"{"every": 3155760001}"#.to_owned()),
            (45002, "x", r#"{"every": true}"#.to_owned()),
            (45002, "x", r#"{"every": "5m"}"#.to_owned()),
            (45002, "x", r#"{"start": "2031-13-01 00:00:00"}"#.to_owned()),
            (45002, "x", r#"{"start": ""}"#.to_owned()),
            (45002, "x", r#"{"start": 20310101}"#.to_owned()),
            (45002, "x", r#"{"start": "2041-01-01 00:00:00.000001"}"#.to_owned()),
            (45002, "x", r#"{"finish": "2031-01-01 01:59:59.999999"}"#.to_owned()),
            (45002, "x", r#"{"finish": "2001-01-01 00:00:00", "start": null}"#.to_owned()),
            (45002, "x", r#"{"max_failures": 0}"#.to_owned()),
            (45002, "x", r#"{"max_failures": 2.5}"#.to_owned()),
            (45002, "x", r#"{"max_failures": ""}"#.to_owned()),
            (45002, "x", format!(r#"{{"description": "{}"}}"#, "d".repeat(1025))),
            (45002, "x", r#"{"rename": null}"#.to_owned()),
            (45002, "x", r#"{"rename": ""}"#.to_owned()),
            (45002, "x", r#"{"rename": "y "}"#.to_owned()),
            (45004, "x", r#"{"rename": "taken"}"#.to_owned()),
            (45004, "x", r#"{"rename": "taken", "every": 60}"#.to_owned()),
            (45003, "unknown", r#"{"every": 60}"#.to_owned()),
            (45003, "hers", r#"{"every": 60}"#.to_owned()),
            (45003, "X", r#"{"every": 60}"#.to_owned()),
        ];
        for (code, job, options) in &wrong {
            let call = format!("CALL job$alter({}, {})", literal(job), literal(options));
            let (got, message) = session.error(&call).await;
            assert_eq!(got, *code, "{job} {options}: {message}");
            assert!(message.starts_with("job$alter: "), "{job} {options}: {message}");
            assert_eq!(everything(&db).await, before, "{job} {options}");
        }
        let (code, _) = session.error("CALL job$alter(NULL, '{\"every\": 60}')").await;
        assert_eq!(code, 45003);
        assert_eq!(everything(&db).await, before);
    });
}

#[test]
fn a_live_runner_goes_on_under_a_new_name() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "old", "hello", "0.3", "").await;
        let runner = db.runner(&bob, "old").await;
        let mut admin = db.admin().await;
        let ran = |job: &str| format!("SELECT COUNT(*) FROM job_run WHERE job_name = '{job}' AND outcome = 'OK'");
        wait_until("a run", SOON, async || admin.number(&ran("old")).await > 0).await;
        good(&db, &bob, &["alter", "old", "--rename", "new"]).await;
        wait_until("runs under the new name", SOON, async || admin.number(&ran("new")).await > 1).await;
        assert!(!runner.ended());
        let shown = &json(&db, &bob, &["status", "new"]).await[0];
        assert!(["RUNNING", "SLEEPING"].contains(&shown["status"].as_str().unwrap()), "{shown}");
        let shown = good(&db, &bob, &["status"]).await;
        assert!(shown.contains("new") && !shown.contains("old"), "{shown}");
        bad(&db, &bob, 3, &["status", "old"]).await;
        // The lock went with it: no second runner, and the old name is free.
        let second = db.runner(&bob, "new").await.message().await;
        assert!(second.contains(&runner.id.to_string()), "{second}");
        db.define(&bob, "old", "hello", "3600", "").await;
        assert_eq!(admin.number("SELECT COUNT(DISTINCT run_epoch) FROM job_run WHERE job_name = 'new'").await, 1);
        good(&db, &bob, &["abort", "new"]).await;
        assert_eq!(runner.message().await, "Aborted at request");
    });
}

#[test]
fn a_live_runner_obeys_a_changed_interval_procedure_and_finish() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("said", "(word VARCHAR(9))").await;
        db.body("one", "INSERT INTO said VALUES ('one')").await;
        db.body("two", "INSERT INTO said VALUES ('two')").await;
        db.define(&bob, "x", "one", "3600", "").await;
        let runner = db.runner(&bob, "x").await;
        status(&db, &bob, "x", "SLEEPING").await;
        let mut admin = db.admin().await;
        let said = |word: &str| format!("SELECT COUNT(*) FROM {}.said WHERE word = '{word}'", name(db.bodies()));
        good(&db, &bob, &["alter", "x", "--every", "0.5s"]).await;
        wait_until("it runs more often", SOON, async || admin.number(&said("one")).await >= 3).await;
        let two = call(&db, "two");
        good(&db, &bob, &["alter", "x", "--call", &two]).await;
        let ones = admin.number(&said("one")).await;
        wait_until("it calls the other", SOON, async || admin.number(&said("two")).await >= 3).await;
        let more = admin.number(&said("one")).await;
        assert!(more <= ones + 1, "one that was under way may end: {ones}, {more}");
        assert!(!runner.ended());
        // Less often again: the grid is that of the new interval.
        good(&db, &bob, &["alter", "x", "--every", "2h"]).await;
        let far = "SELECT job_next > UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE FROM job";
        assert_eq!(admin.one(far).await, "1");
        good(&db, &bob, &["alter", "x", "--every", "0.5s"]).await;
        let finish = admin.one("SELECT DATE_FORMAT(UTC_TIMESTAMP() + INTERVAL 3 SECOND, '%Y-%m-%d %H:%i:%s')").await;
        good(&db, &bob, &["alter", "x", "--finish", &finish]).await;
        assert_eq!(runner.message().await, "Ok: the schedule is over");
        assert_eq!(admin.one("SELECT job_status FROM job").await, "FINISHED");
        let late = format!("SELECT COUNT(*) FROM job_run WHERE outcome <> 'SKIPPED' AND scheduled_for > '{finish}'");
        assert_eq!(admin.number(&late).await, 0);
        // The same occurrence never twice, whatever the schedule was.
        let twice = "SELECT COUNT(*) - COUNT(DISTINCT scheduled_for) FROM job_run WHERE outcome <> 'SKIPPED'";
        assert_eq!(admin.number(twice).await, 0);
    });
}

#[test]
fn alter_leaves_the_status_and_says_what_the_job_needs() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut admin = db.admin().await;
        let all = ["ENABLED", "PAUSED", "ABORTED", "DISABLED", "FINISHED", "ERROR"];
        for (number, status) in all.iter().enumerate() {
            admin.run(&format!("UPDATE job SET job_status = '{status}', job_failures = 2")).await;
            let every = format!("{}m", number + 1);
            let ran = jobctl(&db, &bob, &["alter", "x", "--every", &every]).await;
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(admin.row("SELECT job_status, job_failures FROM job").await, [status, "2"]);
            let hint = match *status {
                "ENABLED" => None,
                "PAUSED" => Some("jobctl resume"),
                _ => Some("jobctl enable"),
            };
            match hint {
                None => assert_eq!(ran.stderr, "", "{ran:?}"),
                Some(hint) => assert!(
                    ran.stderr.starts_with("hint: ") && ran.stderr.contains(hint) && ran.stderr.contains(status),
                    "{ran:?}"
                ),
            }
        }
    });
}

#[test]
fn a_job_whose_window_is_over_is_reopened_by_alter_and_enable() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        let finish = admin.one("SELECT DATE_FORMAT(UTC_TIMESTAMP() + INTERVAL 2 SECOND, '%Y-%m-%d %H:%i:%s')").await;
        db.define(&bob, "x", "hello", "0.5", &format!(r#", "finish": "{finish}""#)).await;
        assert_eq!(db.runner(&bob, "x").await.message().await, "Ok: the schedule is over");
        assert_eq!(admin.one("SELECT job_status FROM job").await, "FINISHED");
        let ran = jobctl(&db, &bob, &["alter", "x", "--finish", "none"]).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("jobctl enable 'x'"), "{ran:?}");
        assert_eq!(admin.row("SELECT job_status, job_schedule_finish FROM job").await, ["FINISHED", "NULL"]);
        good(&db, &bob, &["enable", "x"]).await;
        let runner = db.runner(&bob, "x").await;
        let ran = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK' AND run_epoch = 2";
        wait_until("it runs again", SOON, async || admin.number(ran).await > 0).await;
        good(&db, &bob, &["disable", "x"]).await;
        runner.message().await;
    });
}

#[test]
fn what_alter_does_not_name_is_not_judged_again() {
    each(|db| async move {
        let bob = full_job(&db).await;
        let mut admin = db.admin().await;
        // Its window is over, and its procedure is gone; both stay as they are.
        admin
            .run(
                "UPDATE job SET job_schedule_start = '2001-01-01', job_schedule_finish = '2001-01-02', job_status = 'FINISHED'",
            )
            .await;
        admin.run(&format!("DROP PROCEDURE {}.hello", name(db.bodies()))).await;
        for arguments in [["--description", "over"], ["--max-failures", "2"], ["--rename", "y"]] {
            let job = admin.one("SELECT job_name FROM job").await;
            good(&db, &bob, &[&["alter", &job], &arguments[..]].concat()).await;
        }
        assert_eq!(
            admin.row("SELECT job_name, job_description, job_max_failures, job_status FROM job").await,
            ["y", "over", "2", "FINISHED"]
        );
    });
}
