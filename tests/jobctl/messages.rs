//! The nine ways in which the founding `job$run` ends, each with its message.

use std::time::Duration;

use crate::each::{each, wait_until};

const SOON: Duration = Duration::from_secs(25);

#[test]
fn a_second_runner_is_told_which_connection_runs_the_job() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it sleeps", SOON, async || admin.one("SELECT status FROM job_overview").await == "SLEEPING").await;
        let host = admin.one("SELECT job_runner_host FROM job").await;
        let message = db.runner(&bob, "x").await.message().await;
        assert_eq!(message, format!("Already run by connection {} from {host}", runner.id));
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'RUNNER_START'").await, "1");
    });
}

#[test]
fn a_runner_is_told_who_holds_the_lock_without_being_a_runner() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut holder = db.login(&bob).await;
        holder.run("CALL job$get_lock('x', @status, @by)").await;
        assert_eq!(holder.row("SELECT @status, @by").await, ["1", &holder.id().to_string()]);
        let message = db.runner(&bob, "x").await.message().await;
        assert_eq!(message, format!("Already run by connection {}", holder.id()));
        let own = holder.attempt("CALL job$run('x')").await.unwrap();
        assert!(own[0][0][1].starts_with("This very session holds the lock of the job"), "{own:?}");
        holder.run("CALL job$release_lock('x', @status, @by)").await;
        assert_eq!(holder.row("SELECT @status, @by").await, ["1", "NULL"]);
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it sleeps", SOON, async || admin.one("SELECT status FROM job_overview").await == "SLEEPING").await;
        assert!(!runner.ended());
    });
}

#[test]
fn a_job_that_is_neither_enabled_nor_paused_gets_no_runner() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        for word in ["DISABLED", "ABORTED", "FINISHED", "ERROR"] {
            db.admin().await.run(&format!("UPDATE job SET job_status = '{word}'")).await;
            let message = db.runner(&bob, "x").await.message().await;
            assert_eq!(message, format!("The job is {word}, and only an ENABLED or PAUSED one gets a runner"));
        }
        assert_eq!(db.admin().await.one("SELECT COUNT(*) FROM job_event WHERE event_kind <> 'DEFINED'").await, "0");
    });
}

#[test]
fn a_schedule_that_is_over_gets_no_runner() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        db.admin().await.run("UPDATE job SET job_schedule_finish = '2020-02-29 12:00:00'").await;
        let message = db.runner(&bob, "x").await.message().await;
        assert_eq!(message, "The schedule was over at 2020-02-29 12:00:00.000000 UTC");
    });
}

#[test]
fn a_runner_that_is_interrupted_while_it_waits_ends_and_says_so() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        let sleeps =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User sleep'", runner.id);
        wait_until("it sleeps", SOON, async || admin.number(&sleeps).await > 0).await;
        admin.run(&format!("KILL QUERY {}", runner.id)).await;
        assert_eq!(runner.message().await, "Interrupted while it was waiting");
        let row = admin.row("SELECT status, job_runner_message, job_runner_connection_id FROM job_overview").await;
        assert_eq!(row, ["ENABLED", "Interrupted while it was waiting", "NULL"]);
        let again = db.runner(&bob, "x").await;
        wait_until("the next one sleeps", SOON, async || admin.one("SELECT status FROM job_overview").await == "SLEEPING")
            .await;
        assert!(!again.ended());
    });
}

#[test]
fn a_job_that_does_not_exist_or_is_somebody_elses_is_none_also_for_root() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        for (account, job) in [(&bob, "y"), (&bob, "X"), (&bob, ""), (&eve, "x"), (&db.root(), "x")] {
            assert_eq!(db.runner(account, job).await.message().await, "You own no job of that name", "{account} {job}");
        }
        let sets = db.login(&bob).await.attempt("CALL job$run(NULL)").await.unwrap();
        assert_eq!(sets, [[["NULL", "You own no job of that name"]]]);
    });
}

#[test]
fn with_one_failure_allowed_the_message_is_that_of_the_procedure() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("fail", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the cat is out'").await;
        db.define(&bob, "x", "fail", "0.1", r#", "max_failures": 1"#).await;
        let message = db.runner(&bob, "x").await.message().await;
        assert_eq!(message, "The job procedure failed 1 time in a row: the cat is out");
        assert_eq!(db.admin().await.one("SELECT status FROM job_overview").await, "ERROR");
    });
}

#[test]
fn an_abort_during_a_run_lets_it_finish_and_says_so() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("seen", "(n INT)").await;
        db.body("slow", "BEGIN DO SLEEP(1); INSERT INTO seen VALUES (1); END").await;
        db.define(&bob, "x", "slow", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it runs", SOON, async || admin.one("SELECT status FROM job_overview").await == "RUNNING").await;
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        assert_eq!(runner.message().await, "Aborted at request");
        assert_eq!(admin.rows("SELECT outcome FROM job_run WHERE attempt > 0").await, [["OK"]]);
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.seen", db.bodies())).await, "1");
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "ABORTED");
    });
}
