//! A failing run is recorded with what the server said, and does not stop its job unless it was told to.

use std::time::Duration;

use crate::each::{each, wait_until};
use crate::ledger::{complete, entries};

const SOON: Duration = Duration::from_secs(30);
const ENDED: &str = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('SKIPPED', 'RUNNING')";

#[test]
fn a_failure_is_recorded_with_code_sqlstate_and_message_and_the_job_goes_on() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("t", "(id INT PRIMARY KEY)").await;
        db.table("n", "(n INT)").await;
        let body = "BEGIN INSERT INTO n VALUES (1); CASE (SELECT COUNT(*) FROM n) \
                    WHEN 1 THEN SIGNAL SQLSTATE '45678' SET MYSQL_ERRNO = 31234, MESSAGE_TEXT = 'it''s über \"all\"'; \
                    WHEN 2 THEN INSERT INTO t VALUES (1), (1); \
                    WHEN 3 THEN SELECT * FROM no_such_table; \
                    WHEN 4 THEN CALL no_such_procedure(); \
                    ELSE DO 0; END CASE; END";
        db.body("fail", body).await;
        db.define(&bob, "x", "fail", "0.3", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("five runs", SOON, async || admin.number(ENDED).await >= 5).await;
        let runs: Vec<_> = complete(&mut admin, 300_000).await.into_iter().filter(|entry| entry.ran()).collect();
        let known: Vec<_> =
            runs.iter().take(5).map(|run| (run.outcome.as_str(), run.code.as_str(), run.sqlstate.as_str())).collect();
        assert_eq!(
            known,
            [
                ("ERROR", "31234", "45678"),
                ("ERROR", "1062", "23000"),
                ("ERROR", "1146", "42S02"),
                ("ERROR", "1305", "42000"),
                ("OK", "NULL", "NULL")
            ]
        );
        assert_eq!(runs[0].message, "it's über \"all\"");
        assert!(runs[1].message.contains("Duplicate entry '1'"), "{}", runs[1].message);
        assert!(runs[2].message.contains("no_such_table"), "{}", runs[2].message);
        assert_eq!(runs[4].message, "NULL");
        assert_eq!(admin.row("SELECT job_status, job_failures FROM job").await, ["ENABLED", "0"]);
        assert!(!runner.ended());
    });
}

#[test]
fn a_procedure_that_is_gone_or_forbidden_is_a_failed_run() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.3", "").await;
        let mut admin = db.admin().await;
        admin.run(&format!("DROP PROCEDURE {}.hello", db.bodies())).await;
        let runner = db.runner(&bob, "x").await;
        wait_until("a failed run", SOON, async || admin.number(ENDED).await >= 1).await;
        let first = entries(&mut admin).await.into_iter().find(|entry| entry.ran()).unwrap();
        assert_eq!((first.outcome.as_str(), first.code.as_str()), ("ERROR", "1305"), "{first:?}");
        // It comes back, and so do the runs.
        db.body("hello", "DO 0").await;
        let ok = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        wait_until("a run", SOON, async || admin.number(ok).await >= 1).await;
        complete(&mut admin, 300_000).await;
        assert!(!runner.ended());
    });
}

#[test]
fn max_failures_in_a_row_make_an_error_and_a_success_begins_anew() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("n", "(n INT)").await;
        // Fails, fails, works, fails, fails, fails.
        db.body(
            "fail",
            "BEGIN INSERT INTO n VALUES (1); IF (SELECT COUNT(*) FROM n) <> 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; END",
        )
        .await;
        db.define(&bob, "x", "fail", "0.1", r#", "max_failures": 3"#).await;
        let message = db.runner(&bob, "x").await.message().await;
        assert_eq!(message, "The job procedure failed 3 times in a row: no");
        let mut admin = db.admin().await;
        let outcomes: Vec<_> =
            entries(&mut admin).await.into_iter().filter(|entry| entry.ran()).map(|entry| entry.outcome).collect();
        assert_eq!(outcomes, ["ERROR", "ERROR", "OK", "ERROR", "ERROR", "ERROR"]);
        assert_eq!(admin.row("SELECT job_status, job_failures FROM job").await, ["ERROR", "3"]);
        let event = admin.row("SELECT event_from, event_to, event_message FROM job_event WHERE event_kind = 'STATUS'").await;
        assert_eq!(event, ["ENABLED", "ERROR", "3 failed occurrences in a row"]);
    });
}

#[test]
fn a_pause_asked_for_during_the_last_failure_is_not_lost() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN DO SLEEP(1); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END").await;
        db.define(&bob, "x", "slow", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it runs", SOON, async || admin.one("SELECT status FROM job_overview").await == "RUNNING").await;
        admin.run("UPDATE job SET job_status = 'PAUSED'").await;
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "PAUSING");
        wait_until("it is paused", SOON, async || admin.one("SELECT job_runner_status FROM job").await == "PAUSED").await;
        assert_eq!(admin.row("SELECT job_status, job_failures FROM job").await, ["PAUSED", "1"]);
        assert!(!runner.ended());
    });
}

#[test]
fn a_failed_body_is_rolled_back() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("t", "(id INT)").await;
        db.body("half", "BEGIN START TRANSACTION; INSERT INTO t VALUES (1); SIGNAL SQLSTATE '45000'; END").await;
        db.define(&bob, "x", "half", "0.1", "").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("two runs", SOON, async || admin.number(ENDED).await >= 2).await;
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.t", db.bodies())).await, "0");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'ERROR' AND error_code <> 1644").await, "0");
    });
}
