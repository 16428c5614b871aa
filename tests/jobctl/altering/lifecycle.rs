//! A job altered at each point of its life: a live runner obeys, the status stays, and a window that is over opens again.

use std::time::Duration;

use crate::cli::tool::{bad, call, good, jobctl, json, status};
use crate::each::{each, wait_until};
use crate::session::name;

const SOON: Duration = Duration::from_secs(40);

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
        assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("jobctl enable x"), "{ran:?}");
        assert_eq!(admin.row("SELECT job_status, job_schedule_finish FROM job").await, ["FINISHED", "NULL"]);
        good(&db, &bob, &["enable", "x"]).await;
        let runner = db.runner(&bob, "x").await;
        let ran = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK' AND run_epoch = 2";
        wait_until("it runs again", SOON, async || admin.number(ran).await > 0).await;
        good(&db, &bob, &["disable", "x"]).await;
        runner.message().await;
    });
}
