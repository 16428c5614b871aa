//! Whatever the caller's session is set to, the routines of jobctl do the same.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, join, wait_until};
use crate::session::literal;

/// Defines, runs to its end, shows, locks and drops a job in a session with these settings; gives what went wrong.
async fn whole_life(db: Db, account: Account, job: String, settings: Vec<String>) -> Result<(), String> {
    let mut session = db.login(&account).await;
    let told = |error: mysql_async::Error| format!("{settings:?}: {error}");
    for setting in &settings {
        session.attempt(setting).await.map_err(told)?;
    }
    let options = serde_json::json!({"schema": db.bodies(), "procedure": "hello", "every": 0.5}).to_string();
    let job = literal(&job);
    let mut admin = db.admin().await;
    session.attempt(&format!("CALL job$define({job}, {})", literal(&options))).await.map_err(told)?;
    // After a run the schedule is over.
    let call = format!("CALL job$run({job})");
    let ran = format!("SELECT COUNT(*) FROM job_run WHERE job_name = {job} AND outcome = 'OK'");
    let end = async {
        wait_until("a run", Duration::from_secs(60), async || admin.number(&ran).await > 0).await;
        admin.run(&format!("UPDATE job SET job_schedule_finish = UTC_TIMESTAMP(6) WHERE job_name = {job}")).await;
    };
    let sets = tokio::select! {
        sets = session.attempt(&call) => sets,
        sets = async { end.await; std::future::pending().await } => sets,
    };
    let sets = sets.map_err(told)?;
    let message = &sets.last().unwrap()[0][1];
    if message != "Ok: the schedule is over" {
        return Err(format!("{settings:?}: {message}"));
    }
    let shown = session.attempt(&format!("CALL job$overview({job})")).await.map_err(told)?;
    let row = &shown[0][0];
    if !row.contains(&"FINISHED".to_owned()) || !row.contains(&"OK".to_owned()) {
        return Err(format!("{settings:?}: {row:?}"));
    }
    session.attempt(&format!("CALL job$get_lock({job}, @status, @by)")).await.map_err(told)?;
    session.attempt(&format!("CALL job$release_lock({job}, @status, @by)")).await.map_err(told)?;
    let (code, _) = session.error(&format!("CALL job$stop({job}, '{{\"reason\": \"NONE\"}}')")).await;
    if code != 45002 {
        return Err(format!("{settings:?}: job$stop gives {code}"));
    }
    session.attempt(&format!("CALL job$drop({job}, '{{\"purge_history\": true}}')")).await.map_err(told)?;
    Ok(())
}

/// Runs one whole life of a job for each list of settings.
async fn all_work(db: &Db, settings: Vec<Vec<String>>) {
    let bob = db.account("bob").await;
    let rights = if db.mariadb() { "BINLOG ADMIN" } else { "SESSION_VARIABLES_ADMIN" };
    db.admin().await.run(&format!("GRANT {rights} ON *.* TO {bob}")).await;
    db.body("hello", "DO 0").await;
    let mut wrong = Vec::new();
    for (i, lot) in settings.chunks(12).enumerate() {
        let lives = lot
            .iter()
            .enumerate()
            .map(|(j, settings)| whole_life(db.clone(), bob.clone(), format!("job {i} {j}"), settings.clone()));
        wrong.extend(join(lives.collect()).await.into_iter().filter_map(Result::err));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut admin = db.admin().await;
    for (table, rows) in [("job", "0"), ("job_run", "0"), ("job_event", "0"), ("job_ticket", "1")] {
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {table}")).await, rows, "{table}");
    }
}

#[test]
fn under_every_isolation_level_and_binlog_format() {
    each(|db| async move {
        let formats = db.login(&db.root()).await.attempt("SET SESSION binlog_format = 'ROW'").await;
        let formats: &[_] = if formats.is_ok() { &["STATEMENT", "MIXED", "ROW"] } else { &["ROW"] };
        let levels = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
        let mut settings = Vec::new();
        for format in formats {
            for level in levels {
                let mut these = vec![format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")];
                if formats.len() > 1 {
                    these.push(format!("SET SESSION binlog_format = '{format}'"));
                }
                settings.push(these);
            }
        }
        all_work(&db, settings).await;
    });
}

#[test]
fn under_every_sql_mode() {
    each(|db| async move {
        let modes: &[_] = if db.mariadb() {
            &["ORACLE", "MSSQL", "EMPTY_STRING_IS_NULL", "SIMULTANEOUS_ASSIGNMENT"]
        } else {
            &["TRADITIONAL"]
        };
        let common = [
            "",
            "ANSI_QUOTES",
            "NO_BACKSLASH_ESCAPES",
            "PIPES_AS_CONCAT",
            "IGNORE_SPACE",
            "ANSI,NO_BACKSLASH_ESCAPES",
            "PAD_CHAR_TO_FULL_LENGTH",
        ];
        let settings = common.iter().chain(modes).map(|mode| vec![format!("SET SESSION sql_mode = '{mode}'")]).collect();
        all_work(&db, settings).await;
    });
}

#[test]
fn under_odd_settings_of_the_session() {
    each(|db| async move {
        let mut settings: Vec<Vec<String>> = [
            "SET autocommit = 0",
            "SET completion_type = 'CHAIN'",
            "SET time_zone = '+13:00'",
            "SET NAMES latin1",
            "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
            "SET sql_safe_updates = 1",
            "SET sql_select_limit = 1",
            "SET foreign_key_checks = 0, unique_checks = 0",
            "SET group_concat_max_len = 4",
            "SET TRANSACTION READ ONLY",
            "SET lc_time_names = 'de_DE'",
            "SET div_precision_increment = 0",
        ]
        .map(|setting| vec![setting.to_owned()])
        .to_vec();
        let read_only = if db.mariadb() { "tx_read_only" } else { "transaction_read_only" };
        settings.push(vec![format!("SET SESSION {read_only} = 1")]);
        all_work(&db, settings).await;
    });
}

#[test]
fn in_the_middle_of_a_transaction_which_is_ended() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("t", "(id INT)").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", r#", "finish": "2099-01-01 00:00:00""#).await;
        let mut session = db.login(&bob).await;
        let calls = [
            "job$run('y')",
            "job$overview(NULL)",
            "job$get_lock('x', @a, @b)",
            "job$release_lock('x', @a, @b)",
            "job$stop('x', NULL)",
        ];
        for call in calls {
            session.run("START TRANSACTION").await;
            session.run(&format!("INSERT INTO {}.t VALUES (1)", db.bodies())).await;
            session.run(&format!("CALL {call}")).await;
            let open = session.attempt("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await;
            assert!(open.is_ok(), "a transaction is open after {call}");
        }
    });
}
