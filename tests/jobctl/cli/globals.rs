//! Whatever a server is set to, jobctl is installed on it, and jobs are defined, run, paused, resumed and aborted.

use std::time::Duration;

use super::starting::nothing_left;
use super::tool::{Tool, call, good, status};
use crate::db::Db;
use crate::each::{each_private, wait_until};
use crate::servers::Private;
use crate::session::{Session, name};

const SOON: Duration = Duration::from_secs(30);

/// A body, written in the language that all servers know by default.
async fn body(db: &Db, body: &str) {
    let mut admin = db.admin().await;
    admin.run("SET SESSION sql_mode = ''").await;
    admin.run(&format!("CREATE TABLE {}.t (id INT)", name(db.bodies()))).await;
    admin.run(&format!("CREATE PROCEDURE {}.hello() SQL SECURITY INVOKER {body}", name(db.bodies()))).await;
}

async fn ran(admin: &mut Session, job: &str, runs: i64) {
    let sql = format!("SELECT COUNT(*) FROM job_run WHERE job_name = '{job}' AND outcome = 'OK'");
    let runs = admin.number(&sql).await + runs;
    wait_until(&format!("{job} runs"), SOON, async || admin.number(&sql).await >= runs).await;
}

/// All of it, with the server as it is now.
async fn works(private: &Private, label: &str) {
    eprintln!("{} {label}", private.server.name);
    let db = Db::installed(&private.server, "globals").await;
    let bob = db.account("bob").await;
    body(&db, "BEGIN INSERT INTO t VALUES (1); COMMIT; END").await;
    let mut admin = db.admin().await;
    // A plain client, all by SQL.
    let mut owner = db.login(&bob).await;
    db.define(&bob, "plain", "hello", "0.3", "").await;
    let runner = db.runner(&bob, "plain").await;
    ran(&mut admin, "plain", 3).await;
    owner.run("CALL job$pause('plain', NULL)").await;
    status(&db, &bob, "plain", "PAUSED").await;
    owner.run("CALL job$resume('plain', NULL)").await;
    ran(&mut admin, "plain", 2).await;
    owner.run("CALL job$abort('plain', NULL)").await;
    assert_eq!(runner.message().await, "Aborted at request", "{label}");
    drop(owner);
    nothing_left(&db, &bob, &mut admin).await;
    // The tool.
    good(&db, &bob, &["define", "tool", "--call", &call(&db, "hello"), "--every", "0.3s"]).await;
    let start = Tool::new(&db, &bob, &["start", "tool"]).start();
    start.says("run ok in", 3).await;
    good(&db, &bob, &["pause", "tool"]).await;
    status(&db, &bob, "tool", "PAUSED").await;
    good(&db, &bob, &["resume", "tool"]).await;
    ran(&mut admin, "tool", 2).await;
    good(&db, &bob, &["abort", "tool"]).await;
    let (_, log) = start.ends().await;
    assert!(log.iter().any(|line| line.contains("schedule ended: ABORTED")), "{label}: {log:#?}");
    assert_eq!(log.iter().filter(|line| line.contains("session renewed")).count(), 0, "{label}: {log:#?}");
    nothing_left(&db, &bob, &mut admin).await;
    let odd = "SELECT outcome, error_code, error_message, run_leaked, run_warnings FROM job_run \
               WHERE outcome NOT IN ('OK', 'SKIPPED') OR run_leaked IS NOT NULL OR run_warnings IS NOT NULL";
    assert_eq!(admin.rows(odd).await, Vec::<Vec<String>>::new(), "{label}");
    let done = admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await;
    assert_eq!(admin.number(&format!("SELECT COUNT(*) FROM {}.t", name(db.bodies()))).await, done, "{label}");
    drop(admin);
    db.remove().await;
}

#[test]
fn each_format_of_the_binary_log_will_do() {
    each_private(|server| async move {
        for format in ["STATEMENT", "MIXED", "ROW"] {
            let private = Private::start(&server.name, &[&format!("--binlog-format={format}")]);
            works(&private, format).await;
        }
    });
}

#[test]
fn each_default_of_the_sql_mode_will_do() {
    each_private(|server| async move {
        let modes = if server.name == "mysql" { ["ANSI", "NO_BACKSLASH_ESCAPES"] } else { ["ANSI", "ORACLE"] };
        for mode in modes {
            let private = Private::start(&server.name, &[&format!("--sql-mode={mode}")]);
            works(&private, mode).await;
        }
    });
}

#[test]
fn each_default_of_a_transaction_will_do() {
    each_private(|server| async move {
        for option in ["--transaction-isolation=SERIALIZABLE", "--completion-type=CHAIN", "--init-connect=SET autocommit=0"] {
            let private = Private::start(&server.name, &[option]);
            works(&private, option).await;
        }
    });
}
