//! `jobctl alter`, and its twin `job$alter`: what is named changes, what is not named stays.

mod lifecycle;
mod refusals;

use crate::cli::tool::{good, json};
use crate::db::{Account, Db};
use crate::each::each;
use crate::session::{Session, literal, name};

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
