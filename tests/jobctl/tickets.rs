//! A ticket proves who calls only to the API routine that made it: forged, foreign, old and missing ones are refused.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};

use crate::attack::{holdings, jobs, of, options, owned, ticketed};
use crate::db::{Account, Db};
use crate::each::each;
use crate::session::{Session, name};

/// The number of CALLs of this session, where the server tells it to everybody; 0 elsewhere.
fn calls(db: &Db) -> &'static str {
    if db.mariadb() {
        "(SELECT CAST(variable_value AS SIGNED) FROM information_schema.session_status WHERE variable_name = 'COM_CALL_PROCEDURE')"
    } else {
        "0"
    }
}

/// Two owners: Alice attacks, Bob has the job `x`.
async fn town(db: &Db) -> (Account, Account) {
    let (alice, bob) = (db.account("alice").await, db.account("bob").await);
    db.body("hello", "DO 0").await;
    db.define(&bob, "x", "hello", "3600", "").await;
    (alice, bob)
}

/// Alice's objects, made under `mode` besides the usual `sql_mode`: `issue()` makes a token in Bob's session, and the statements given
/// are ways in which Bob then inserts it, or another, for her.
async fn ways(db: &Db, alice: &Account, mode: &str) -> Vec<(&'static str, String)> {
    let (bodies, ticket) = (name(db.bodies()), of(db, "job_ticket"));
    db.table("loot", "(token CHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, calls BIGINT)").await;
    for table in ["outside", "inside", "variable"] {
        db.table(table, "(token CHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)").await;
    }
    let token = format!("DECLARE t CHAR(64) CHARACTER SET utf8mb4; CALL {}(t)", of(db, "job$token"));
    let keep = format!("DELETE FROM {bodies}.loot; INSERT INTO {bodies}.loot VALUES (t, {}); SET @token = t", calls(db));
    let insert = format!("INSERT INTO {ticket} (ticket_token) VALUES");
    let mut admin = db.admin().await;
    admin.run(&format!("USE {bodies}")).await;
    admin.run(&format!("SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',{mode}')")).await;
    for object in [
        "PROCEDURE nothing() SQL SECURITY DEFINER BEGIN END".to_owned(),
        format!("PROCEDURE issue() SQL SECURITY DEFINER BEGIN {token}; {keep}; END"),
        format!("TRIGGER outside BEFORE INSERT ON outside FOR EACH ROW {insert} (NEW.token)"),
        format!("TRIGGER inside AFTER INSERT ON inside FOR EACH ROW BEGIN {token}; {insert} (t); {keep}; END"),
        format!("TRIGGER variable AFTER UPDATE ON variable FOR EACH ROW {insert} (@token)"),
        format!("FUNCTION slip(t CHAR(64) CHARACTER SET utf8mb4) RETURNS INT DETERMINISTIC BEGIN {insert} (t); RETURN 1; END"),
        format!("FUNCTION slip_own() RETURNS INT DETERMINISTIC BEGIN {token}; {insert} (t); {keep}; RETURN 1; END"),
    ] {
        admin.run(&format!("CREATE DEFINER = {alice} {object}")).await;
    }
    admin.run("INSERT INTO variable VALUES ('')").await;
    for security in ["DEFINER", "INVOKER"] {
        // The right to insert one column is all that it takes, and Alice has it.
        let view = format!(
            "CREATE SQL SECURITY {security} VIEW {bodies}.inbox_{security} AS SELECT ticket_token AS note FROM {ticket}"
        );
        db.login(alice).await.run(&view).await;
    }
    vec![
        ("a trigger that takes the value", format!("INSERT INTO {bodies}.outside SELECT token FROM {bodies}.loot")),
        ("a trigger with a token of its own", format!("INSERT INTO {bodies}.inside VALUES ('')")),
        ("a trigger with a variable", format!("UPDATE {bodies}.variable SET token = UUID()")),
        ("a function that takes the value", format!("DO {bodies}.slip(@token)")),
        ("a function with a token of its own", format!("DO {bodies}.slip_own()")),
        ("a DEFINER view", format!("INSERT INTO {bodies}.inbox_DEFINER SELECT token FROM {bodies}.loot")),
        ("an INVOKER view", format!("INSERT INTO {bodies}.inbox_INVOKER VALUES (@token)")),
        ("nothing", "DO 0".into()),
    ]
}

/// How Bob's session is when Alice strikes.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Autocommit,
    Transaction,
    OneCall,
    OneCallInTransaction,
}

async fn strike(
    session: &mut Session,
    db: &Db,
    mode: Mode,
    insert: &str,
    strike: &str,
) -> Result<Vec<Vec<Vec<String>>>, Error> {
    let issue = format!("CALL {}.issue()", name(db.bodies()));
    if matches!(mode, Mode::Transaction | Mode::OneCallInTransaction) {
        session.run("START TRANSACTION").await;
    }
    match mode {
        Mode::Autocommit | Mode::Transaction => {
            session.run(&issue).await;
            // A way that the server refuses is no way.
            let _ = session.attempt(insert).await;
            session.attempt(strike).await
        }
        Mode::OneCall | Mode::OneCallInTransaction => {
            let text = |sql: &str| format!("'{}'", sql.replace('\'', "''"));
            let chain = format!("CALL {}.chain({}, {}, {})", name(db.bodies()), text(&issue), text(insert), text(strike));
            session.attempt(&chain).await
        }
    }
}

/// Every way, in every mode, to every routine behind the API: each is refused.
async fn forged(db: Db, made_under: &str, bobs_mode: &str) {
    let (alice, bob) = town(&db).await;
    let before = holdings(&db, &bob).await;
    let ways = ways(&db, &alice, made_under).await;
    let routines = ticketed(&db, "@token");
    for (routine, call) in &routines {
        owned(&db, &alice, &format!("PROCEDURE {}() SQL SECURITY DEFINER {call}", name(&format!("strike{routine}")))).await;
    }
    // Bob's own procedure, which uses all three.
    let chain = "PROCEDURE chain(in_1 TEXT, in_2 TEXT, in_3 TEXT) SQL SECURITY INVOKER
        BEGIN
            PREPARE s FROM @chain_1;
            EXECUTE s;
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
                PREPARE s FROM @chain_2;
                EXECUTE s;
            END;
            PREPARE s FROM @chain_3;
            EXECUTE s;
        END";
    let chain = chain.replacen("BEGIN", "BEGIN SET @chain_1 = in_1, @chain_2 = in_2, @chain_3 = in_3;", 1);
    let mut session = db.login(&bob).await;
    session.run(&format!("SET SESSION sql_mode = {bobs_mode}")).await;
    session.run(&format!("CREATE {}", chain.replacen("PROCEDURE ", &format!("PROCEDURE {}.", name(db.bodies())), 1))).await;
    for mode in [Mode::Autocommit, Mode::Transaction, Mode::OneCall, Mode::OneCallInTransaction] {
        for (way, insert) in &ways {
            for (routine, _) in &routines {
                let call = format!("CALL {}.{}()", name(db.bodies()), name(&format!("strike{routine}")));
                match strike(&mut session, &db, mode, insert, &call).await {
                    // On MySQL the account in a ticket of her trigger is her own: then she acts, as herself, and owns no `x`.
                    Err(Error::Server(error)) => {
                        assert!([45003, 45004].contains(&error.code), "{way}, {mode:?}, {routine}: {error}");
                    }
                    Ok(sets) => assert!(!format!("{sets:?}").contains(&bob.user), "{way}, {mode:?}, {routine}: {sets:?}"),
                    other => panic!("{way}, {mode:?}, {routine}: {other:?}"),
                }
                session.run("ROLLBACK").await;
            }
            assert_eq!(holdings(&db, &bob).await, before, "Alice acts as Bob by {way}, {mode:?}");
        }
    }
    assert!(jobs(&db).await.iter().filter(|(owner, _)| *owner == bob.user).map(|(_, job)| job).eq(["x"]));
}

#[test]
fn a_ticket_that_foreign_code_left_in_bobs_session_is_worth_nothing() {
    each(|db| forged(db, "", "@@GLOBAL.sql_mode"));
}

#[test]
fn nor_is_one_in_a_lenient_session() {
    each(|db| forged(db, "", "''"));
}

#[test]
fn nor_is_one_that_foreign_code_left_under_an_odd_sql_mode() {
    each(|db| forged(db, "ALLOW_INVALID_DATES", "@@GLOBAL.sql_mode"));
}

#[test]
fn a_ticket_is_worth_nothing_after_the_session_counters_were_set_back() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let ways = ways(&db, &alice, "ALLOW_INVALID_DATES").await;
        let mut admin = db.admin().await;
        admin.run(&format!("GRANT RELOAD ON *.* TO {alice}")).await;
        let define = format!("CALL {}(@token, 'evil', {})", of(&db, "job$_define"), options(&db));
        let (bodies, calls) = (name(db.bodies()), calls(&db));
        // With n calls behind it, the count is what it was when the token was made.
        let until = format!("SET i = 0; WHILE {calls} < n AND i < 1000 DO CALL {bodies}.nothing(); SET i = i + 1; END WHILE");
        let strike = format!(
            "PROCEDURE strike(n BIGINT, again INT) SQL SECURITY DEFINER
             BEGIN DECLARE i INT; IF again THEN FLUSH STATUS; END IF; {until}; {define}; END"
        );
        owned(&db, &alice, &strike).await;
        let warm_up = format!("CALL {bodies}.nothing()");
        for (way, insert) in &ways {
            for offset in -4..=4 {
                let mut session = db.login(&bob).await;
                for _ in 0..12 {
                    session.run(&warm_up).await;
                }
                session.run(&format!("CALL {bodies}.issue()")).await;
                let _ = session.attempt(insert).await;
                let n = session.number(&format!("SELECT MAX(calls) + ({offset}) FROM {bodies}.loot")).await;
                let (code, message) = session.error(&format!("CALL {bodies}.strike({n}, 1)")).await;
                assert_eq!(code, 45004, "{way}, {offset}: {message}");
            }
        }
        assert_eq!(jobs(&db).await, [(bob.user, "x".into())]);
    });
}

#[test]
fn a_ticket_is_worth_nothing_after_bobs_pool_has_reset_the_connection() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let ways = ways(&db, &alice, "ALLOW_INVALID_DATES").await;
        let define = format!("CALL {}(@token, 'evil', {})", of(&db, "job$_define"), options(&db));
        let (bodies, calls) = (name(db.bodies()), calls(&db));
        let until = format!("SET i = 0; WHILE {calls} < n AND i < 1000 DO CALL {bodies}.nothing(); SET i = i + 1; END WHILE");
        let strike = format!(
            "PROCEDURE strike(n BIGINT) SQL SECURITY DEFINER
             BEGIN DECLARE i INT; SELECT token INTO @token FROM {bodies}.loot; {until}; {define}; END"
        );
        owned(&db, &alice, &strike).await;
        for (way, insert) in &ways {
            for offset in -4..=4 {
                let mut conn = Conn::new(db.options(&bob)).await.expect("Bob may log in");
                let id = conn.id();
                for _ in 0..12 {
                    conn.query_drop(format!("CALL {bodies}.nothing()")).await.expect("nothing");
                }
                conn.query_drop(format!("CALL {bodies}.issue()")).await.expect("a token");
                let _ = conn.query_drop(insert).await;
                let n: Option<Option<i64>> =
                    conn.query_first(format!("SELECT MAX(calls) + ({offset}) FROM {bodies}.loot")).await.expect("a number");
                assert!(conn.reset().await.expect("a connection can be reset"), "the server can reset a connection");
                assert_eq!(conn.id(), id);
                match conn.query_drop(format!("CALL {bodies}.strike({})", n.flatten().expect("a number"))).await {
                    Err(Error::Server(error)) => assert_eq!(error.code, 45004, "{way}, {offset}: {error}"),
                    other => panic!("Alice acts as Bob by {way}, {offset}: {other:?}"),
                }
            }
        }
        assert_eq!(jobs(&db).await, [(bob.user, "x".into())]);
    });
}

#[test]
fn a_ticket_serves_one_call() {
    each(|db| async move {
        let (_, bob) = town(&db).await;
        let mut session = db.login(&bob).await;
        session.run("CALL job$ticket(@token)").await;
        assert_eq!(session.rows("CALL job$_overview(@token, NULL)").await.len(), 1);
        assert_eq!(session.error("CALL job$_overview(@token, NULL)").await.0, 45004);
        // Nor after it was committed, which no routine of jobctl does.
        session.run("CALL job$ticket(@token)").await;
        session.run("COMMIT").await;
        assert_eq!(session.error("CALL job$_overview(@token, NULL)").await.0, 45004);
    });
}

#[test]
fn a_ticket_of_another_connection_is_refused() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        for other in [&alice, &bob] {
            let (mut first, mut second) = (db.login(&bob).await, db.login(other).await);
            first.run("CALL job$ticket(@token)").await;
            let token = first.one("SELECT @token").await;
            second.run(&format!("SET @token = '{token}'")).await;
            second.run("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED").await;
            for committed in [false, true] {
                if committed {
                    first.run("COMMIT").await;
                }
                for (routine, call) in ticketed(&db, "@token") {
                    assert_eq!(second.error(&call).await.0, 45004, "{routine}, committed: {committed}");
                }
            }
            // Nor does it help to insert it oneself.
            let _ = second.attempt("INSERT INTO job_ticket (ticket_token) VALUES (REVERSE(@token)), (LEFT(@token, 63))").await;
            for token in ["@token", "REVERSE(@token)", "LEFT(@token, 63)"] {
                for (routine, call) in ticketed(&db, token) {
                    assert_eq!(second.error(&call).await.0, 45004, "{routine}");
                }
            }
        }
        assert_eq!(jobs(&db).await, [(bob.user, "x".into())]);
    });
}

#[test]
fn a_token_that_was_not_issued_is_refused() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        for account in [&alice, &bob] {
            let mut session = db.login(account).await;
            for token in [
                "NULL",
                "''",
                "' '",
                "'0'",
                "REPEAT('0', 64)",
                "SHA2(CONNECTION_ID(), 256)",
                "SHA2('', 256)",
                "SHA2(NULL, 256)",
            ] {
                for (routine, call) in ticketed(&db, token) {
                    assert_eq!(session.error(&call).await.0, 45004, "{routine} {token}");
                    session.run("START TRANSACTION").await;
                    let _ = session.attempt(&format!("INSERT INTO job_ticket (ticket_token) VALUES ({token})")).await;
                    assert_eq!(session.error(&call).await.0, 45004, "{routine} {token}, inserted");
                }
            }
        }
        assert_eq!(holdings(&db, &bob).await, before);
    });
}

#[test]
fn the_account_in_a_ticket_cannot_be_written() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let mut session = db.login(&alice).await;
        session.run("CALL job$token(@token)").await;
        let account = format!("'{}@%'", bob.user);
        // 1143 for a column, 1142 for the table.
        for (sql, codes) in [
            (format!("INSERT INTO job_ticket (ticket_token, ticket_account) VALUES (@token, {account})"), [1143, 1143]),
            ("INSERT INTO job_ticket (ticket_token, ticket_connection_id) VALUES (@token, 1)".into(), [1143, 1143]),
            ("INSERT INTO job_ticket SELECT * FROM job_ticket".into(), [1142, 1143]),
            ("INSERT INTO job_ticket (ticket_token, ticket_mode) VALUES (@token, NULL)".into(), [1143, 1143]),
            (
                format!(
                    "INSERT INTO job_ticket (ticket_token) VALUES (@token) ON DUPLICATE KEY UPDATE ticket_account = {account}"
                ),
                [1142, 1143],
            ),
            ("REPLACE INTO job_ticket (ticket_token) VALUES (@token)".into(), [1142, 1142]),
            (format!("UPDATE job_ticket SET ticket_account = {account}"), [1142, 1142]),
            ("DELETE FROM job_ticket".into(), [1142, 1142]),
            ("SELECT * FROM job_ticket".into(), [1142, 1142]),
            ("SELECT ticket_token FROM job_ticket".into(), [1142, 1143]),
            ("TRUNCATE job_ticket".into(), [1142, 1142]),
            ("LOCK TABLES job_ticket WRITE".into(), [1044, 1142]),
            ("CREATE TRIGGER t BEFORE INSERT ON job_ticket FOR EACH ROW SET NEW.ticket_account = 'x'".into(), [1142, 1419]),
            ("ALTER TABLE job_ticket ALTER ticket_account SET DEFAULT 'x'".into(), [1142, 1142]),
            (
                "CREATE TEMPORARY TABLE job_ticket (ticket_token CHAR(64), ticket_account CHAR(99), ticket_connection_id INT)"
                    .into(),
                [1044, 1044],
            ),
        ] {
            let (code, message) = session.error(&sql).await;
            assert!(codes.contains(&code), "{code} {message}: {sql}");
        }
    });
}

#[test]
fn one_owner_cannot_block_the_tickets_of_all_others() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let mut eve = db.login(&alice).await;
        // MariaDB fills an empty table in bulk then, and locks it as a whole.
        eve.run("SET SESSION unique_checks = 0, foreign_key_checks = 0").await;
        eve.run("START TRANSACTION").await;
        let _ = eve.attempt("INSERT INTO job_ticket (ticket_token) VALUES ('x'), ('y')").await;
        let _ = eve.attempt("INSERT INTO job_ticket (ticket_token) SELECT UUID()").await;
        let mut session = db.login(&bob).await;
        session.run("SET SESSION innodb_lock_wait_timeout = 1").await;
        session.run("CALL job$overview(NULL)").await;
        eve.run("ROLLBACK").await;
    });
}

#[test]
fn a_failed_call_leaves_no_ticket_behind() {
    each(|db| async move {
        let (_, bob) = town(&db).await;
        let mut session = db.login(&bob).await;
        session.error("CALL job$drop('none', NULL)").await;
        session.error(r#"CALL job$stop('x', '{"reason": "none"}')"#).await;
        session.run("CALL job$overview(NULL)").await;
        session.run("COMMIT").await;
        let account = format!("{}@%", bob.user);
        let left =
            db.admin().await.number(&format!("SELECT COUNT(*) FROM job_ticket WHERE ticket_account = '{account}'")).await;
        assert_eq!(left, 0);
    });
}
