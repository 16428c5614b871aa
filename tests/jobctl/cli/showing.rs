//! `jobctl status`, `list` and `show`: what they say, to whom, how fast.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::tool::{Tool, bad, call, good, jobctl, json, status};
use crate::db::Db;
use crate::each::each;

const COLUMNS: &str = "SELECT column_name FROM information_schema.columns \
    WHERE table_schema = DATABASE() AND table_name = 'job_overview' ORDER BY ordinal_position";

async fn columns(db: &Db) -> Vec<String> {
    db.admin().await.rows(COLUMNS).await.into_iter().map(|mut row| row.remove(0)).collect()
}

#[test]
fn each_state_has_its_word() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let mut admin = db.admin().await;
        db.body("hello", "DO 0").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(60); END").await;
        for word in ["ENABLED", "PAUSED", "ABORTED", "DISABLED", "FINISHED", "ERROR", "RESUMED"] {
            good(&db, &bob, &["define", word, "--call", &call(&db, "hello"), "--every", "1h"]).await;
            admin.run(&format!("UPDATE job SET job_status = '{word}' WHERE job_name = '{word}'")).await;
        }
        for (name, procedure, more) in [
            ("SLEEPING", "hello", &["--every", "1h"][..]),
            ("WAITING", "hello", &["--every", "1h", "--start", "2031-01-01"]),
            ("RUNNING", "slow", &["--every", "0.1s"]),
            ("PAUSING", "slow", &["--every", "0.1s"]),
            ("ABORTING", "slow", &["--every", "0.1s"]),
            ("LOST", "slow", &["--every", "0.1s"]),
        ] {
            good(&db, &bob, &[&["define", name, "--call", &call(&db, procedure)][..], more].concat()).await;
        }
        let mut ids = Vec::new();
        for name in ["SLEEPING", "WAITING", "RUNNING", "PAUSING", "ABORTING", "LOST"] {
            ids.push(db.runner(&bob, name).await.id);
        }
        for name in ["RUNNING", "PAUSING", "ABORTING", "LOST"] {
            status(&db, &bob, name, "RUNNING").await;
        }
        admin.run("UPDATE job SET job_status = 'PAUSED' WHERE job_name = 'PAUSING'").await;
        admin.run("UPDATE job SET job_status = 'ABORTED' WHERE job_name = 'ABORTING'").await;
        admin.run(&format!("KILL {}", ids[5])).await;
        for name in ["SLEEPING", "WAITING", "RUNNING", "PAUSING", "ABORTING", "LOST"] {
            status(&db, &bob, name, name).await;
        }
        for (account, whose) in [(&bob, "through the routine"), (&db.root(), "through the view")] {
            for row in json(&db, account, &["status"]).await {
                let (name, word) = (row["job_name"].as_str().unwrap(), row["status"].as_str().unwrap());
                assert_eq!(word, if name == "RESUMED" { "ENABLED" } else { name }, "{whose}");
                // A runner is shown where one lives, and nowhere else.
                let lives = ["SLEEPING", "WAITING", "RUNNING", "PAUSING", "ABORTING"].contains(&name);
                assert_eq!(row["job_runner_connection_id"].is_u64(), lives, "{whose}: {row}");
            }
        }
        // The switch and the hold over all jobs: a run goes on meanwhile, and what has ended has ended.
        let switch =
            format!("INTO job_switch (switch_owner, switch_at, switch_by) VALUES ('{}', UTC_TIMESTAMP(6), 'x')", bob.user);
        let hold = "INTO job_setting (setting_name, setting_value) VALUES ('hold', '1')";
        for (setting, word, undo) in
            [(switch.as_str(), "PAUSED (all)", "job_switch"), (hold, "HELD", "job_setting WHERE setting_name = 'hold'")]
        {
            admin.run(&format!("INSERT {setting}")).await;
            for (name, shown) in
                [("ENABLED", word), ("SLEEPING", word), ("FINISHED", "FINISHED"), ("LOST", "LOST"), ("PAUSED", "PAUSED")]
            {
                assert_eq!(json(&db, &bob, &["status", name]).await[0]["status"], shown, "{name} under {setting}");
            }
            admin.run(&format!("DELETE FROM {undo}")).await;
        }
    });
}

#[test]
fn no_line_is_longer_than_the_terminal_is_wide() {
    each(|db| async move {
        let bob = db.account("bob_long_name_").await;
        db.body(
            "fails_with_a_long_message",
            &format!("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{}'", "long words ".repeat(10)),
        )
        .await;
        let mut admin = db.admin().await;
        let long = "n".repeat(129);
        for job in ["nightly", "roll up the orders of yesterday", &long, "🚀 grüße"] {
            good(
                &db,
                &bob,
                &[
                    "define",
                    job,
                    "--call",
                    &call(&db, "fails_with_a_long_message"),
                    "--every",
                    "1h",
                    "--description",
                    &"d ".repeat(200),
                ],
            )
            .await;
        }
        admin.run("UPDATE job SET job_failures = 12, job_runner_cycles = 1234567").await;
        let runner = db.runner(&bob, "nightly").await;
        status(&db, &bob, "nightly", "SLEEPING").await;
        assert!(!runner.ended());
        for account in [&bob, &db.root()] {
            for (verb, width) in [(&["status"][..], 80), (&["list"], 80), (&["show", "nightly"], 80), (&["status"], 100)] {
                let ran = Tool::new(&db, account, verb).env("COLUMNS", &width.to_string()).run().await;
                assert_eq!(ran.code, 0, "{ran:#?}");
                for line in ran.stdout.lines() {
                    assert!(line.chars().count() <= width, "{verb:?}: {} of {width} in:\n{}", line.chars().count(), ran.stdout);
                }
            }
        }
    });
}

#[test]
fn json_and_csv_have_the_columns_of_the_view_and_its_values() {
    each(|db| async move {
        let (bob, root) = (db.account("bob").await, db.root());
        db.body("hello", "DO 0").await;
        for job in ["x", "y, \"z\""] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "hello"), "--every", "0.1s", "--description", "a, \"b\"\nc"])
                .await;
        }
        let start = Tool::new(&db, &bob, &["start", "--all"]).start();
        start.says("run ok", 3).await;
        start.signal("TERM");
        start.ends().await;
        let columns = columns(&db).await;
        let mut admin = db.admin().await;
        let rows = admin.rows("SELECT * FROM job_overview ORDER BY job_name").await;
        assert_eq!(rows.len(), 2);
        for account in [&bob, &root] {
            for verb in [&["status"][..], &["list"], &["show", "x"]] {
                let found = json(&db, account, verb).await;
                assert_eq!(found.len(), if verb.len() == 1 { 2 } else { 1 });
                for (found, row) in found.iter().zip(&rows) {
                    let found = found.as_object().unwrap();
                    assert_eq!(found.keys().collect::<Vec<_>>(), columns.iter().collect::<Vec<_>>(), "{verb:?}");
                    for ((column, value), cell) in found.iter().zip(row) {
                        let plain = match value {
                            serde_json::Value::Null => "NULL".into(),
                            serde_json::Value::String(text) => text.clone(),
                            other => other.to_string(),
                        };
                        // Times and decimals are written otherwise, and mean the same.
                        let zeros = |text: &str| {
                            if text.contains('.') {
                                text.trim_end_matches('0').trim_end_matches('.').to_owned()
                            } else {
                                text.to_owned()
                            }
                        };
                        let time = cell.len() >= 19 && cell.as_bytes()[4] == b'-' && cell.as_bytes()[10] == b' ';
                        let cell = if time {
                            zeros(cell).replacen(' ', "T", 1) + "Z"
                        } else if value.is_number() {
                            zeros(cell)
                        } else {
                            cell.clone()
                        };
                        assert_eq!(plain, cell, "{verb:?}: {column}");
                    }
                }
            }
            let csv = good(&db, account, &["status", "--output", "csv"]).await;
            assert_eq!(csv.lines().next().unwrap().split(',').collect::<Vec<_>>(), columns);
            assert!(csv.contains("\"y, \"\"z\"\"\"") && csv.contains("\"a, \"\"b\"\"\nc\""), "{csv}");
        }
    });
}

#[test]
fn an_owner_sees_its_own_jobs_and_root_sees_all() {
    each(|db| async move {
        let (bob, eve, viewer) = (db.account("bob").await, db.account("eve").await, db.stranger("viewer").await);
        db.body("hello", "DO 0").await;
        for (account, job) in [(&bob, "x"), (&bob, "y"), (&eve, "x")] {
            good(&db, account, &["define", job, "--call", &call(&db, "hello"), "--every", "1h"]).await;
        }
        db.admin().await.run(&format!("GRANT SELECT ON job_overview TO {viewer}")).await;
        let names = async |account: &_, arguments: &[&str]| {
            let rows = json(&db, account, arguments).await;
            let pair = |row: &serde_json::Value| {
                format!("{} of {}", row["job_name"].as_str().unwrap(), &row["job_owner"].as_str().unwrap()[..3])
            };
            rows.iter().map(pair).collect::<Vec<_>>().join(", ")
        };
        for verb in ["status", "list"] {
            assert_eq!(names(&bob, &[verb]).await, "x of bob, y of bob");
            assert_eq!(names(&eve, &[verb]).await, "x of eve");
            assert_eq!(names(&db.root(), &[verb]).await, "x of bob, x of eve, y of bob");
            assert_eq!(names(&viewer, &[verb]).await, "x of bob, x of eve, y of bob");
        }
        assert_eq!(names(&bob, &["status", "y"]).await, "y of bob");
        assert_eq!(names(&bob, &["status", "y", "x"]).await, "y of bob, x of bob");
        assert_eq!(names(&db.root(), &["status", "x"]).await, "x of bob, x of eve");
        assert_eq!(names(&db.root(), &["show", "x"]).await, "x of bob, x of eve");
        bad(&db, &eve, 3, &["status", "y"]).await;
        bad(&db, &viewer, 4, &["drop", "x"]).await;
        let table = good(&db, &bob, &["status"]).await;
        assert!(table.lines().next().is_some_and(|header| header.starts_with("name") && header.contains("status")), "{table}");
        assert_eq!(table.lines().filter(|line| line.contains("ENABLED")).count(), 2, "{table}");
        // Nobody has a job: that is no error.
        let ran = jobctl(&db, &db.account("ann").await, &["status"]).await;
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "", "no jobs\n"));
    });
}

#[test]
fn a_thousand_jobs_are_shown_in_no_time() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let mut admin = db.admin().await;
        let digits = "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
        admin.run(&format!(
            "INSERT INTO job (job_id, job_owner, job_name, job_kind, job_procedure_schema, job_procedure_name, job_schedule_interval, job_defined) \
             SELECT 100 * a.d + 10 * b.d + c.d + 1, '{}', CONCAT('job number ', 100 * a.d + 10 * b.d + c.d), 'PROCEDURE', 'shop', 'roll_up', 3600, UTC_TIMESTAMP(6) \
             FROM {digits} AS a JOIN {digits} AS b JOIN {digits} AS c", bob.user)).await;
        let limit = Duration::from_millis(if cfg!(debug_assertions) { 1000 } else { 300 });
        for (account, whose) in [(&bob, "owner"), (&db.root(), "root")] {
            let mut best = Duration::MAX;
            // Other tests are at work on the same machine: the best of many is what the command needs.
            for round in 0..20 {
                if round >= 5 && best < limit {
                    break;
                }
                let begun = Instant::now();
                let table = good(&db, account, &["status"]).await;
                best = best.min(begun.elapsed());
                assert!(table.lines().count() > 1000);
            }
            eprintln!("{}, {whose}: 1,000 jobs in {best:?}", db.server().name);
            assert!(best < limit, "{whose}: {best:?}");
        }
        // Whoever wants to see the head only: no panic, no complaint.
        for verb in ["status", "list", "list --output json", "list --output csv"] {
            let line = format!("set -o pipefail; {} --url {} {verb} | head -n 1", env!("CARGO_BIN_EXE_jobctl"), db.url(&bob));
            let ran = tokio::process::Command::new("bash").args(["-c", &line]).kill_on_drop(true).output();
            let ran = tokio::time::timeout(Duration::from_secs(30), ran).await.expect("it ends").unwrap();
            assert_eq!((ran.status.code(), &*String::from_utf8_lossy(&ran.stderr)), (Some(0), ""), "{verb}");
            assert_eq!(ran.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "{verb}");
        }
    });
}

#[test]
fn control_characters_of_the_database_never_reach_a_terminal() {
    each(|db| async move {
        let (bob, root) = (db.account("bob").await, db.root());
        let mut admin = db.admin().await;
        // ESC ] sets a title, ESC [ 2 J clears, U+009B is a one-character ESC [, BEL rings, BS and CR overwrite.
        let evil =
            "CONCAT('a', CHAR(27), '[2J', CHAR(27), ']0;t', CHAR(7), CHAR(8), CHAR(13), CHAR(127), _utf8mb4 X'C29B', '31m')";
        db.body(
            "fails",
            &format!(
                "BEGIN DECLARE m VARCHAR(99) CHARSET utf8mb4 DEFAULT {evil}; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = m; END"
            ),
        )
        .await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "fails"), "--every", "0.1s"]).await;
        let log = Tool::on_terminal(&db, &bob, &["start", "x"]).env("NO_COLOR", "1");
        let runner = Tool::new(&db, &bob, &["start", "x"]).start();
        runner.says("run failed", 1).await;
        runner.signal("TERM");
        runner.ends().await;
        let harmless = |what: &str, text: &str| {
            let bare = text.replace("\r\n", "\n");
            assert!(bare.contains('a'), "{what}: {text:?}");
            let control: BTreeSet<_> = bare.chars().filter(|c| c.is_control() && *c != '\n').collect();
            assert_eq!(control, BTreeSet::new(), "{what}: {text:?}");
        };
        admin.run("UPDATE job SET job_max_failures = 1, job_failures = 0").await;
        let ran = log.run().await;
        harmless("start", &ran.stdout);
        assert!(ran.stdout.contains("run failed"), "{ran:#?}");
        admin.run(&format!("UPDATE job SET job_name = {evil}, job_description = {evil}, job_runner_message = {evil}, job_procedure_name = {evil}")).await;
        admin.run("UPDATE job SET job_owner = CONCAT(job_owner, CHAR(27), '[1m')").await;
        for verb in [&["status"][..], &["list"]] {
            for more in [&[][..], &["--output", "json"], &["--output", "csv"]] {
                let ran = Tool::on_terminal(&db, &root, &[verb, more].concat()).env("NO_COLOR", "1").run().await;
                assert_eq!(ran.code, 0, "{ran:#?}");
                harmless(&format!("{verb:?} {more:?}"), &ran.stdout);
            }
        }
        admin.run("UPDATE job SET job_name = 'x'").await;
        let ran = Tool::on_terminal(&db, &root, &["show", "x"]).env("NO_COLOR", "1").run().await;
        assert!(ran.stdout.contains("[2J"), "what is there is shown, made harmless: {ran:#?}");
        harmless("show", &ran.stdout);
        // Errors too: the name that was asked for, and what the server said.
        let ran = Tool::on_terminal(&db, &root, &["define", "y", "--call", "a\u{1b}[2J.b", "--every", "1h"])
            .env("NO_COLOR", "1")
            .run()
            .await;
        assert_ne!(ran.code, 0);
        harmless("define", &ran.stdout);
        // To a pipe, colours are not sent; on a terminal they are, unless refused.
        let colours = Tool::on_terminal(&db, &root, &["status"]).run().await.stdout;
        assert!(colours.contains("\u{1b}["), "{colours:?}");
        assert!(!good(&db, &root, &["status"]).await.contains('\u{1b}'));
    });
}

#[test]
fn without_jobs_json_is_an_empty_array_and_csv_its_header() {
    each(|db| async move {
        let bob = db.account("bob").await;
        for (account, verb) in [(&bob, "status"), (&bob, "list"), (&db.root(), "status")] {
            assert_eq!(good(&db, account, &[verb, "--output", "json"]).await, "[]\n");
            let csv = good(&db, account, &[verb, "--output", "csv"]).await;
            assert!(csv.starts_with("job_id,job_owner,job_name,") && csv.lines().count() == 1, "{verb}: {csv}");
        }
    });
}
