//! `jobctl define`, and its twin `job$define`.

use serde_json::json;

use super::tool::{Tool, bad, call, good, json};
use crate::db::{Account, Db};
use crate::each::each;
use crate::session::{Session, literal, name};

async fn hello(db: &Db) -> (Account, String) {
    db.body("hello", "DO 0").await;
    (db.account("bob").await, call(db, "hello"))
}

#[test]
fn every_option_of_define_is_kept_and_shown() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        #[rustfmt::skip]
        let arguments = ["define", "nightly", "--call", &procedure, "--every", "1h30m", "--start", "2031-01-01T04:00:00+02:00",
            "--finish", "2032-01-01 00:00", "--tz", "America/New_York", "--max-failures", "3", "--description", "Räumt auf; \"q\" 'q' \\ 🚀"];
        good(&db, &bob, &arguments).await;
        let row = &json(&db, &bob, &["show", "nightly"]).await[0];
        for (column, value) in [
            ("job_owner", json!(bob.user)),
            ("job_name", json!("nightly")),
            ("job_description", json!("Räumt auf; \"q\" 'q' \\ 🚀")),
            ("job_kind", json!("PROCEDURE")),
            ("job_procedure_schema", json!(db.bodies())),
            ("job_procedure_name", json!("hello")),
            ("job_schedule_start", json!("2031-01-01T02:00:00Z")),
            ("job_schedule_finish", json!("2032-01-01T05:00:00Z")),
            ("job_schedule_interval", json!(5400)),
            ("job_max_failures", json!(3)),
            ("job_status", json!("ENABLED")),
            ("status", json!("ENABLED")),
            ("job_next", json!("2031-01-01T02:00:00Z")),
        ] {
            assert_eq!(row[column].to_string(), value.to_string(), "{column}");
        }
        let shown = good(&db, &bob, &["show", "nightly"]).await;
        for text in ["1h30m", "2031-01-01 02:00:00 +00:00", "2032-01-01 05:00:00 +00:00", "3", "Räumt auf"] {
            assert!(shown.contains(text), "{text} in: {shown}");
        }
        assert!(good(&db, &bob, &["list"]).await.contains("1h30m"));
    });
}

#[test]
fn spans_have_their_forms_and_limits() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        for (span, seconds) in [
            ("90s", "90"),
            ("5m", "300"),
            ("1h30m", "5400"),
            ("0.5s", "0.5"),
            ("0.1s", "0.1"),
            ("1d", "86400"),
            ("36525d", "3155760000"),
        ] {
            good(&db, &bob, &["define", "x", "--call", &procedure, "--every", span, "--replace"]).await;
            assert_eq!(json(&db, &bob, &["show", "x"]).await[0]["job_schedule_interval"].to_string(), seconds, "{span}");
        }
        for span in [
            "",
            "5",
            "m",
            "0s",
            "0.09s",
            "0.0999999s",
            "36526d",
            "1m1h",
            "-5m",
            "5 m",
            "1e3s",
            "5M",
            "5x",
            "NaN",
            "99999999999999999999d",
        ] {
            bad(&db, &bob, 2, &["define", "y", "--call", &procedure, &format!("--every={span}")]).await;
        }
        // The twin has the same limits, for whoever comes without the tool.
        let mut session = db.login(&bob).await;
        let mut define = async |every: &str| {
            let options = format!(r#"{{"schema": "{}", "procedure": "hello", "every": {every}}}"#, db.bodies());
            session.attempt(&format!("CALL job$define('y', {})", literal(&options))).await.is_ok()
        };
        for every in ["0", "0.099999", "-5", "3155760001", "0.1000001", "\"5m\"", "\"\"", "null", "[1]", "true"] {
            assert!(!define(every).await, "{every}");
        }
        for every in ["0.1", "\"0.1\"", "3155760000"] {
            assert!(define(every).await, "{every}");
            session_drop(&db, &bob).await;
        }
    });
}

async fn session_drop(db: &Db, account: &Account) {
    good(db, account, &["drop", "y"]).await;
}

#[test]
fn odd_names_go_all_the_way_and_unspeakable_ones_are_refused() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let long = "ä".repeat(129);
        let names = [
            "it's",
            "a`b",
            "say \"hi\"",
            "two  blanks",
            "$HOME",
            "100% _x",
            "a\\b",
            "🚀",
            "-- x",
            "--",
            "-x",
            "x;y",
            "NULL",
            "Ä",
            "A",
            "a",
            &long,
        ];
        for name in names {
            good(&db, &bob, &["define", "--call", &procedure, "--every", "1h", "--", name]).await;
        }
        let shown = json(&db, &bob, &[&["status", "--"][..], &names].concat()).await;
        assert_eq!(shown.iter().map(|row| row["job_name"].as_str().unwrap()).collect::<Vec<_>>(), names);
        assert_eq!(json(&db, &bob, &["list"]).await.len(), names.len());
        for name in names {
            good(&db, &bob, &["drop", "--", name]).await;
        }
        assert_eq!(json(&db, &bob, &["list"]).await.len(), 0);
        let too_long = "a".repeat(130);
        let mut session = db.login(&bob).await;
        for name in ["", " a", "a ", "\ta", "a\n", "a\u{1}b", "a\u{7f}b", "\u{a0}a", "a\u{3000}", "a\u{85}b", &too_long] {
            bad(&db, &bob, 2, &["define", "--call", &procedure, "--every", "1h", "--", name]).await;
            let options = format!(r#"{{"schema": "{}", "procedure": "hello", "every": 5}}"#, db.bodies());
            let (code, message) = session.error(&format!("CALL job$define({}, {})", literal(name), literal(&options))).await;
            assert_eq!(code, 45002, "{name:?}: {message}");
        }
        assert_eq!(db.admin().await.one("SELECT COUNT(*) FROM job").await, "0");
    });
}

#[test]
fn define_checks_at_once_that_the_procedure_can_be_called() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let mut admin = db.admin().await;
        // A schema in which bob has no right; the harness gives him all of the other.
        let shop = db.extra("shop").await;
        admin.run(&format!("CREATE PROCEDURE {}.roll_up() DO 0", name(&shop))).await;
        admin.run(&format!("CREATE PROCEDURE {}.needs(IN a INT, OUT b INT) SET b = a", name(&shop))).await;
        admin.run(&format!("CREATE FUNCTION {}.fun() RETURNS INT DETERMINISTIC NO SQL RETURN 1", name(&shop))).await;
        let define = async |procedure: &str| {
            let procedure = format!("{shop}.{procedure}");
            Tool::new(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h", "--replace"]).run().await
        };
        let refused = async |why: &str, procedure: &str| {
            let ran = define(procedure).await;
            assert!([2, 4].contains(&ran.code) && ran.stderr.starts_with("error: "), "{why}: {ran:#?}");
            assert_eq!(db.admin().await.one("SELECT COUNT(*) FROM job").await, "0", "{why}");
            ran.stderr
        };
        refused("no such schema", "x`.`y").await;
        refused("no such procedure", "nothing").await;
        refused("no right", "roll_up").await;
        admin.run(&format!("GRANT SELECT ON {}.* TO {bob}", name(&shop))).await;
        refused("no EXECUTE", "roll_up").await;
        admin.run(&format!("GRANT EXECUTE ON PROCEDURE {}.needs TO {bob}", name(&shop))).await;
        let needs = refused("arguments", "needs").await;
        assert!(needs.contains("argument"), "{needs}");
        admin.run(&format!("GRANT EXECUTE ON {}.* TO {bob}", name(&shop))).await;
        refused("a function", "fun").await;
        assert_eq!(define("roll_up").await.code, 0);
        // EXECUTE that comes by a role, one that is active as bob logs in.
        admin.run(&format!("REVOKE EXECUTE ON {}.* FROM {bob}", name(&shop))).await;
        admin.run("DELETE FROM job").await;
        refused("revoked", "roll_up").await;
        let role = format!("role{}", &shop[shop.len() - 16..]);
        admin.run(&format!("CREATE ROLE {role}")).await;
        let outcome = async {
            admin.run(&format!("GRANT EXECUTE ON PROCEDURE {}.roll_up TO {role}", name(&shop))).await;
            admin.run(&format!("GRANT {role} TO {bob}")).await;
            refused("a role that is not active", "roll_up").await;
            let link = if db.mariadb() { "FOR" } else { "TO" };
            admin.run(&format!("SET DEFAULT ROLE {role} {link} {bob}")).await;
            define("roll_up").await
        }
        .await;
        admin.run(&format!("DROP ROLE {role}")).await;
        assert_eq!(outcome.code, 0, "{outcome:#?}");
    });
}

#[test]
fn replace_keeps_id_status_and_history_and_if_not_exists_keeps_all() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let mut admin = db.admin().await;
        let define = |more: &[&'static str]| {
            let words = [&["define", "x", "--call", &procedure][..], more].concat();
            words.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let run = async |more: &[&'static str]| {
            let words = define(more);
            Tool::new(&db, &bob, &words.iter().map(String::as_str).collect::<Vec<_>>()).run().await
        };
        assert!(run(&["--every", "0.1s", "--description", "old"]).await.stdout.starts_with("defined job `x`"));
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        start.says("run ok", 2).await;
        start.signal("TERM");
        start.ends().await;
        admin.run("UPDATE job SET job_status = 'PAUSED'").await;
        let kept = "SELECT job_id, job_status, job_run_last, job_defined, (SELECT COUNT(*) FROM job_run WHERE outcome = 'OK') FROM job";
        let before = admin.row(kept).await;
        let ran = run(&["--every", "5m"]).await;
        assert!(ran.code == 4 && ran.stderr.contains("already"), "{ran:#?}");
        let ran = run(&["--every", "5m", "--replace", "--if-not-exists"]).await;
        assert!(ran.code == 2 && ran.stderr.contains("--if-not-exists"), "{ran:#?}");
        let ran = run(&["--every", "7m", "--if-not-exists"]).await;
        assert!(ran.code == 0 && ran.stdout.contains("stays as it is"), "{ran:#?}");
        let values = "SELECT job_schedule_interval, job_description FROM job";
        assert_eq!(admin.row(values).await, ["0.100000", "old"]);
        let ran = run(&["--every", "5m", "--replace"]).await;
        assert!(ran.code == 0 && ran.stdout.starts_with("redefined job `x`"), "{ran:#?}");
        // What is not said again is gone: a definition is whole.
        assert_eq!(admin.row(values).await, ["300.000000", "NULL"]);
        assert_eq!(admin.row(kept).await, before);
        assert!(run(&["--every", "5m", "--replace"]).await.code == 0);
        good(&db, &bob, &["define", "y", "--call", &procedure, "--every", "5m", "--replace"]).await;
        good(&db, &bob, &["define", "z", "--call", &procedure, "--every", "5m", "--if-not-exists"]).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job").await, "3");
    });
}

#[test]
fn windows_that_cannot_be_right_are_refused() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let define = |more: &[&str]| {
            let words = [&["define", "x", "--replace", "--call", &procedure, "--every", "1h"][..], more].concat();
            words.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        for more in [
            &["--start", "2031-01-02", "--finish", "2031-01-01"][..],
            &["--finish", "2001-01-01"],
            &["--start", "tomorrow"],
            &["--start", "2031-02-30"],
            &["--start", "2031-01-01 25:00"],
            &["--finish", ""],
            &["--start", "2031-01-01", "--tz", "Mars/Olympus"],
            &["--max-failures", "0"],
            &["--max-failures", "-1"],
            &["--max-failures", "many"],
        ] {
            let words = define(more);
            bad(&db, &bob, 2, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
        }
        for wrong in [
            &["define", "x", "--every", "1h"][..],
            &["define", "x", "--call", &procedure],
            &["define", "--call", &procedure, "--every", "1h"],
            &["define", "x", "--call", "hello", "--every", "1h"],
        ] {
            bad(&db, &bob, 2, wrong).await;
        }
        let words = define(&["--description", &"x".repeat(1025)]);
        bad(&db, &bob, 2, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!(db.admin().await.one("SELECT COUNT(*) FROM job").await, "0");
        // A start in the past is a grid: the next instant is one of it, and ahead.
        let words = define(&["--start", "2020-01-01 00:00:07"]);
        good(&db, &bob, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let next = json(&db, &bob, &["show", "x"]).await[0]["job_next"].as_str().unwrap().to_owned();
        assert!(next.ends_with(":00:07Z") && *next > *"2026", "{next}");
        // Only what comes is echoed.
        for (finish, lines) in [("2031-01-01 02:30", 5), ("2031-01-01 02:00", 5), ("2031-01-01 01:59", 4), ("2031-01-01", 3)] {
            let words = define(&["--start", "2031-01-01", "--finish", finish]);
            let echo = good(&db, &bob, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
            assert_eq!(echo.lines().count(), lines, "{finish}: {echo}");
        }
        let never =
            ["define", "y", "--call", &procedure, "--every", "36525d", "--start", "2020-01-01", "--finish", "2031-01-01"];
        assert!(good(&db, &bob, &never).await.contains("nothing is planned"));
    });
}

#[test]
fn the_first_three_occurrences_are_echoed_in_local_time_and_utc() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let define = ["define", "x", "--call", &procedure, "--every", "1h", "--replace", "--start", "2031-03-30 01:00"];
        // Across the change to summer time: an interval is elapsed time.
        let echo = Tool::new(&db, &bob, &define).env("TZ", "Europe/Berlin").run().await.stdout;
        let lines: Vec<_> = echo.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines,
            [
                "first occurrences UTC",
                "2031-03-30 01:00:00 +01:00 2031-03-30 00:00:00 +00:00",
                "2031-03-30 03:00:00 +02:00 2031-03-30 01:00:00 +00:00",
                "2031-03-30 04:00:00 +02:00 2031-03-30 02:00:00 +00:00",
            ]
        );
        let echo = Tool::new(&db, &bob, &define).run().await.stdout;
        assert_eq!(echo.lines().nth(2), Some("2031-03-30 01:00:00 +00:00"), "{echo}");
        let echo = Tool::new(&db, &bob, &[&define[..], &["--tz", "Asia/Kolkata"]].concat()).run().await.stdout;
        assert!(echo.contains("2031-03-30 01:00:00 +05:30") && echo.contains("2031-03-29 19:30:00 +00:00"), "{echo}");
        let json = Tool::new(&db, &bob, &[&define[..], &["--output", "json"]].concat()).run().await.stdout;
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
        assert_eq!(rows.len(), 1);
        let columns: Vec<_> = rows[0].as_object().unwrap().keys().collect();
        assert_eq!(columns, ["job_id", "action", "next_1", "next_2", "next_3"]);
        assert_eq!((&rows[0]["action"], &rows[0]["next_3"]), (&json!("REPLACED"), &json!("2031-03-30T03:00:00Z")));
        let csv = Tool::new(&db, &bob, &[&define[..], &["--output=csv"]].concat()).run().await.stdout;
        assert_eq!(csv.lines().next(), Some("job_id,action,next_1,next_2,next_3"));
        assert!(csv.ends_with(",REPLACED,2031-03-30T01:00:00Z,2031-03-30T02:00:00Z,2031-03-30T03:00:00Z\n"), "{csv}");
    });
}

#[test]
fn an_unknown_option_of_the_sql_twins_is_an_error() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let mut session = db.login(&bob).await;
        let whole = format!(r#""schema": "{}", "procedure": "hello", "every": 5"#, db.bodies());
        let mut refused = async |call: String| {
            let (code, message) = Session::error(&mut session, &call).await;
            assert_eq!(code, 45002, "{call}: {message}");
            message
        };
        let unknown = refused(format!("CALL job$define('y', {})", literal(&format!(r#"{{{whole}, "evrey": 5}}"#)))).await;
        assert!(unknown.contains("evrey"), "{unknown}");
        for options in [
            format!(r#"{{{whole}, "": 5}}"#),
            format!(r#"{{{whole}, "EVERY": 5}}"#),
            format!("[{{{whole}}}]"),
            format!("{{{whole}"),
            String::new(),
            "7".into(),
            "null".into(),
            "{}".into(),
            format!(r#"{{{whole}, "replace": "yes"}}"#),
            format!(r#"{{{whole}, "replace": 1}}"#),
            format!(r#"{{{whole}, "replace": true, "if_not_exists": true}}"#),
            format!(r#"{{{whole}, "start": "2031-01-01"}}"#),
            format!(r#"{{{whole}, "start": "2031-02-30 00:00:00"}}"#),
            format!(r#"{{{whole}, "finish": 5}}"#),
            format!(r#"{{{whole}, "max_failures": 1.5}}"#),
        ] {
            refused(format!("CALL job$define('y', {})", literal(&options))).await;
        }
        refused("CALL job$drop('x', '{\"purge\": true}')".into()).await;
        refused("CALL job$drop('x', '[]')".into()).await;
        refused("CALL job$stop('x', '{\"why\": \"SHUTDOWN\"}')".into()).await;
        refused("CALL job$stop('x', '{\"reason\": \"LUNCH\"}')".into()).await;
        assert_eq!(db.admin().await.one("SELECT GROUP_CONCAT(job_name) FROM job").await, "x");
    });
}
