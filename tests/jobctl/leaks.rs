//! What a body leaves behind in the session harms neither the record nor the runs after it.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::{Entry, complete};
use crate::runner::Runner;

const SOON: Duration = Duration::from_secs(30);
const ENDED: &str = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('SKIPPED', 'RUNNING')";

/// An owner who may set what an ordinary account on some server may not.
async fn bob(db: &Db) -> Account {
    let bob = db.account("bob").await;
    let right = if db.mariadb() { "BINLOG ADMIN" } else { "SESSION_VARIABLES_ADMIN" };
    db.admin().await.run(&format!("GRANT {right} ON *.* TO {bob}")).await;
    bob
}

/// Runs a job whose first run does `leak`, and whose later ones do `later` and insert into `t`; gives the first four runs.
async fn runs(db: &Db, leak: &str, later: &str) -> (Vec<Entry>, Runner) {
    let bob = bob(db).await;
    db.table("n", "(n INT)").await;
    db.table("t", "(id INT)").await;
    let body = format!(
        "BEGIN IF (SELECT COUNT(*) FROM n) = 0 THEN INSERT INTO n VALUES (1); COMMIT; {leak}; \
         ELSE {later}; INSERT INTO t VALUES (1); END IF; END"
    );
    db.body("leak", &body).await;
    db.define(&bob, "x", "leak", "0.3", "").await;
    let runner = db.runner(&bob, "x").await;
    let mut admin = db.admin().await;
    wait_until("four runs", SOON, async || {
        assert!(!runner.ended(), "the runner has ended: {}", admin.one("SELECT job_runner_message FROM job").await);
        admin.number(ENDED).await >= 4
    })
    .await;
    let runs: Vec<_> = complete(&mut admin, 300_000).await.into_iter().filter(Entry::ran).take(4).collect();
    for run in &runs {
        let (started, finished) = (run.started_at.unwrap(), run.finished_at.unwrap());
        assert!(
            started >= run.scheduled_for && finished >= started && finished < started + 20_000_000,
            "times are true: {run:?}"
        );
    }
    for run in &runs[1..] {
        assert_eq!((run.outcome.as_str(), run.message.as_str()), ("OK", "NULL"), "later runs are unharmed: {runs:#?}");
    }
    assert!(admin.number(&format!("SELECT COUNT(*) FROM {}.t", db.bodies())).await >= 3);
    assert_eq!(admin.one("SELECT COUNT(*) FROM job_ticket").await, "1", "only the one that install puts there");
    (runs, runner)
}

fn harmless(leak: &'static str) {
    each(move |db| async move {
        let (runs, _runner) = runs(&db, leak, "DO 0").await;
        assert_eq!((runs[0].outcome.as_str(), runs[0].message.as_str()), ("OK", "NULL"), "{runs:#?}");
    });
}

#[test]
fn an_open_transaction_is_rolled_back_and_the_run_has_failed() {
    each(|db| async move {
        let (runs, _runner) = runs(&db, "START TRANSACTION; INSERT INTO t VALUES (99)", "DO 0").await;
        assert_eq!(runs[0].outcome, "ERROR");
        assert_eq!(runs[0].message, "The job procedure left a transaction open; it was rolled back");
        assert_eq!(db.admin().await.one(&format!("SELECT COUNT(*) FROM {}.t WHERE id = 99", db.bodies())).await, "0");
    });
}

#[test]
fn autocommit_off_with_a_write_is_an_open_transaction() {
    each(|db| async move {
        let (runs, _runner) = runs(&db, "SET autocommit = 0; INSERT INTO t VALUES (99)", "DO 0").await;
        assert_eq!(runs[0].outcome, "ERROR");
        assert_eq!(db.admin().await.one(&format!("SELECT COUNT(*) FROM {}.t WHERE id = 99", db.bodies())).await, "0");
    });
}

#[test]
fn autocommit_off_is_put_back() {
    harmless("SET autocommit = 0");
}

#[test]
fn a_timestamp_of_the_past_is_put_back() {
    harmless("SET timestamp = 1000000000");
}

#[test]
fn a_timestamp_of_the_future_is_put_back() {
    harmless("SET timestamp = 2000000000");
}

#[test]
fn a_clock_frozen_at_this_instant_is_put_back() {
    harmless("SET timestamp = UNIX_TIMESTAMP(SYSDATE(6))");
}

#[test]
fn a_time_zone_is_put_back() {
    harmless("SET time_zone = '+13:00'");
}

#[test]
fn the_ends_of_transactions_are_put_back() {
    // With RELEASE left behind, the next body's COMMIT would end the connection.
    each(|db| async move {
        let (runs, _runner) = runs(&db, "SET completion_type = 'RELEASE'", "COMMIT").await;
        assert_eq!(runs[0].outcome, "OK");
    });
}

#[test]
fn chained_transactions_are_put_back() {
    each(|db| async move {
        let (runs, _runner) = runs(&db, "SET completion_type = 'CHAIN'", "START TRANSACTION; COMMIT").await;
        assert_eq!(runs[0].outcome, "OK");
    });
}

#[test]
fn a_read_only_session_is_put_back() {
    each(|db| async move {
        let variable = if db.mariadb() { "tx_read_only" } else { "transaction_read_only" };
        let (runs, _runner) = runs(&db, &format!("SET SESSION {variable} = 1"), "DO 0").await;
        assert_eq!(runs[0].outcome, "OK");
    });
}

#[test]
fn a_wish_for_the_next_transaction_harms_nothing() {
    harmless("SET TRANSACTION READ ONLY");
}

#[test]
fn small_limits_are_put_back() {
    harmless(
        "SET sql_select_limit = 0, max_join_size = 1, sql_big_selects = 0, group_concat_max_len = 4, sql_safe_updates = 1",
    );
}

#[test]
fn a_failure_is_one_though_the_session_keeps_no_diagnostics() {
    each(|db| async move {
        let (runs, _runner) =
            runs(&db, "SET max_error_count = 0; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'unseen'", "DO 0").await;
        assert_eq!(runs[0].outcome, "ERROR");
        assert_ne!(runs[0].message, "NULL", "a sentence says that there are no diagnostics");
    });
}

#[test]
fn the_statement_of_the_runner_is_out_of_reach_of_its_body() {
    for leak in ["DEALLOCATE PREPARE `job$statement`", "PREPARE `job$statement` FROM 'DO 0'"] {
        each(move |db| async move {
            let (runs, _runner) = runs(&db, leak, "DO 0").await;
            assert_eq!((runs[0].outcome.as_str(), runs[0].code.as_str()), ("ERROR", "1444"), "{runs:#?}");
        });
    }
}

#[test]
fn the_variable_of_the_runner_is_set_anew_for_each_run() {
    harmless("SET @`job$call` = 'CALL no_such_procedure()'");
}

#[test]
fn a_lock_given_away_is_noticed_and_taken_back() {
    each(|db| async move {
        let (runs, runner) = runs(&db, "DO RELEASE_ALL_LOCKS()", "DO 0").await;
        assert_eq!(runs[0].outcome, "OK");
        let mut admin = db.admin().await;
        let event = admin.row("SELECT event_to, event_message FROM job_event WHERE event_kind = 'LOCK_LOST'").await;
        assert_eq!(event[0], runs[0].run_no.to_string());
        assert!(event[1].contains("RELEASE_ALL_LOCKS"), "{event:?}");
        assert_eq!(admin.one("SELECT job_runner_connection_id FROM job_overview").await, runner.id.to_string());
    });
}

#[test]
fn a_body_that_gave_the_lock_away_and_goes_on_is_not_run_beside() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("n", "(n INT)").await;
        db.body("away", "BEGIN DO RELEASE_ALL_LOCKS(); INSERT INTO n VALUES (1); DO SLEEP(5); END").await;
        db.define(&bob, "x", "away", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        let inside = format!("SELECT COUNT(*) FROM {}.n", db.bodies());
        wait_until("the lock is away", SOON, async || admin.number(&inside).await == 1).await;
        let refusal = format!("A run is still in progress on connection {}, though it gave its lock away", runner.id);
        assert_eq!(db.runner(&bob, "x").await.message().await, refusal);
        // Nor while somebody's statement holds what MySQL cannot show in a list of sessions.
        let rocket = Runner::call(db.admin().await, "SELECT '🚀', SLEEP(600)".to_owned());
        let sleeps =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User sleep'", rocket.id);
        wait_until("it sleeps", SOON, async || admin.number(&sleeps).await == 1).await;
        assert_eq!(db.runner(&bob, "x").await.message().await, refusal);
        admin.run(&format!("KILL {}", rocket.id)).await;
        wait_until("it recorded", SOON, async || admin.number(ENDED).await >= 1).await;
        assert_eq!(admin.one("SELECT outcome FROM job_run WHERE attempt > 0 ORDER BY run_no LIMIT 1").await, "OK");
    });
}

#[test]
fn a_session_that_cannot_go_on_ends_and_frees_the_lock() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("n", "(n INT)").await;
        db.body("xa", "BEGIN XA START 'left open'; INSERT INTO n VALUES (1); END").await;
        db.define(&bob, "x", "xa", "0.1", "").await;
        // The client stays, whatever it is told.
        let mut session = db.login(&bob).await;
        let told = tokio::time::timeout(SOON, session.attempt("CALL job$run('x')")).await.expect("the runner ends");
        let mut admin = db.admin().await;
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.n", db.bodies())).await, "0");
        let next = db.runner(&bob, "x").await;
        let closed = "SELECT COUNT(*) FROM job_run WHERE outcome IN ('LOST', 'ERROR')";
        wait_until("the next runner closes the run", SOON, async || {
            assert!(admin.number(closed).await > 0 || !next.ended(), "the lock is not free; the client was told {told:?}");
            admin.number(closed).await > 0
        })
        .await;
    });
}

/// Variables that mean the same on all servers, and another value for each.
const VARIABLES: [(&str, &str); 20] = [
    ("autocommit", "0"),
    ("completion_type", "'CHAIN'"),
    ("max_error_count", "7"),
    ("time_zone", "'+05:00'"),
    ("group_concat_max_len", "77"),
    ("sql_select_limit", "77"),
    ("max_join_size", "7777"),
    ("sql_big_selects", "0"),
    ("sql_safe_updates", "1"),
    ("foreign_key_checks", "0"),
    ("unique_checks", "0"),
    ("innodb_lock_wait_timeout", "7"),
    ("lock_wait_timeout", "77"),
    ("div_precision_increment", "7"),
    ("default_week_format", "3"),
    ("lc_time_names", "'de_DE'"),
    ("character_set_results", "latin1"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("auto_increment_increment", "7"),
    ("sql_auto_is_null", "1"),
];

#[test]
fn each_body_finds_the_session_as_the_first_one_found_it() {
    each(|db| async move {
        let bob = bob(&db).await;
        db.table("saw", "(run INT, variable VARCHAR(64), value VARCHAR(200))").await;
        let isolation = if db.mariadb() { "tx_isolation" } else { "transaction_isolation" };
        let variables = VARIABLES.iter().copied().chain([(isolation, "'READ-COMMITTED'")]);
        let (look, leave): (Vec<_>, Vec<_>) = variables
            .map(|(variable, value)| {
                (format!("(@n, '{variable}', @@session.{variable})"), format!("@@session.{variable} = {value}"))
            })
            .unzip();
        let body = format!(
            "BEGIN SET @n = COALESCE(@n, 0) + 1; INSERT INTO saw VALUES {}; COMMIT; SET {}; COMMIT; END",
            look.join(", "),
            leave.join(", ")
        );
        db.body("look", &body).await;
        db.define(&bob, "x", "look", "0.3", "").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("three runs", SOON, async || admin.number(ENDED).await >= 3).await;
        let changed = format!(
            "SELECT b.run, b.variable, a.value, b.value FROM {0}.saw a JOIN {0}.saw b ON a.variable = b.variable \
             WHERE a.run = 1 AND b.run > 1 AND NOT a.value <=> b.value",
            db.bodies()
        );
        assert_eq!(admin.rows(&changed).await, Vec::<Vec<String>>::new());
    });
}

#[test]
fn the_first_body_finds_what_a_fresh_login_would() {
    each(|db| async move {
        let bob = bob(&db).await;
        db.table("saw", "(variable VARCHAR(64), value VARCHAR(200))").await;
        let look: Vec<_> = VARIABLES.iter().map(|(variable, _)| format!("('{variable}', @@session.{variable})")).collect();
        let look = format!("INSERT INTO saw VALUES {}", look.join(", "));
        db.body("look", &look).await;
        db.define(&bob, "x", "look", "0.3", "").await;
        let mut fresh = db.login(&bob).await;
        let mut expected = Vec::new();
        for (variable, _) in VARIABLES {
            expected.push(vec![variable.to_owned(), fresh.one(&format!("SELECT @@session.{variable}")).await]);
        }
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("a run", SOON, async || admin.number(ENDED).await >= 1).await;
        let saw = admin.rows(&format!("SELECT variable, value FROM {}.saw LIMIT {}", db.bodies(), VARIABLES.len())).await;
        assert_eq!(saw, expected);
    });
}
