//! What `jobctl alter` and its twin refuse: the right code, a hint, and nothing of it done.

use super::{define, full_job};
use crate::cli::tool::{bad, call};
use crate::db::Db;
use crate::each::each;
use crate::session::{literal, name};

/// Everything that is stored of all jobs, and how many events there are.
async fn everything(db: &Db) -> (Vec<Vec<String>>, String) {
    let mut admin = db.admin().await;
    (admin.rows("SELECT * FROM job ORDER BY job_id").await, admin.one("SELECT COUNT(*) FROM job_event").await)
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
