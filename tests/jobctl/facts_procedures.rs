//! What the servers do in procedures: time, leaks, PREPARE, transactions and handlers.

use std::time::Duration;

use crate::db::Db;
use crate::each::{each, wait_until};
use crate::runner::Runner;
use crate::session::{Session, name};

/// A session of somebody in the schema of bodies, after one call of a procedure with this body.
async fn called(db: &Db, body: &str) -> Session {
    let bob = db.stranger("bob").await;
    db.body("p", body).await;
    let mut session = db.login(&bob).await;
    session.run(&format!("USE {}", name(db.bodies()))).await;
    session.run("CALL p()").await;
    session
}

#[test]
fn the_time_is_fresh_in_each_statement_of_a_procedure() {
    each(|db| async move {
        let body = "BEGIN SET @one = UTC_TIMESTAMP(6); DO SLEEP(0.05); SET @two = UTC_TIMESTAMP(6); END";
        let mut session = called(&db, body).await;
        assert!(session.number("SELECT TIMESTAMPDIFF(MICROSECOND, @one, @two)").await >= 50_000);
    });
}

#[test]
fn a_body_leaks_time_zone_timestamp_and_autocommit_but_not_sql_mode() {
    each(|db| async move {
        let body = "BEGIN
            SET SESSION time_zone = '+07:00', SESSION autocommit = 0, SESSION sql_mode = 'ALLOW_INVALID_DATES';
            SET SESSION timestamp = 1000000000;
        END";
        let mut session = called(&db, body).await;
        assert_eq!(
            session.row("SELECT @@SESSION.time_zone, @@SESSION.autocommit, UTC_TIMESTAMP()").await,
            ["+07:00", "0", "2001-09-09 01:46:40"]
        );
        assert!(!session.one("SELECT @@SESSION.sql_mode").await.contains("ALLOW_INVALID_DATES"));
    });
}

#[test]
fn the_sql_mode_of_a_procedure_ends_with_it_also_after_an_error() {
    each(|db| async move {
        let body =
            "BEGIN SET SESSION sql_mode = 'ALLOW_INVALID_DATES'; SET @mode = @@SESSION.sql_mode; SIGNAL SQLSTATE '45000'; END";
        let bob = db.stranger("bob").await;
        db.body("p", body).await;
        let mut session = db.login(&bob).await;
        session.error(&format!("CALL {}.p()", name(db.bodies()))).await;
        assert_eq!(session.one("SELECT @mode").await, "ALLOW_INVALID_DATES");
        assert!(!session.one("SELECT @@SESSION.sql_mode").await.contains("ALLOW_INVALID_DATES"));
    });
}

#[test]
fn a_wish_for_the_next_transaction_tells_whether_one_is_open() {
    each(|db| async move {
        let mut session = called(&db, "DO 0").await;
        session.run("CREATE TABLE t (id INT PRIMARY KEY)").await;
        let probe = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        session.run(probe).await;
        for autocommit in [1, 0] {
            session.run(&format!("SET SESSION autocommit = {autocommit}")).await;
            for open in
                ["START TRANSACTION", "START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "INSERT INTO t VALUES (1)"]
            {
                session.run(open).await;
                let outcome = session.attempt(probe).await.map_err(|error| error.to_string());
                let told = matches!(&outcome, Err(error) if error.contains("1568"));
                assert_eq!(told, autocommit == 0 || open.starts_with("START"), "autocommit {autocommit}, {open}: {outcome:?}");
                session.run("ROLLBACK").await;
                session.run("DELETE FROM t").await;
                session.run("COMMIT").await;
                session.run(probe).await;
            }
        }
    });
}

#[test]
fn start_transaction_read_write_overrides_a_read_only_session() {
    each(|db| async move {
        let mut session = called(&db, "DO 0").await;
        session.run("CREATE TABLE t (id INT PRIMARY KEY)").await;
        session.run("SET SESSION TRANSACTION READ ONLY").await;
        assert_eq!(session.error("INSERT INTO t VALUES (1)").await.0, 1792);
        session.run("START TRANSACTION").await;
        assert_eq!(session.error("INSERT INTO t VALUES (1)").await.0, 1792);
        session.run("ROLLBACK").await;
        session.run("START TRANSACTION READ WRITE").await;
        session.run("INSERT INTO t VALUES (1)").await;
        session.run("COMMIT").await;
        assert_eq!(session.one("SELECT COUNT(*) FROM t").await, "1");
    });
}

#[test]
fn and_no_chain_no_release_overrides_the_completion_type() {
    each(|db| async move {
        let mut session = called(&db, "DO 0").await;
        for completion in ["RELEASE", "CHAIN"] {
            session.run(&format!("SET SESSION completion_type = '{completion}'")).await;
            for end in ["COMMIT", "ROLLBACK"] {
                session.run("START TRANSACTION").await;
                session.run(&format!("{end} AND NO CHAIN NO RELEASE")).await;
                session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await;
            }
        }
    });
}

#[test]
fn an_exit_handler_that_rolls_back_and_resignals_keeps_code_and_text() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("t", "(id INT PRIMARY KEY)").await;
        db.body(
            "p",
            "BEGIN
                DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK AND NO CHAIN NO RELEASE; RESIGNAL; END;
                START TRANSACTION;
                INSERT INTO t VALUES (1);
                SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45003, MESSAGE_TEXT = 'a sentence';
            END",
        )
        .await;
        let mut session = db.login(&bob).await;
        let call = format!("CALL {}.p()", name(db.bodies()));
        assert_eq!(session.error(&call).await, (45003, "a sentence".into()));
        assert_eq!(session.one(&format!("SELECT COUNT(*) FROM {}.t", name(db.bodies()))).await, "0");
    });
}

#[test]
fn a_handler_can_roll_back_and_redo_the_whole_transaction() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("t", "(id INT PRIMARY KEY, n INT)").await;
        db.table("tries", "(n INT)").await;
        db.body(
            "p",
            "BEGIN
                DECLARE v_tries INT DEFAULT 0;
                again: LOOP
                    BEGIN
                        DECLARE EXIT HANDLER FOR 1213, 1205, 1020
                        BEGIN
                            ROLLBACK AND NO CHAIN NO RELEASE;
                            SET v_tries = v_tries + 1;
                            INSERT INTO tries VALUES (v_tries);
                        END;
                        START TRANSACTION;
                        INSERT INTO t VALUES (2, 0);
                        UPDATE t SET n = n + 1 WHERE id = 1;
                        COMMIT;
                        LEAVE again;
                    END;
                END LOOP again;
                SELECT v_tries;
            END",
        )
        .await;
        let mut admin = db.admin().await;
        admin.run(&format!("USE {}", name(db.bodies()))).await;
        admin.run("INSERT INTO t VALUES (1, 0)").await;
        admin.run("START TRANSACTION").await;
        admin.run("UPDATE t SET n = 10 WHERE id = 1").await;
        let mut session = db.login(&bob).await;
        session.run("SET SESSION innodb_lock_wait_timeout = 1").await;
        let calling = Runner::call(session, format!("CALL {}.p()", name(db.bodies())));
        let mut other = db.admin().await;
        let tries = format!("SELECT COUNT(*) FROM {}.tries", name(db.bodies()));
        wait_until("a lock wait has timed out", Duration::from_secs(60), async || other.number(&tries).await >= 1).await;
        admin.run("COMMIT").await;
        let sets = calling.outcome().await.expect("it succeeds in the end");
        assert!(sets[0][0][0].parse::<i32>().expect("a number") >= 1);
        assert_eq!(admin.rows("SELECT id, n FROM t ORDER BY id").await, [["1", "11"], ["2", "0"]]);
    });
}

#[test]
fn preparing_a_call_tells_what_is_wrong_with_it_on_mysql_alone() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.body("p", "DO 0").await;
        let mut admin = db.admin().await;
        admin.run(&format!("CREATE PROCEDURE {}.q(IN a INT) DO 0", name(db.bodies()))).await;
        admin.run("CREATE PROCEDURE p() DO 0").await;
        let mut session = db.login(&bob).await;
        let (own, foreign) = (name(db.bodies()), name(db.schema()));
        session.run(&format!("PREPARE s FROM 'CALL {own}.p()'")).await;
        for (what, code) in [(format!("{own}.nothing()"), 1305), (format!("{own}.q()"), 1318), (format!("{foreign}.p()"), 1370)]
        {
            let prepare = format!("PREPARE s FROM 'CALL {what}'");
            if db.mariadb() {
                session.run(&prepare).await;
            } else {
                assert_eq!(session.error(&prepare).await.0, code, "{what}");
            }
        }
        // There, information_schema tells the caller.
        let seen = |schema: &str| {
            format!("SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{schema}' AND routine_name = 'p'")
        };
        assert_eq!(session.one(&seen(db.bodies())).await, "1");
        assert_eq!(session.one(&seen(db.schema())).await, "0");
    });
}

#[test]
fn a_failed_body_without_diagnostics_has_no_code() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.body(
            "p",
            "BEGIN
                DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO; SET @handled = 1; END;
                SIGNAL SQLSTATE '45000';
            END",
        )
        .await;
        let mut session = db.login(&bob).await;
        let call = format!("CALL {}.p()", name(db.bodies()));
        session.run("SET @code = NULL, @handled = 0").await;
        session.run(&call).await;
        assert_eq!(session.row("SELECT @handled, @code").await, ["1", "1644"]);
        // On MySQL only somebody with more rights may do so (1227).
        if session.attempt("SET SESSION max_error_count = 0").await.is_ok() {
            session.run("SET @code = NULL, @handled = 0").await;
            session.run(&call).await;
            assert_eq!(session.one("SELECT @handled").await, "1");
            assert_ne!(session.one("SELECT COALESCE(@code, 0)").await, "1644");
        } else {
            assert!(!db.mariadb());
        }
    });
}

#[test]
fn a_statement_that_executes_cannot_be_deallocated() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.body("p", "DEALLOCATE PREPARE s").await;
        let mut session = db.login(&bob).await;
        session.run(&format!("PREPARE s FROM 'CALL {}.p()'", name(db.bodies()))).await;
        assert_eq!(session.error("EXECUTE s").await.0, 1444);
    });
}

#[test]
fn a_view_holds_no_system_variable() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let create = format!("CREATE VIEW {}.v AS SELECT @@hostname", name(db.bodies()));
        assert_eq!(admin.error(&create).await.0, 1351);
        let table = if db.mariadb() { "information_schema" } else { "performance_schema" };
        let same = format!("SELECT variable_value FROM {table}.global_variables WHERE variable_name = 'hostname'");
        admin.run(&format!("CREATE VIEW {}.v AS {same}", name(db.bodies()))).await;
        assert_eq!(admin.one(&format!("SELECT * FROM {}.v", name(db.bodies()))).await, admin.one("SELECT @@hostname").await);
    });
}

#[test]
fn each_family_has_one_identity_of_the_server() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let (has, lacks) = if db.mariadb() { ("server_uid", "server_uuid") } else { ("server_uuid", "server_uid") };
        assert!(admin.one(&format!("SELECT @@{has}")).await.len() >= 20);
        assert_eq!(admin.error(&format!("SELECT @@{lacks}")).await.0, 1193);
    });
}

#[test]
fn sha2_is_there_and_keeps_null() {
    each(|db| async move {
        let mut admin = db.admin().await;
        assert_eq!(admin.one("SELECT SHA2('', 256)").await, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(admin.one("SELECT SHA2(NULL, 256)").await, "NULL");
    });
}
