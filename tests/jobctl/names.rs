//! Names with quotes, backticks, blanks inside, `$` and emoji work everywhere.

use std::time::Duration;

use crate::each::{each, join, wait_until};
use crate::session::{literal, name};

const SOON: Duration = Duration::from_secs(40);

fn odd() -> Vec<String> {
    let long = "é".repeat(128) + "🐬";
    [
        "O'Brien",
        "\"quoted\"",
        "back`tick`",
        "two words",
        "$1",
        "🐬 🦭",
        "back\\slash",
        "100%_",
        "semi;colon -- #",
        "X",
        "x",
        "über",
        "uber",
        &long,
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn odd_job_names_are_defined_run_and_dropped() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut admin = db.admin().await;
        for job in odd() {
            db.define(&bob, &job, "hello", "0.5", "").await;
        }
        let mut runners = Vec::new();
        for job in odd() {
            runners.push(db.runner(&bob, &job).await);
        }
        let ran = "SELECT COUNT(DISTINCT job_name) FROM job_run WHERE outcome = 'OK'";
        let all = i64::try_from(odd().len()).unwrap();
        wait_until("all of them run", SOON, async || admin.number(ran).await == all).await;
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        let ended = join(runners.into_iter().map(crate::runner::Runner::outcome).collect()).await;
        for (job, sets) in odd().into_iter().zip(ended) {
            let sets = sets.unwrap();
            assert_eq!(sets.last().unwrap(), &[[job, "Aborted at request".to_owned()]]);
        }
        let mut session = db.login(&bob).await;
        for job in odd() {
            let shown = session.rows(&format!("CALL job$overview({})", literal(&job))).await;
            assert_eq!((shown.len(), shown[0][2].as_str()), (1, job.as_str()));
            session.row(&format!("CALL job$drop({}, NULL)", literal(&job))).await;
        }
        assert_eq!(admin.one("SELECT COUNT(*) FROM job").await, "0");
    });
}

#[test]
fn odd_names_of_schema_and_procedure_are_called() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let schema = db.extra("we`ir'd \"sch\" $ü").await;
        let mut admin = db.admin().await;
        admin.run(&format!("GRANT EXECUTE ON {}.* TO {bob}", name(&schema))).await;
        let mut session = db.login(&bob).await;
        let procedures = ["pro`ce`dure", "it's", "\"all\"", "two words", "a.b", "$", "naïve()", "back\\slash"];
        for procedure in procedures {
            admin.run(&format!("CREATE PROCEDURE {}.{}() SQL SECURITY INVOKER DO 0", name(&schema), name(procedure))).await;
            let options =
                serde_json::json!({"schema": schema, "procedure": procedure, "every": 0.5, "max_failures": 1}).to_string();
            session.row(&format!("CALL job$define({}, {})", literal(procedure), literal(&options))).await;
        }
        let mut runners = Vec::new();
        for procedure in procedures {
            runners.push(db.runner(&bob, procedure).await);
        }
        let ran = "SELECT COUNT(DISTINCT job_name) FROM job_run WHERE outcome = 'OK'";
        let all = i64::try_from(procedures.len()).unwrap();
        wait_until("all of them run", SOON, async || {
            let ended = runners.iter().filter(|runner| runner.ended()).count();
            assert_eq!(
                ended,
                0,
                "{:?}",
                admin.rows("SELECT job_name, error_message FROM job_run WHERE outcome = 'ERROR'").await
            );
            admin.number(ran).await == all
        })
        .await;
        drop(runners);
    });
}

#[test]
fn names_that_nobody_could_read_are_refused() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        let long = "x".repeat(130);
        let options = serde_json::json!({"schema": db.bodies(), "procedure": "hello", "every": 1}).to_string();
        for job in ["", " x", "x ", "\tx", "a\tb", "a\nb", "a\0b", "a\u{7f}b", "a\u{1b}[31m", &long] {
            let (code, message) = session.error(&format!("CALL job$define({}, {})", literal(job), literal(&options))).await;
            assert_eq!(code, 45002, "{job:?}: {message}");
            assert!(message.starts_with("job$define: "), "{job:?}: {message}");
        }
        let (code, _) = session.error(&format!("CALL job$define(NULL, {})", literal(&options))).await;
        assert_eq!(code, 45002);
        assert_eq!(db.admin().await.one("SELECT COUNT(*) FROM job").await, "0");
    });
}

#[test]
fn names_that_collate_alike_are_different_jobs() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        for job in ["ana", "Ana", "anà", "ANA"] {
            db.define(&bob, job, "hello", "3600", "").await;
        }
        let mut session = db.login(&bob).await;
        session.run("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci").await;
        session.row("CALL job$drop('Ana', NULL)").await;
        let left = session.rows("CALL job$overview(NULL)").await;
        assert_eq!(left.iter().map(|row| row[2].as_str()).collect::<Vec<_>>(), ["ANA", "ana", "anà"]);
        let (code, _) = session.error("CALL job$drop('Ana', NULL)").await;
        assert_eq!(code, 45003);
    });
}
