//! Text stays text: names, options and messages with every kind of quote in them.

use std::time::Duration;

use crate::attack::of;
use crate::each::{each, wait_until};
use crate::session::{literal, name};

const NASTY: [&str; 9] = [
    "'; DROP TABLE job; -- ",
    "x' OR '1' = '1",
    "`; DROP TABLE job; -- ",
    "a`b``c",
    "\\'; DROP TABLE job; -- ",
    "\" OR \"\" = \"",
    "x%' OR job_name LIKE '%",
    "{\"a\": 1}",
    "$(id) $job 🙂 *",
];

#[test]
fn a_job_name_is_never_sql() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "victim", "hello", "3600", "").await;
        let mut session = db.login(&bob).await;
        for job in NASTY {
            let job = job.trim_end();
            let quoted = literal(job);
            for call in ["drop({}, NULL)", "stop({}, NULL)", "get_lock({}, @s, @b)", "release_lock({}, @s, @b)", "overview({})"]
            {
                let call = format!("CALL job${}", call.replace("{}", &quoted));
                assert_eq!(session.error(&call).await.0, 45003, "{call} {job}");
            }
            assert_eq!(session.rows(&format!("CALL job$run({quoted})")).await, [[job, "You own no job of that name"]]);
            assert_eq!(session.define(&db, job, "hello", "0.1", "").await[1], "CREATED", "{job}");
            let row = session.row(&format!("CALL job$overview({quoted})")).await;
            assert_eq!(row[2], job);
            session.run(&format!("CALL job$drop({quoted}, NULL)")).await;
        }
        assert_eq!(session.rows("CALL job$overview(NULL)").await.len(), 1);
    });
}

#[test]
fn names_of_schemas_and_procedures_are_never_sql() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(procedure_name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY)").await;
        // A procedure's name holds no character beyond U+FFFF.
        let names: Vec<_> = NASTY.iter().filter(|name| name.is_ascii()).map(|name| name.trim_end()).collect();
        for procedure in &names {
            db.body(procedure, &format!("INSERT IGNORE INTO done VALUES ({})", literal(procedure))).await;
        }
        let (mut session, mut admin) = (db.login(&bob).await, db.admin().await);
        let mut runners = Vec::new();
        for (i, procedure) in names.iter().enumerate() {
            let job = format!("j{i}");
            assert_eq!(session.define(&db, &job, procedure, "0.1", "").await[1], "CREATED", "{procedure}");
            runners.push(db.runner(&bob, &job).await);
        }
        let done = format!("SELECT COUNT(*) FROM {}.done", name(db.bodies()));
        wait_until("each has run", Duration::from_secs(30), async || admin.number(&done).await == 8).await;
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        for runner in runners {
            assert_eq!(runner.message().await, "Aborted at request");
        }
        assert_eq!(admin.number("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')").await, 0);
        // A schema's name goes the same way.
        for schema in &names {
            let options = serde_json::json!({"schema": schema, "procedure": "hello", "every": 1}).to_string();
            assert_eq!(session.error(&format!("CALL job$define('s', {})", literal(&options))).await.0, 45002, "{schema}");
        }
    });
}

#[test]
fn options_are_data() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        for (i, text) in NASTY.iter().enumerate() {
            let description = format!(r#", "description": {}"#, serde_json::json!(text));
            session.define(&db, &format!("d{i}"), "hello", "3600", &description).await;
            assert_eq!(session.row(&format!("CALL job$overview('d{i}')")).await[3], *text);
            for key in ["every", "start", "finish", "max_failures", "replace", "if_not_exists"] {
                let options = format!(
                    r#"{{"schema": "{}", "procedure": "hello", "every": 1, {}: {}}}"#,
                    db.bodies(),
                    serde_json::json!(key),
                    serde_json::json!(text)
                );
                let options = options.replace(r#""every": 1, "every""#, r#""every""#);
                assert_eq!(
                    session.error(&format!("CALL job$define('o', {})", literal(&options))).await.0,
                    45002,
                    "{key} {text}"
                );
            }
            let unknown = format!(r#"{{{}: 1}}"#, serde_json::json!(text));
            for call in ["define('o', {})", "drop('d0', {})", "stop('d0', {})"] {
                let call = format!("CALL job${}", call.replace("{}", &literal(&unknown)));
                assert_eq!(session.error(&call).await.0, 45002, "{call} {text}");
                let call = format!("CALL job${}", "define('o', {})".replace("{}", &literal(text)));
                assert_eq!(session.error(&call).await.0, 45002, "{text}");
            }
            for key in ["reason", "connection_id"] {
                let stop = serde_json::json!({key: text}).to_string();
                assert_eq!(session.error(&format!("CALL job$stop('d0', {})", literal(&stop))).await.0, 45002, "{stop}");
            }
        }
        assert_eq!(session.rows("CALL job$overview(NULL)").await.len(), NASTY.len());
    });
}

#[test]
fn the_name_of_a_controller_is_data() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut admin = db.admin().await;
        for text in NASTY {
            let options = serde_json::json!({"controller": text}).to_string();
            let call = format!("CALL {}('x', {})", of(&db, "job$run_with"), literal(&options));
            let runner = crate::runner::Runner::call(db.login(&bob).await, call);
            let id = runner.id;
            wait_until("the runner waits", Duration::from_secs(20), async || {
                admin.one("SELECT COALESCE(job_runner_connection_id, 0) FROM job_overview").await == id.to_string()
            })
            .await;
            assert_eq!(admin.one("SELECT job_runner_controller FROM job").await, text);
            db.login(&bob).await.run("CALL job$stop('x', NULL)").await;
            runner.message().await;
        }
        assert_eq!(admin.number("SELECT COUNT(*) FROM job").await, 1);
    });
}
