//! What an owner cannot learn, take or use up: lock names, the secret, inner routines, tables, ids.

use std::time::Duration;

use crate::attack::{of, options};
use crate::each::{each, wait_until};
use crate::session::{literal, name};

#[test]
fn nobody_can_guess_the_name_of_a_lock() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        let stranger = db.stranger("stranger").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("the runner waits", Duration::from_secs(20), async || {
            admin.one("SELECT status FROM job_overview").await == "SLEEPING"
        })
        .await;
        let schema = literal(db.schema());
        // The real one, to be sure that there is one.
        let real = format!(
            "(SELECT SHA2(CONCAT(setting_value, ':', {schema}, ':job:1'), 256) FROM job_setting WHERE setting_name = 'secret')"
        );
        assert_eq!(admin.one(&format!("SELECT IS_USED_LOCK({real})")).await, runner.id.to_string());
        let owner = &bob.user;
        let parts = [
            "job:1".into(),
            "1".into(),
            "x".into(),
            format!("{owner}.x"),
            format!("{owner}:x"),
            format!("{owner}@%.x"),
            format!("{}:job:1", db.schema()),
            format!("{}.job.1", db.schema()),
            format!(":{}:job:1", db.schema()),
            format!("NULL:{}:job:1", db.schema()),
            format!("jobctl:{owner}:x"),
            format!("{}.x", db.schema()),
            String::new(),
        ];
        for account in [&eve, &stranger, &bob] {
            let mut session = db.login(account).await;
            for part in &parts {
                for guess in
                    [literal(part), format!("SHA2({}, 256)", literal(part)), format!("SHA2(SHA2({}, 256), 256)", literal(part))]
                {
                    if part.is_empty() && !guess.starts_with("SHA2") {
                        continue;
                    }
                    assert_eq!(session.one(&format!("SELECT IS_USED_LOCK({guess})")).await, "NULL", "{guess}");
                }
            }
            session.run("DO RELEASE_ALL_LOCKS()").await;
        }
        assert_eq!(admin.one(&format!("SELECT IS_USED_LOCK({real})")).await, runner.id.to_string());
    });
}

#[test]
fn each_installation_has_a_secret_of_its_own() {
    each(|db| async move {
        let other = crate::db::Db::installed(db.server(), "other").await;
        let secret = "SELECT setting_value FROM job_setting WHERE setting_name = 'secret'";
        let (one, two) = (db.admin().await.one(secret).await, other.admin().await.one(secret).await);
        other.remove().await;
        for secret in [&one, &two] {
            assert!(secret.len() >= 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
        }
        assert_ne!(one, two);
    });
}

#[test]
fn an_owner_reads_and_writes_no_table() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let mut session = db.login(&bob).await;
        let mut admin = db.admin().await;
        let tables = admin.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()").await;
        assert!(tables.len() > 8, "{tables:?}");
        for table in tables {
            let table = of(&db, &table[0]);
            for sql in [
                format!("SELECT * FROM {table}"),
                format!("SELECT COUNT(*) FROM {table}"),
                format!("SELECT 1 FROM {table}"),
                format!("DELETE FROM {table}"),
                format!("TRUNCATE TABLE {table}"),
                format!("DROP TABLE {table}"),
                format!("ALTER TABLE {table} COMMENT 'x'"),
                format!("CREATE VIEW {}.v AS SELECT * FROM {table}", name(db.bodies())),
                format!("CREATE TABLE {}.copy AS SELECT * FROM {table}", name(db.bodies())),
                format!("INSERT INTO {table} () VALUES ()"),
            ] {
                let (code, message) = session.error(&sql).await;
                // A ticket may be inserted, but not without a token (1364).
                let ticket = code == 1364 && sql.contains("job_ticket") && sql.starts_with("INSERT");
                assert!(ticket || [1142, 1143, 1044].contains(&code), "{code} {message}: {sql}");
            }
        }
        // A query that meets no row is as telling as its error.
        for sql in [
            "SELECT setting_value FROM job_setting",
            "UPDATE job SET job_owner = 'x'",
            "UPDATE job_setting SET setting_value = 'x'",
        ] {
            let (code, _) = session.error(sql).await;
            assert!([1142, 1143].contains(&code), "{sql}");
        }
    });
}

#[test]
fn a_routine_that_is_not_granted_to_owners_is_refused() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let (mut session, mut admin) = (db.login(&bob).await, db.admin().await);
        let granted = db.grants().join("\n");
        let routines = "SELECT r.routine_name, (SELECT COUNT(*) FROM information_schema.parameters AS p
                WHERE p.specific_schema = r.routine_schema AND p.specific_name = r.routine_name)
            FROM information_schema.routines AS r WHERE r.routine_schema = DATABASE() ORDER BY 1";
        let mut refused = 0;
        for routine in admin.rows(routines).await {
            let arguments: Vec<_> = (0..routine[1].parse::<usize>().expect("a count")).map(|i| format!("@v{i}")).collect();
            let outcome = session.attempt(&format!("CALL {}({})", of(&db, &routine[0]), arguments.join(", "))).await;
            if granted.contains(&format!("{}`", routine[0])) {
                continue;
            }
            match outcome {
                Err(mysql_async::Error::Server(error)) => assert_eq!(error.code, 1370, "{}: {error}", routine[0]),
                other => panic!("{}: {other:?}", routine[0]),
            }
            refused += 1;
        }
        for inner in
            ["job$_caller", "job$_event", "job$_find", "job$_lock_name", "job$_lost", "job$_plan", "job$_refusal", "job$_skip"]
        {
            assert!(!granted.contains(&format!("{inner}`")), "{inner} is granted to owners");
        }
        assert!(refused >= 8, "{refused}");
    });
}

#[test]
fn no_routine_shows_the_secret() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let (mut session, mut admin) = (db.login(&bob).await, db.admin().await);
        let secret = admin.one("SELECT setting_value FROM job_setting WHERE setting_name = 'secret'").await;
        for routine in
            admin.rows("SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()").await
        {
            let shown = session.attempt(&format!("SHOW CREATE PROCEDURE {}", of(&db, &routine[0]))).await;
            assert!(!format!("{shown:?}").contains(&secret), "{}", routine[0]);
        }
        for sql in [
            "SELECT * FROM information_schema.routines",
            "SELECT * FROM information_schema.views",
            "SHOW CREATE VIEW job_overview",
        ] {
            let shown = session.attempt(sql).await;
            assert!(!format!("{shown:?}").contains(&secret), "{sql}");
        }
    });
}

#[test]
fn an_owner_does_not_choose_the_id_of_a_job() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.account("eve").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "old", "hello", "3600", "").await;
        let mut session = db.login(&bob).await;
        let old = session.one("CALL job$overview('old')").await;
        session.run("CALL job$drop('old', NULL)").await;
        let mut admin = db.admin().await;
        let history = "SELECT COUNT(*) FROM job_event WHERE job_name = 'old'";
        let kept = admin.number(history).await;
        // The id of a job that is gone, the system's, one of the future, the last there is.
        for (i, insert_id) in [old.as_str(), "0", "4242", "9223372036854775807", "18446744073709551614"].into_iter().enumerate()
        {
            let mut session = db.login(&eve).await;
            session.run(&format!("SET SESSION insert_id = {insert_id}")).await;
            let defined = session.attempt(&format!("CALL job$define('e{i}', {})", options(&db))).await;
            let id = admin.number(&format!("SELECT COALESCE(MAX(job_id), -1) FROM job WHERE job_name = 'e{i}'")).await;
            assert!(id == -1 || (2..100).contains(&id), "insert_id {insert_id} made job {id}: {defined:?}");
            let _ = session.attempt(&format!(r#"CALL job$drop('e{i}', '{{"purge_history": true}}')"#)).await;
        }
        assert_eq!(admin.number(history).await, kept);
        // Everybody can still define.
        db.define(&bob, "new", "hello", "3600", "").await;
    });
}

#[test]
fn a_shadow_of_a_table_takes_a_privilege_that_owners_do_not_have() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let eve = db.account("eve").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut session = db.login(&eve).await;
        let shadow = "CREATE TEMPORARY TABLE job_setting (setting_name VARCHAR(64), setting_value VARCHAR(1024))";
        assert_eq!(session.error(shadow).await.0, 1044);
        // Her own schema is no place from which a routine of jobctl would read.
        session.run(&format!("USE {}", name(db.bodies()))).await;
        for table in ["job", "job_setting", "job_ticket", "job_overview"] {
            session.run(&format!("CREATE TEMPORARY TABLE {table} (id INT)")).await;
        }
        session.run(&format!("CALL {}('x', {})", of(&db, "job$define"), options(&db))).await;
        assert_eq!(session.rows(&format!("CALL {}(NULL)", of(&db, "job$overview"))).await.len(), 1);
        // With the right on `*.*` she can shadow: known, documented, and named by `doctor`.
        db.admin().await.run(&format!("GRANT CREATE TEMPORARY TABLES ON *.* TO {eve}")).await;
        let mut session = db.login(&eve).await;
        session.run(shadow).await;
        session.run("CREATE TEMPORARY TABLE job_ticket (ticket_token CHAR(64), ticket_account VARCHAR(99), ticket_connection_id INT)").await;
    });
}
