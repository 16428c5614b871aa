//! What the servers say about who executes: the ground that tickets stand on.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::{Session, name};

/// A table whose defaults tell who inserts, and where; Alice and Bob may insert `what` alone.
async fn witness(db: &Db) -> (Account, Account, Session) {
    let (alice, bob) = (db.stranger("alice").await, db.stranger("bob").await);
    db.table(
        "witness",
        "(what VARCHAR(64) NOT NULL, account VARCHAR(384) NOT NULL DEFAULT (CURRENT_USER()), connection BIGINT NOT NULL DEFAULT (CONNECTION_ID()),
          place VARCHAR(64) NULL DEFAULT (DATABASE()),
          day DATE NULL DEFAULT (STR_TO_DATE(CONCAT('2000-02-3', CONNECTION_ID() * 0 + 1), '%Y-%m-%d')))",
    )
    .await;
    db.table("t", "(id INT)").await;
    let mut session = db.login(&bob).await;
    // Lenient, so that a day that cannot be is no error.
    session.run("SET SESSION sql_mode = ''").await;
    (alice, bob, session)
}

/// Creates an object of `account` that runs in a lenient `sql_mode`.
async fn owned(db: &Db, account: &Account, object: &str) {
    let mut admin = db.admin().await;
    admin.run(&format!("USE {}", name(db.bodies()))).await;
    admin.run("SET SESSION sql_mode = ''").await;
    admin.run(&format!("CREATE DEFINER = {account} {object}")).await;
}

async fn seen(db: &Db, what: &str) -> Vec<String> {
    let sql = format!(
        "SELECT account, connection, COALESCE(place, 'NULL'), CAST(day AS CHAR) FROM {}.witness WHERE what = '{what}'",
        name(db.bodies())
    );
    db.admin().await.row(&sql).await
}

fn at(account: &Account) -> String {
    format!("{}@{}", account.user, account.host)
}

fn insert(db: &Db, what: &str) -> String {
    format!("INSERT INTO {}.witness (what) VALUES ('{what}')", name(db.bodies()))
}

#[test]
fn a_default_of_current_user_tells_invoker_and_definer_apart() {
    each(|db| async move {
        let (alice, bob, mut session) = witness(&db).await;
        owned(&db, &alice, &format!("PROCEDURE invoker() SQL SECURITY INVOKER {}", insert(&db, "invoker"))).await;
        owned(&db, &alice, &format!("PROCEDURE definer() SQL SECURITY DEFINER {}", insert(&db, "definer"))).await;
        for round in 0..3 {
            db.admin().await.run(&format!("DELETE FROM {}.witness", name(db.bodies()))).await;
            session.run(&insert(&db, "direct")).await;
            session.run(&format!("CALL {}.definer()", name(db.bodies()))).await;
            session.run(&format!("CALL {}.invoker()", name(db.bodies()))).await;
            for (what, who) in [("direct", &bob), ("invoker", &bob), ("definer", &alice)] {
                assert_eq!(seen(&db, what).await[..2], [at(who), session.id().to_string()], "{what} {round}");
            }
        }
    });
}

#[test]
fn in_a_trigger_or_function_the_default_names_the_victim_on_mariadb() {
    each(|db| async move {
        let (alice, bob, mut session) = witness(&db).await;
        owned(&db, &alice, &format!("TRIGGER tr BEFORE INSERT ON t FOR EACH ROW {}", insert(&db, "trigger"))).await;
        let function = format!("FUNCTION f() RETURNS INT DETERMINISTIC BEGIN {}; RETURN 1; END", insert(&db, "function"));
        owned(&db, &alice, &function).await;
        session.run(&format!("INSERT INTO {}.t VALUES (1)", name(db.bodies()))).await;
        session.run(&format!("DO {}.f()", name(db.bodies()))).await;
        for what in ["trigger", "function"] {
            assert_eq!(seen(&db, what).await[0], at(if db.mariadb() { &bob } else { &alice }), "{what}");
        }
    });
}

#[test]
fn in_a_trigger_or_function_the_default_of_database_is_their_schema() {
    each(|db| async move {
        let (alice, _, mut session) = witness(&db).await;
        let mut admin = db.admin().await;
        admin.run(&format!("USE {}", name(db.bodies()))).await;
        admin.run("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'").await;
        admin
            .run(&format!("CREATE DEFINER = {alice} TRIGGER tr BEFORE INSERT ON t FOR EACH ROW {}", insert(&db, "trigger")))
            .await;
        let function = format!("FUNCTION f() RETURNS INT DETERMINISTIC BEGIN {}; RETURN 1; END", insert(&db, "function"));
        admin.run(&format!("CREATE DEFINER = {alice} {function}")).await;
        // Whatever schema the session is in.
        session.run("USE information_schema").await;
        session.run(&format!("INSERT INTO {}.t VALUES (1)", name(db.bodies()))).await;
        session.run(&format!("DO {}.f()", name(db.bodies()))).await;
        for what in ["trigger", "function"] {
            assert_eq!(seen(&db, what).await[2..], [db.bodies().to_owned(), "2000-02-31".into()], "{what}");
        }
    });
}

#[test]
fn a_foreign_view_inserts_in_the_sql_mode_of_its_user() {
    each(|db| async move {
        let (alice, bob, mut session) = witness(&db).await;
        for security in ["DEFINER", "INVOKER"] {
            let view = format!(
                "CREATE SQL SECURITY {security} VIEW {0}.{security} AS SELECT what AS note FROM {0}.witness",
                name(db.bodies())
            );
            db.login(&alice).await.run(&view).await;
            session.run(&format!("INSERT INTO {}.{security} VALUES ('{security}')", name(db.bodies()))).await;
            let row = seen(&db, security).await;
            // The account is no proof there: MySQL leaves defaults out, or names the user of the view.
            assert_ne!(row[3], "2000-02-31", "{security}: {row:?}");
            assert!(security == "DEFINER" || row[0] != at(&alice), "{row:?}");
        }
        owned(
            &db,
            &bob,
            &format!("PROCEDURE own() BEGIN SET SESSION sql_mode = 'ALLOW_INVALID_DATES'; {}; END", insert(&db, "own")),
        )
        .await;
        session.run(&format!("CALL {}.own()", name(db.bodies()))).await;
        assert_eq!(seen(&db, "own").await[3], "2000-02-31");
    });
}

#[test]
fn an_event_acts_as_its_definer_and_user_is_the_scheduler() {
    each(|db| async move {
        let (alice, _, _) = witness(&db).await;
        let insert = format!("INSERT INTO {0}.witness (what) VALUES ('event'), (USER())", name(db.bodies()));
        owned(&db, &alice, &format!("EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO {insert}")).await;
        let mut admin = db.admin().await;
        let count = format!("SELECT COUNT(*) FROM {}.witness", name(db.bodies()));
        wait_until("the event has ended", Duration::from_secs(20), async || admin.number(&count).await == 2).await;
        assert_eq!(seen(&db, "event").await[0], at(&alice));
        assert_eq!(seen(&db, "event_scheduler@localhost").await[0], at(&alice));
    });
}

#[test]
fn a_trigger_or_function_ends_no_transaction_and_no_handler_helps() {
    each(|db| async move {
        let (alice, _, mut session) = witness(&db).await;
        for (i, end) in ["ROLLBACK AND NO CHAIN NO RELEASE", "COMMIT AND NO CHAIN NO RELEASE", "START TRANSACTION READ WRITE"]
            .into_iter()
            .enumerate()
        {
            owned(
                &db,
                &alice,
                &format!("PROCEDURE end{i}() SQL SECURITY DEFINER BEGIN {end}; {}; END", insert(&db, "after the end")),
            )
            .await;
            let body = |handler: &str| format!("BEGIN {handler} CALL {}.end{i}();", name(db.bodies()));
            let handler = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @code = 1;";
            owned(&db, &alice, &format!("FUNCTION plain{i}() RETURNS INT DETERMINISTIC {} RETURN 1; END", body(""))).await;
            owned(&db, &alice, &format!("FUNCTION handled{i}() RETURNS INT DETERMINISTIC {} RETURN 1; END", body(handler)))
                .await;
            session.run("SET @code = 0").await;
            assert_eq!(session.error(&format!("SELECT {}.plain{i}()", name(db.bodies()))).await.0, 1422, "{end}");
            session.run(&format!("SELECT {}.handled{i}()", name(db.bodies()))).await;
            assert_eq!(session.one("SELECT @code").await, "1", "{end}");
        }
        let count = format!("SELECT COUNT(*) FROM {}.witness", name(db.bodies()));
        assert_eq!(db.admin().await.one(&count).await, "0");
    });
}

#[test]
fn user_is_the_login_and_current_user_the_definer() {
    each(|db| async move {
        let (alice, bob, mut session) = witness(&db).await;
        owned(&db, &alice, "PROCEDURE who() SQL SECURITY DEFINER SELECT USER(), CURRENT_USER()").await;
        let row = session.row(&format!("CALL {}.who()", name(db.bodies()))).await;
        assert_eq!(row[0].rsplit_once('@').expect("an @").0, bob.user);
        assert_eq!(row[1], at(&alice));
    });
}

#[test]
fn mariadb_counts_every_call_and_nothing_else() {
    each(|db| async move {
        let (alice, _, mut session) = witness(&db).await;
        let count = "SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'COM_CALL_PROCEDURE'";
        if !db.mariadb() {
            assert_eq!(session.error(count).await.0, 1109);
            return;
        }
        owned(&db, &alice, "PROCEDURE one() SQL SECURITY DEFINER BEGIN END").await;
        owned(&db, &alice, "PROCEDURE two() SQL SECURITY DEFINER BEGIN CALL one(); END").await;
        owned(&db, &alice, "FUNCTION none() RETURNS INT DETERMINISTIC RETURN 1").await;
        owned(&db, &alice, "FUNCTION calling() RETURNS INT DETERMINISTIC BEGIN CALL one(); RETURN 1; END").await;
        session.run(&format!("USE {}", name(db.bodies()))).await;
        let mut expected = session.number(count).await;
        for (sql, calls) in [
            ("CALL one()", 1),
            ("CALL two()", 2),
            ("DO none()", 0),
            ("DO calling()", 1),
            ("DO 0", 0),
            ("EXECUTE IMMEDIATE 'CALL two()'", 2),
            ("PREPARE s FROM 'CALL one()'", 0),
            ("EXECUTE s", 1),
            ("INSERT INTO t VALUES (none())", 0),
            ("BEGIN NOT ATOMIC CALL one(); END", 1),
        ] {
            session.run(sql).await;
            expected += calls;
            assert_eq!(session.number(count).await, expected, "{sql}");
        }
    });
}

#[test]
fn the_counters_of_a_session_can_be_set_back_but_that_commits() {
    each(|db| async move {
        let mut admin = db.admin().await;
        admin.run(&format!("USE {}", name(db.bodies()))).await;
        admin.run("CREATE TABLE t (id INT)").await;
        admin.run("START TRANSACTION").await;
        admin.run("INSERT INTO t VALUES (1)").await;
        admin.run("FLUSH STATUS").await;
        admin.run("ROLLBACK").await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM t").await, "1");
    });
}

#[test]
fn a_definer_view_may_look_at_a_lock_whose_name_its_user_cannot_learn() {
    each(|db| async move {
        let bob = db.stranger("viewer").await;
        let mut admin = db.admin().await;
        admin.run("CREATE TABLE secret (s VARCHAR(64))").await;
        admin.run("INSERT INTO secret VALUES (UUID())").await;
        admin.run("CREATE SQL SECURITY DEFINER VIEW v AS SELECT COALESCE(IS_USED_LOCK(SHA2(CONCAT(s, 'x'), 256)), 0) AS held FROM secret").await;
        admin.run(&format!("GRANT SELECT ON v TO {bob}")).await;
        admin.run("DO GET_LOCK((SELECT SHA2(CONCAT(s, 'x'), 256) FROM secret), 0)").await;
        let mut session = db.login(&bob).await;
        assert_eq!(session.one("SELECT held FROM v").await, admin.id().to_string());
        assert_eq!(session.error("SELECT s FROM secret").await.0, 1142);
        assert!([1142, 1143].contains(&session.error("SHOW CREATE VIEW v").await.0));
    });
}

#[test]
fn without_super_and_with_a_binary_log_there_are_procedures_but_no_functions_or_triggers() {
    each(|db| async move {
        let mut admin = db.admin().await;
        assert_eq!(admin.row("SELECT @@GLOBAL.log_bin, @@GLOBAL.log_bin_trust_function_creators").await, ["1", "0"]);
        let bob = db.stranger("bob").await;
        let mut session = db.login(&bob).await;
        session.run(&format!("USE {}", name(db.bodies()))).await;
        session.run("CREATE TABLE t (id INT)").await;
        session.run("CREATE PROCEDURE p() DO 0").await;
        assert_eq!(session.error("CREATE FUNCTION f() RETURNS INT DETERMINISTIC NO SQL RETURN 1").await.0, 1419);
        assert_eq!(session.error("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @x = 1").await.0, 1419);
    });
}

#[test]
fn the_first_row_of_an_empty_table_may_lock_all_of_it_on_mariadb() {
    each(|db| async move {
        let mut admin = db.admin().await;
        admin.run(&format!("USE {}", name(db.bodies()))).await;
        for (table, rows) in [("unused", 0), ("used", 1)] {
            admin.run(&format!("CREATE TABLE {table} (id VARCHAR(64) PRIMARY KEY)")).await;
            if rows == 1 {
                admin.run(&format!("INSERT INTO {table} VALUES ('-')")).await;
            }
            let mut bulk = db.admin().await;
            bulk.run("SET SESSION unique_checks = 0, foreign_key_checks = 0").await;
            bulk.run("START TRANSACTION").await;
            bulk.run(&format!("INSERT INTO {}.{table} VALUES ('a')", name(db.bodies()))).await;
            admin.run("SET SESSION innodb_lock_wait_timeout = 1").await;
            let insert = format!("INSERT INTO {table} VALUES ('b')");
            if db.mariadb() && rows == 0 {
                assert_eq!(admin.error(&insert).await.0, 1205);
            } else {
                admin.run(&insert).await;
            }
            bulk.run("ROLLBACK").await;
        }
    });
}

#[test]
fn an_ordinary_account_installs() {
    each(|db| async move {
        // Beside the schema that the administrator installed.
        let own = Db::empty(db.server(), "ordinary").await;
        let mut admin = own.admin().await;
        assert_eq!(admin.row("SELECT @@GLOBAL.log_bin, @@GLOBAL.log_bin_trust_function_creators").await, ["1", "0"]);
        let installer = own.stranger("installer").await;
        let rights = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE";
        admin.run(&format!("GRANT {rights} ON {}.* TO {installer}", name(own.schema()).replace('_', "\\_"))).await;
        let ran = own.jobctl(&installer, &["install"]).await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        let again = own.jobctl(&installer, &["install"]).await;
        assert_eq!(again.code, 0, "{again:#?}");
        assert!(again.stdout.contains("nothing to do") || again.stderr.contains("nothing to do"), "{again:#?}");
        // And what it installed works, with its rights alone.
        own.body("hello", "DO 0").await;
        let mut session = own.login(&installer).await;
        let defined = session.define(&own, "x", "hello", "0.1", "").await;
        assert_eq!(defined[1], "CREATED");
        session.run("UPDATE job SET job_schedule_finish = UTC_TIMESTAMP(6) + INTERVAL 1 SECOND").await;
        assert_eq!(own.runner(&installer, "x").await.message().await, "Ok: the schedule is over");
        own.remove().await;
    });
}
