//! Only a runner can speak as a runner: whatever else matches (session, login, lock, epoch), without its run token nothing happens.

use std::time::Duration;

use crate::attack::{api, holdings, of, owned, ticketed};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::name;

/// What somebody might take for a run token: nothing, epochs, and digests of what can be known.
const GUESSES: [&str; 19] = [
    "NULL",
    "''",
    "' '",
    "'0'",
    "'1'",
    "'2'",
    "'3'",
    "1",
    "TRUE",
    "SHA2('', 256)",
    "SHA2(' ', 256)",
    "SHA2(NULL, 256)",
    "SHA2('0', 256)",
    "SHA2('1', 256)",
    "SHA2('2', 256)",
    "SHA2(CONNECTION_ID(), 256)",
    "SHA2(SHA2('1', 256), 256)",
    "REPEAT('0', 64)",
    "CURRENT_USER()",
];

/// Every call that a runner makes, for job `id`, with `token`.
fn runner_calls(db: &Db, id: &str, token: &str) -> Vec<String> {
    vec![
        format!("CALL {}({id}, {token}, NULL, @action, @wait, @run_no, @call, @message)", of(db, "job$_step")),
        format!("CALL {}({id}, {token}, NULL, NULL)", of(db, "job$_turn")),
        format!("CALL {}({id}, {token}, NULL, 'forged')", of(db, "job$_turn")),
        format!("CALL {}({id}, {token}, NULL, @run_token, @message)", of(db, "job$_unpark")),
        format!("CALL {}({id}, {token}, @message)", of(db, "job$_receive")),
        format!("CALL {}({id})", of(db, "job$_hand_over")),
        format!(
            "CALL {}({id}, {token}, 1, 1, 1234, '45000', 'forged', NULL, NULL, @seconds, @next, @message)",
            of(db, "job$_record")
        ),
        format!("CALL {}({id}, {token}, 0, 0, NULL, NULL, NULL, NULL, NULL, @seconds, @next, @message)", of(db, "job$_record")),
        format!("CALL {}({id}, {token}, 'forged')", of(db, "job$_release")),
    ]
}

/// Eve's procedure, which tries everything in the session of whoever calls it, as often as `tried` then says.
async fn meddle(db: &Db, eve: &Account) -> i64 {
    let mut calls = api(db);
    for token in ["NULL", "''", "SHA2('', 256)", "@token"] {
        calls.extend(ticketed(db, token).into_iter().map(|(_, call)| call));
    }
    for id in ["1", "2", "0", "NULL"] {
        for guess in GUESSES {
            calls.extend(runner_calls(db, id, guess));
        }
    }
    db.table("tried", "(calls INT)").await;
    let tried: String = calls
        .iter()
        .map(|call| {
            format!(
                "BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
                 SET @message = NULL, @action = NULL, @run_token = NULL; {call}; END; SET v_calls = v_calls + 1;\n"
            )
        })
        .collect();
    let (token, note) = (of(db, "job$token"), format!("INSERT INTO {}.tried VALUES (v_calls)", name(db.bodies())));
    let body = format!("DECLARE v_calls INT DEFAULT 0; CALL {token}(@token); {tried} {note}; COMMIT;");
    owned(db, eve, &format!("PROCEDURE meddle() SQL SECURITY DEFINER BEGIN {body} END")).await;
    i64::try_from(calls.len()).expect("a few")
}

#[test]
fn a_body_that_calls_foreign_code_is_recorded_as_it_was() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        let calls = meddle(&db, &eve).await;
        db.body("work", "CALL meddle()").await;
        db.define(&bob, "x", "work", "0.1", "").await;
        let mut admin = db.admin().await;
        assert_eq!(admin.one("SELECT job_id FROM job").await, "1", "the job that Eve's procedure aims at");
        // One occurrence: then the grid is far away.
        let runner = db.runner(&bob, "x").await;
        let begun = "SELECT COUNT(*) FROM job_run WHERE outcome <> 'SKIPPED'";
        wait_until("the run has begun", Duration::from_secs(60), async || admin.number(begun).await > 0).await;
        admin.run("UPDATE job SET job_schedule_interval = 3600").await;
        wait_until("a run is recorded", Duration::from_secs(120), async || {
            admin.number("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('RUNNING', 'SKIPPED')").await > 0
        })
        .await;
        let tried = admin.number(&format!("SELECT MIN(calls) FROM {}.tried", name(db.bodies()))).await;
        assert_eq!(tried, calls, "Eve's procedure has tried everything");
        let runs =
            "SELECT outcome, error_code, error_message FROM job_run WHERE job_id = 1 AND outcome NOT IN ('SKIPPED', 'RUNNING')";
        let runs = admin.rows(runs).await;
        assert!(runs.iter().all(|run| run[..] == ["OK", "NULL", "NULL"]), "{runs:?}");
        assert!(!runner.ended());
        let row = "SELECT job_runner_connection_id, job_runner_epoch, job_stop_epoch, job_status, job_runner_finish, job_failures FROM job WHERE job_id = 1";
        assert_eq!(admin.row(row).await[..4], [runner.id.to_string(), "1".into(), "0".into(), "ENABLED".into()]);
        assert_eq!(
            admin.one("SELECT job_runner_connection_id FROM job_overview WHERE job_id = 1").await,
            runner.id.to_string()
        );
        let events =
            admin.rows("SELECT event_kind FROM job_event WHERE job_id = 1 AND event_kind <> 'CHANGED' ORDER BY event_no").await;
        assert_eq!(events, [["DEFINED"], ["RUNNER_START"]]);
        assert_eq!(admin.number(&format!("SELECT COUNT(*) FROM job WHERE job_owner = '{}'", bob.user)).await, 1);
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        assert_eq!(runner.message().await, "Aborted at request");
    });
}

#[test]
fn a_body_whose_foreign_code_frees_all_locks_gets_its_lock_back() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        owned(&db, &eve, "PROCEDURE free() SQL SECURITY DEFINER DO RELEASE_ALL_LOCKS()").await;
        db.body("work", "CALL free()").await;
        db.define(&bob, "x", "work", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("runs", Duration::from_secs(20), async || {
            admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await >= 2
        })
        .await;
        admin.run("UPDATE job SET job_schedule_interval = 3600").await;
        wait_until("rest", Duration::from_secs(20), async || admin.one("SELECT status FROM job_overview").await == "SLEEPING")
            .await;
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job_overview").await, runner.id.to_string());
        assert!(admin.number("SELECT COUNT(*) FROM job_event WHERE event_kind = 'LOCK_LOST'").await >= 2);
    });
}

#[test]
fn a_stranger_to_the_run_changes_nothing_while_a_runner_lives() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("the runner waits", Duration::from_secs(20), async || {
            admin.one("SELECT status FROM job_overview").await == "SLEEPING"
        })
        .await;
        unchanged(&db, &bob, &[&eve, &bob]).await;
        assert!(!runner.ended());
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job_overview").await, runner.id.to_string());
    });
}

#[test]
fn a_stranger_to_the_run_changes_nothing_where_no_runner_lives() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        unchanged(&db, &bob, &[&eve, &bob]).await;
        // Nor after one has lived.
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("the runner waits", Duration::from_secs(20), async || {
            admin.one("SELECT status FROM job_overview").await == "SLEEPING"
        })
        .await;
        db.login(&bob).await.run("CALL job$stop('x', NULL)").await;
        runner.message().await;
        unchanged(&db, &bob, &[&eve, &bob]).await;
    });
}

async fn unchanged(db: &Db, bob: &Account, strangers: &[&Account]) {
    let before = holdings(db, bob).await;
    for stranger in strangers {
        let mut session = db.login(stranger).await;
        for guess in GUESSES {
            for call in runner_calls(db, "1", guess) {
                session.run("SET @action = NULL, @message = NULL, @call = NULL, @run_no = NULL").await;
                session.run(&call).await;
                if call.contains("_step") {
                    let answer = session.row("SELECT @action, @call, @run_no, @message").await;
                    assert_eq!(answer, ["END", "NULL", "NULL", "Another runner took the job over"], "{call}");
                } else if call.contains("_record") || call.contains("_receive") {
                    assert_eq!(session.one("SELECT @message").await, "Another runner took the job over", "{call}");
                }
            }
        }
    }
    assert_eq!(holdings(db, bob).await, before);
}

#[test]
fn a_run_token_ends_with_its_runner() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        // Bob may play the runner by hand: it is his own job.
        let mut session = db.login(&bob).await;
        let acquire = "CALL job$_acquire(@token, 'x', NULL, NULL, FALSE, @id, @run_token, @message)";
        session.run("CALL job$ticket(@token)").await;
        session.run(acquire).await;
        assert_eq!(session.row("SELECT @id, CHAR_LENGTH(@run_token), @message").await, ["1", "64", "NULL"]);
        session.run("CALL job$_step(@id, @run_token, NULL, @action, @wait, @run_no, @call, @message)").await;
        assert_eq!(session.one("SELECT @action").await, "WAIT");
        session.run("CALL job$_release(@id, @run_token, 'done')").await;
        let before = holdings(&db, &bob).await;
        for call in runner_calls(&db, "@id", "@run_token") {
            session.run(&call).await;
        }
        assert_eq!(holdings(&db, &bob).await, before);
        // Nor does it speak for the next one.
        session.run("SET @old = @run_token").await;
        session.run("CALL job$ticket(@token)").await;
        session.run(acquire).await;
        let before = holdings(&db, &bob).await;
        for call in runner_calls(&db, "@id", "@old") {
            session.run(&call).await;
        }
        assert_eq!(holdings(&db, &bob).await, before);
        // The lock is still there.
        let mut admin = db.admin().await;
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job_overview").await, session.id().to_string());
    });
}
