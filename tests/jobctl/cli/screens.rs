//! Where the output goes: a reader that leaves, a full disk, a narrow terminal, texts that a terminal would obey.

use std::collections::BTreeSet;

use super::tool::{Tool, call, good, json, status};
use crate::db::{Account, Db, Ran};
use crate::each::each;

/// Runs a line of shell in which `$J` is jobctl with the account's URL.
pub(super) async fn sh(db: &Db, account: &Account, line: &str) -> Ran {
    let script = format!("J() {{ '{}' --url \"$URL\" \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_jobctl"));
    let mut command = tokio::process::Command::new("bash");
    command.args(["-c", &script]).env("URL", db.url(account)).env("TZ", "UTC").env("COLUMNS", "80");
    command.env_remove("MYSQL_PWD").env_remove("JOBCTL_URL").stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(super::tool::SOON, command.output()).await.expect("it ends");
    Ran::from(output.expect("bash can be run"))
}

/// A hundred jobs: more than a pipe holds, as JSON.
async fn many(db: &Db) -> Account {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    let mut session = db.login(&bob).await;
    for job in 0..100 {
        let more = format!(r#", "description": "{}""#, "d".repeat(1000));
        session.define(db, &format!("job {job}"), "hello", "3600", &more).await;
    }
    bob
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    each(|db| async move {
        let bob = many(&db).await;
        for line in ["status", "list", "list --output json", "list --output csv", "show 'job 1'", "--help"] {
            // `true` reads nothing at all; the first status is jobctl's.
            for reader in ["head -1", "true", "head -c 1"] {
                let ran = sh(&db, &bob, &format!("J {line} | {reader}; exit ${{PIPESTATUS[0]}}")).await;
                assert_eq!((ran.code, &*ran.stderr), (0, ""), "{line} | {reader}: {ran:#?}");
            }
            let ran = sh(&db, &bob, &format!("J {line} >&-")).await;
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{line} >&-: {ran:#?}");
        }
    });
}

#[test]
fn a_full_disk_under_the_output_is_a_failure_that_is_told() {
    each(|db| async move {
        let bob = many(&db).await;
        for line in [
            "status",
            "list",
            "list --output json",
            "list --output csv",
            "show 'job 1'",
            "pause 'job 1'",
            "alter 'job 1' --every 5s",
            "--help",
            "--version",
        ] {
            let ran = sh(&db, &bob, &format!("J {line} >/dev/full")).await;
            assert_eq!(ran.code, 1, "{line}: {ran:#?}");
            assert!(ran.stderr.starts_with("error: cannot write to stdout: No space left on device"), "{line}: {ran:#?}");
            assert_eq!(ran.stderr.matches("error: ").count(), 1, "{line}: {ran:#?}");
        }
        // With nowhere to say it, the status says it still.
        assert_eq!(sh(&db, &bob, "J list >/dev/full 2>&1").await.code, 1);
        assert_eq!(sh(&db, &bob, "J show nope 2>/dev/full").await.code, 3);
        assert_eq!(sh(&db, &bob, "J show nope 2>&-").await.code, 3);
    });
}

#[test]
fn a_controller_whose_log_has_no_reader_any_more_goes_on() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        for (job, line) in [
            ("human", "J start human 2>&1 | true; exit ${PIPESTATUS[0]}"),
            ("json", "J start json --log-format json 2>&1 | head -1; exit ${PIPESTATUS[0]}"),
            ("full", "J start full 2>/dev/full"),
            ("closed", "J start closed 2>&-"),
        ] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "hello"), "--every", "0.1s"]).await;
            let mut admin = db.admin().await;
            let finish =
                format!("UPDATE job SET job_schedule_finish = UTC_TIMESTAMP(6) + INTERVAL 2 SECOND WHERE job_name = '{job}'");
            admin.run(&finish).await;
            let ran = sh(&db, &bob, line).await;
            assert_eq!(ran.code, 0, "{line}: {ran:#?}");
            let runs = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK' AND job_name =";
            assert!(admin.number(&format!("{runs} '{job}'")).await >= 3, "{line}: {ran:#?}");
        }
    });
}

#[test]
fn on_a_terminal_of_40_columns_no_line_is_longer() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let text = "long words ".repeat(10);
        db.body("fails", &format!("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{text}'")).await;
        let procedure = call(&db, "fails");
        let long = "n".repeat(129);
        for job in ["x", "roll up the orders of yesterday", &long, "🚀 grüße"] {
            let line = ["define", job, "--call", &procedure, "--every", "1h", "--description", &text];
            good(&db, &bob, &line).await;
        }
        db.admin().await.run("UPDATE job SET job_failures = 12, job_runner_cycles = 1234567").await;
        let _runner = db.runner(&bob, "x").await;
        status(&db, &bob, "x", "SLEEPING").await;
        let define = ["define", "y", "--call", "`p`.`q`", "--every", "1h"];
        assert_eq!(Tool::new(&db, &bob, &define).run().await.code, 2);
        let define =
            ["define", "x", "--replace", "--call", &procedure, "--every", "1h", "--start", "2031-01-01", "--tz", "Asia/Tokyo"];
        for width in [40, 48, 60] {
            for account in [&bob, &db.root()] {
                for line in [&["status"][..], &["status", "x"], &["list"], &["show", "x"], &["show", &long]] {
                    narrow(&db, account, width, line).await;
                }
            }
            narrow(&db, &bob, width, &define).await;
            narrow(&db, &bob, width, &["alter", "x", "--every", "2h", "--tz", "Asia/Tokyo"]).await;
            narrow(&db, &bob, width, &["pause", "x"]).await;
            narrow(&db, &bob, width, &["resume", "x"]).await;
        }
        // Narrower than anything that can be shown: no panic, at least.
        for width in ["1", "2", "5", "0", "-1", "many", "65535", "99999999999"] {
            for line in [&["status"][..], &["list"], &["show", "x"]] {
                let ran = Tool::on_terminal(&db, &bob, line).env("COLUMNS", width).run().await;
                assert!(ran.code == 0 && !ran.stdout.contains("panicked"), "{width}: {ran:#?}");
            }
        }
    });
}

/// Runs it on a terminal of so many columns; what cannot be broken (one long word) may stand out in a sentence alone.
async fn narrow(db: &Db, account: &Account, width: usize, line: &[&str]) {
    let tool = Tool::on_terminal(db, account, line).env("COLUMNS", &width.to_string()).env("NO_COLOR", "1");
    let ran = tool.run().await;
    assert_eq!(ran.code, 0, "{ran:#?}");
    for shown in ran.stdout.lines() {
        let long = shown.chars().count() > width && shown.trim().contains(' ');
        assert!(!long, "{line:?}: {} of {width} in:\n{}", shown.chars().count(), ran.stdout);
    }
}

#[test]
fn texts_of_people_and_of_bodies_are_made_harmless_on_a_terminal() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let evil = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{8}\r\u{7f}\u{9b}31m\nsecond line\tend";
        let text = "CONCAT('a', CHAR(27), '[2J', CHAR(7), CHAR(13), CHAR(10), 'second line')";
        let body = format!("BEGIN DECLARE m VARCHAR(99) DEFAULT {text}; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = m; END");
        db.body("fails", &body).await;
        let define = ["define", "x", "--call", &call(&db, "fails"), "--every", "0.1s", "--max-failures", "1"];
        good(&db, &bob, &[&define[..], &["--description", evil]].concat()).await;
        // A program gets what is there.
        assert_eq!(json(&db, &bob, &["show", "x"]).await[0]["job_description"], evil);
        let ran = Tool::on_terminal(&db, &bob, &["start", "x"]).run().await;
        assert_eq!(ran.code, 1, "{ran:#?}");
        for more in [
            &["status"][..],
            &["list"],
            &["show", "x"],
            &["show", "x", "--output", "csv"],
            &["show", "x", "--output", "json"],
            &["enable", "x", "--reason", evil],
            &["pause", "x", "--reason", evil],
            &["alter", "x", "--description", evil],
            &["alter", "x", "--tz", evil],
            &["alter", "x", "--start", evil],
            &["alter", "x", "--call", "a.`\u{1b}[2J`"],
            &["pause", evil],
            &[evil],
        ] {
            let ran = Tool::on_terminal(&db, &bob, more).env("NO_COLOR", "1").run().await;
            let shown = ran.stdout.replace("\r\n", "\n");
            let control: BTreeSet<_> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
            assert_eq!(control, BTreeSet::new(), "{more:?}: {ran:#?}");
        }
        // To a pipe too, a cell and a sentence are one line each.
        let shown = good(&db, &bob, &["show", "x"]).await;
        assert!(shown.lines().all(|line| !line.starts_with("second line")), "{shown}");
    });
}
