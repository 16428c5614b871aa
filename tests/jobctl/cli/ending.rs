//! Leaks that only a private server may see, or that end the session.

use std::time::Duration;

use super::leaking::{Line, all_wrong, define, line, runs, three_each, wrong};
use super::starting::nothing_left;
use super::tool::{SOON, Tool};
use crate::db::Db;
use crate::each::{each, each_private, wait_until};
use crate::servers::Private;

/// Runs the line in the ways of a plain client and of `jobctl start`, where the session cannot go on: it is gone at once, the
/// row is closed by the successor, and two runs after it are unharmed.
async fn ends_the_session(db: &Db, line: &Line, after: &[&str]) {
    let owners = define(db, std::slice::from_ref(line), false, "0.5").await;
    let owner = &owners[usize::from(line.privileged)];
    let mut admin = db.admin().await;
    for way in ["plain", "start"] {
        let mut session = db.login(owner).await;
        let begun = std::time::Instant::now();
        let start = (way == "start").then(|| Tool::new(db, owner, &["start", "--all"]).start());
        let mut told = None;
        if start.is_none() {
            told = Some(tokio::time::timeout(SOON, session.attempt(&format!("CALL job$run('{}')", line.job))).await);
            let told = told.as_ref().unwrap();
            let silent = |sets: &Vec<Vec<Vec<String>>>| sets.iter().all(Vec::is_empty);
            assert!(told.as_ref().is_ok_and(|told| told.as_ref().map_or(true, silent)), "{}: no farewell: {told:?}", line.job);
            let error = session.attempt("DO 0").await.unwrap_err();
            let killed = !matches!(&error, mysql_async::Error::Server(error) if ![1317, 1927].contains(&error.code));
            assert!(killed, "{}: the session lives: {error}", line.job);
            // The lock is free within moments, and others can write.
            let used = "SELECT COUNT(*) FROM job_overview WHERE job_runner_connection_id IS NOT NULL";
            wait_until("the lock is free", Duration::from_secs(10), async || admin.number(used).await == 0).await;
            admin.run(&format!("INSERT INTO {}.t VALUES (1)", db.bodies())).await;
        }
        let next = if start.is_none() { Some(db.runner(owner, line.job).await) } else { None };
        let lost = "SELECT COUNT(*) FROM job_run WHERE outcome IN ('LOST', 'ERROR')";
        let ok = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        let mut ended = "nothing".to_owned();
        let waited = tokio::time::timeout(Duration::from_secs(20), async {
            while admin.number(lost).await < 1 || admin.number(ok).await < 2 {
                if next.as_ref().is_some_and(crate::runner::Runner::ended) {
                    return std::future::pending().await;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        // On a busy machine instants pass before the first run, and are a span.
        let runs = "SELECT outcome, error_message, run_leaked, scheduled_for, started_at FROM job_run \
                    WHERE outcome <> 'SKIPPED' ORDER BY scheduled_for";
        let rows = admin.rows(runs).await;
        let log = start.as_ref().map(super::tool::Going::log);
        let mut next = next;
        if waited.is_err() && next.as_ref().is_some_and(crate::runner::Runner::ended) {
            ended = format!("{:?}", next.take().unwrap().outcome().await);
        }
        assert!(waited.is_ok(), "{} {way} {:?} {told:?} {ended}: {rows:?} {log:#?}", line.job, begun.elapsed());
        eprintln!("{} {} {way}: {:?} {rows:?} {log:#?}", db.server().name, line.job, begun.elapsed());
        assert_eq!(rows[0][0], "LOST", "{rows:?}");
        assert!(rows[1..].iter().all(|row| row[0] != "LOST" && row[0] != "ERROR"), "{rows:?}");
        if let Some(start) = start {
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
        } else {
            admin.run("UPDATE job SET job_status = 'ABORTED'").await;
            assert_eq!(next.unwrap().message().await, "Aborted at request");
        }
        drop(session);
        nothing_left(db, owner, &mut admin).await;
        for sql in after {
            admin.run(sql).await;
        }
        admin.run(&format!("DELETE FROM {}.n", db.bodies())).await;
        admin.run("DELETE FROM job_run").await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
    }
}

#[test]
fn a_transaction_of_xa_left_open_ends_the_session() {
    each(|db| async move {
        ends_the_session(&db, &line("xa", "XA START 'left open'; INSERT INTO t VALUES (99)", "NULL"), &[]).await;
        assert_eq!(db.admin().await.one(&format!("SELECT COUNT(*) FROM {}.t WHERE id = 99", db.bodies())).await, "0");
    });
}

#[test]
fn a_limit_of_memory_left_behind_ends_the_session() {
    each(|db| async move {
        if db.mariadb() {
            ends_the_session(&db, &line("memory", "SET max_session_mem_used = 8192", "NULL"), &[]).await;
        }
    });
}

#[test]
fn a_wish_for_the_next_gtid_is_taken_back() {
    each_private(|server| async move {
        if server.name == "mysql" {
            let private = Private::start(&server.name, &["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]);
            let db = Db::installed(&private.server, "gtid").await;
            let leak = "SET gtid_next = CONCAT(UUID(), ':1')";
            // Not even KILL goes through, 1837; a SET does, after a ROLLBACK.
            is_mended(&db, &Line { privileged: true, ..line("gtid", leak, "gtid_next") }).await;
        }
    });
}

#[test]
fn a_transaction_of_xa_left_prepared_harms_no_later_run() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "prepared").await;
        let leak = "XA START 'left prepared'; INSERT INTO t VALUES (99); XA END 'left prepared'; XA PREPARE 'left prepared'";
        let line = line("prepared", leak, "NULL");
        if db.mariadb() {
            ends_the_session(&db, &line, &["XA ROLLBACK 'left prepared'"]).await;
        } else {
            // MySQL hands the branch over to whoever asks for it, and the session is free.
            let owners = define(&db, std::slice::from_ref(&line), false, "0.5").await;
            let mut admin = db.admin().await;
            for way in ["plain", "start"] {
                let runner = if way == "plain" { Some(db.runner(&owners[0], line.job).await) } else { None };
                let start = (way == "start").then(|| Tool::new(&db, &owners[0], &["start", "--all"]).start());
                three_each(&mut admin).await;
                all_wrong(&mut admin, std::slice::from_ref(&line), false).await;
                if let Some(start) = start {
                    start.signal("TERM");
                    assert_eq!(start.ends().await.0, 0);
                }
                admin.run("UPDATE job SET job_status = 'ABORTED'").await;
                if let Some(runner) = runner {
                    assert_eq!(runner.message().await, "Aborted at request");
                }
                nothing_left(&db, &owners[0], &mut admin).await;
                assert_eq!(admin.rows("XA RECOVER").await.len(), 1);
                admin.run("XA ROLLBACK 'left prepared'").await;
                admin.run(&format!("DELETE FROM {}.n", db.bodies())).await;
                admin.run("DELETE FROM job_run").await;
                admin.run("UPDATE job SET job_status = 'ENABLED'").await;
            }
        }
    });
}

/// The same in both ways, where the session can be mended.
async fn is_mended(db: &Db, line: &Line) {
    let owners = define(db, std::slice::from_ref(line), true, "0.5").await;
    let owner = &owners[usize::from(line.privileged)];
    let mut admin = db.admin().await;
    for way in ["plain", "start"] {
        let runner = if way == "plain" { Some(db.runner(owner, line.job).await) } else { None };
        let start = (way == "start").then(|| Tool::new(db, owner, &["start", "--all"]).start());
        three_each(&mut admin).await;
        all_wrong(&mut admin, std::slice::from_ref(line), true).await;
        // Others can write.
        tokio::time::timeout(SOON, admin.run(&format!("INSERT INTO {}.t VALUES (1)", db.bodies())))
            .await
            .expect("no lock is left");
        if let Some(start) = start {
            assert_eq!(start.count("session renewed"), 0, "{:#?}", start.log());
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
        }
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        if let Some(runner) = runner {
            assert_eq!(runner.message().await, "Aborted at request");
        }
        nothing_left(db, owner, &mut admin).await;
        admin.run("DELETE FROM job_run").await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
    }
}

#[test]
fn a_global_read_lock_is_given_back_or_goes_with_the_session() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "read_lock").await;
        let leak = "PREPARE s FROM 'FLUSH TABLES WITH READ LOCK'; EXECUTE s";
        let line = Line { privileged: true, ..line("flush", leak, "table locks") };
        if db.mariadb() {
            is_mended(&db, &line).await;
        } else {
            ends_the_session(&db, &line, &[]).await;
        }
    });
}

#[test]
fn a_stage_of_a_backup_is_ended() {
    each_private(|server| async move {
        if server.name != "mysql" {
            let private = Private::start(&server.name, &[]);
            let db = Db::installed(&private.server, "backup").await;
            let leak = "EXECUTE IMMEDIATE 'BACKUP STAGE START'; EXECUTE IMMEDIATE 'BACKUP STAGE BLOCK_COMMIT'";
            is_mended(&db, &Line { privileged: true, ..line("backup", leak, "table locks") }).await;
        }
    });
}

#[test]
fn a_role_set_aside_is_taken_again() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "role").await;
        let carl = db.stranger("carl").await;
        let mut admin = db.admin().await;
        for role in ["plain", "o`dd role"] {
            let role = crate::session::name(role);
            admin.run(&format!("CREATE ROLE {role}")).await;
            for grant in db.grants() {
                let (what, _) = grant.rsplit_once(" TO ").unwrap();
                admin.run(&format!("{what} TO {role}")).await;
            }
            admin.run(&format!("GRANT {role} TO {carl}")).await;
            let default = if db.mariadb() { "SET DEFAULT ROLE {} FOR " } else { "SET DEFAULT ROLE {} TO " };
            admin.run(&format!("{}{carl}", default.replace("{}", &role))).await;
            let line = line(if role.contains("dd") { "odd" } else { "even" }, "SET ROLE NONE", "role");
            db.body(line.job, "SET ROLE NONE").await;
            db.define(&carl, line.job, line.job, "0.5", "").await;
            let runner = db.runner(&carl, line.job).await;
            three_each(&mut admin).await;
            assert_eq!(wrong(&mut admin, &line, true).await, None);
            admin.run("UPDATE job SET job_status = 'ABORTED'").await;
            assert_eq!(runner.message().await, "Aborted at request");
            admin.run("UPDATE job SET job_status = 'ENABLED'").await;
            admin.run("DELETE FROM job_run").await;
            let start = Tool::new(&db, &carl, &["start", "--all"]).start();
            start.says("run ok in", 3).await;
            assert_eq!(wrong(&mut admin, &line, true).await, None);
            assert_eq!(start.count("session renewed"), 0, "{:#?}", start.log());
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
            nothing_left(&db, &carl, &mut admin).await;
            admin.run("DELETE FROM job").await;
            admin.run(&format!("DROP ROLE {role}")).await;
        }
    });
}

#[test]
fn the_bookkeeping_is_in_the_binary_log_though_the_body_turned_it_off() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "binlog").await;
        let line = Line { privileged: true, ..line("log", "SET sql_log_bin = 0; INSERT INTO t VALUES (7)", "sql_log_bin") };
        is_mended(&db, &line).await;
        let mut admin = db.admin().await;
        let mut written = 0;
        for file in admin.rows("SHOW BINARY LOGS").await {
            for event in admin.rows(&format!("SHOW BINLOG EVENTS IN '{}'", file[0])).await {
                written += usize::from(event[2] == "Table_map" && event[5].contains(&format!("({}.job_run)", db.schema())));
            }
        }
        // A claim and a record for each of the six runs at least, in two ways of running, and the DELETEs between.
        assert!(written >= 14, "{written}");
    });
}

#[test]
fn user_level_locks_of_a_body_are_free_when_the_runner_has_ended() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let lock = format!("of the body {}", db.schema());
        let lock = &lock[..lock.len().min(60)];
        db.body("locks", &format!("DO GET_LOCK('{lock}', 0)")).await;
        db.define(&bob, "x", "locks", "0.5", "").await;
        let mut admin = db.admin().await;
        let held = format!("SELECT IS_USED_LOCK('{lock}') IS NOT NULL");
        for way in ["plain", "start"] {
            let runner = if way == "plain" { Some(db.runner(&bob, "x").await) } else { None };
            let start = (way == "start").then(|| Tool::new(&db, &bob, &["start", "--all"]).start());
            three_each(&mut admin).await;
            let between = admin.one(&held).await;
            eprintln!("{} {way}: held between runs: {between}; {:?}", db.server().name, runs(&mut admin, "x").await);
            admin.run("UPDATE job SET job_status = 'ABORTED'").await;
            if let Some(runner) = runner {
                assert_eq!(runner.message().await, "Aborted at request");
            }
            if let Some(start) = start {
                start.says("runner ended: Aborted at request", 1).await;
                start.signal("TERM");
                assert_eq!(start.ends().await.0, 0);
            }
            nothing_left(&db, &bob, &mut admin).await;
            assert_eq!(admin.one(&held).await, "0");
            assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')").await, "0");
            admin.run("DELETE FROM job_run").await;
            admin.run("UPDATE job SET job_status = 'ENABLED'").await;
        }
    });
}
