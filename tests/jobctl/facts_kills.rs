//! What the servers do when a working session is killed, as far as jobctl depends on it.

use std::time::Duration;

use mysql_async::Error;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::runner::Runner;
use crate::session::{Session, name};

const SOON: Duration = Duration::from_secs(60);

/// A table of one row, which a session has locked.
async fn locked(db: &Db) -> Session {
    db.table("t", "(id INT PRIMARY KEY)").await;
    let mut holder = db.admin().await;
    holder.run(&format!("INSERT INTO {}.t VALUES (1)", name(db.bodies()))).await;
    holder.run("START TRANSACTION").await;
    holder.run(&format!("UPDATE {}.t SET id = 2", name(db.bodies()))).await;
    holder
}

/// The server's code of an error, 0 without one.
fn code(outcome: Result<Vec<Vec<Vec<String>>>, Error>) -> u16 {
    match outcome {
        Err(Error::Server(error)) => error.code,
        outcome => outcome.map(|_| 0).expect("the session stays"),
    }
}

#[test]
fn a_kill_of_a_statement_ends_the_procedure_on_mysql_and_may_be_caught_on_mariadb() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let _holder = locked(&db).await;
        db.table("answer", "(what VARCHAR(64))").await;
        let mut admin = db.admin().await;
        // What the body is in the middle of, how that can be seen, and whether MariaDB lets a handler catch the kill.
        let works = [
            ("sleep", "SET v_n = SLEEP(600)", "state = 'User sleep'", false),
            (
                "scan",
                "SELECT COUNT(*) INTO v_n FROM information_schema.columns a, information_schema.columns b, information_schema.columns c",
                "info LIKE 'SELECT COUNT%'",
                true,
            ),
            ("row", "UPDATE t SET id = 3", "info LIKE 'UPDATE t%'", true),
        ];
        for (work, statement, visible, caught) in works {
            let body = format!(
                "BEGIN DECLARE v_n INT; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION INSERT INTO answer VALUES ('handled'); \
                 SET SESSION innodb_lock_wait_timeout = 1000; INSERT INTO answer VALUES ('in'); {statement}; \
                 INSERT INTO answer VALUES ('goes on'); END"
            );
            db.body(work, &body).await;
            let working = Runner::call(db.login(&bob).await, format!("CALL {}.{work}()", name(db.bodies())));
            let seen = format!("SELECT what FROM {}.answer", name(db.bodies()));
            wait_until("it is in", SOON, async || !admin.rows(&seen).await.is_empty()).await;
            let at_work =
                format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND {visible}", working.id);
            wait_until(work, SOON, async || admin.number(&at_work).await == 1).await;
            admin.run(&format!("KILL QUERY {}", working.id)).await;
            let code = code(working.outcome().await);
            let seen = admin.rows(&seen).await.concat();
            if caught && db.mariadb() {
                assert_eq!((code, seen), (0, vec!["in".into(), "handled".into(), "goes on".into()]), "{work}");
            } else {
                assert_eq!((code, seen), (1317, vec!["in".into()]), "{work}");
            }
            admin.run(&format!("DELETE FROM {}.answer", name(db.bodies()))).await;
        }
    });
}

/// A call that sleeps, in the rights of `eve` or in those of the caller.
async fn asleep(db: &Db, account: &Account, of_eve: bool) -> Runner {
    let call = format!("CALL {}.{}()", name(db.bodies()), if of_eve { "of_eve" } else { "own" });
    let sleeping = Runner::call(db.login(account).await, call);
    let state =
        format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User sleep'", sleeping.id);
    let mut admin = db.admin().await;
    wait_until("it sleeps", SOON, async || admin.number(&state).await == 1).await;
    sleeping
}

#[test]
fn a_kill_compares_what_both_sessions_are_just_allowed() {
    each(|db| async move {
        let (bob, eve) = (db.stranger("bob").await, db.stranger("eve").await);
        db.body("own", "DO SLEEP(600)").await;
        let mut admin = db.admin().await;
        admin.run(&format!("USE {}", name(db.bodies()))).await;
        admin.run(&format!("CREATE DEFINER = {eve} PROCEDURE of_eve() SQL SECURITY DEFINER DO SLEEP(600)")).await;
        let kill = "kill_by_eve(IN in_id BIGINT) SQL SECURITY DEFINER KILL QUERY in_id";
        admin.run(&format!("CREATE DEFINER = {eve} PROCEDURE {kill}")).await;
        let mut session = db.login(&bob).await;
        for of_eve in [false, true] {
            let sleeping = asleep(&db, &bob, of_eve).await;
            let by_bob = format!("KILL QUERY {}", sleeping.id);
            let by_eve = format!("CALL {}.kill_by_eve({})", name(db.bodies()), sleeping.id);
            // Bob may kill his own session, but not while that is in Eve's code; then only Eve's code may.
            let (may, may_not) = if of_eve { (by_eve, by_bob) } else { (by_bob, by_eve) };
            assert_eq!(session.error(&may_not).await.0, 1095, "{may_not}");
            assert!(!sleeping.ended());
            session.run(&may).await;
            sleeping.outcome().await.expect("its sleep is cut short");
        }
    });
}

#[test]
fn one_privilege_is_enough_to_kill_all_but_system_users_on_mysql() {
    each(|db| async move {
        let (bob, eve) = (db.stranger("bob").await, db.stranger("eve").await);
        db.body("own", "DO SLEEP(600)").await;
        let mut admin = db.admin().await;
        let right = if db.mariadb() { "CONNECTION ADMIN" } else { "CONNECTION_ADMIN" };
        admin.run(&format!("GRANT {right} ON *.* TO {eve}")).await;
        let mut killer = db.login(&eve).await;
        let sleeping = asleep(&db, &bob, false).await;
        killer.run(&format!("KILL QUERY {}", sleeping.id)).await;
        sleeping.outcome().await.expect("its sleep is cut short");
        if !db.mariadb() {
            admin.run(&format!("GRANT SYSTEM_USER ON *.* TO {bob}")).await;
            let sleeping = asleep(&db, &bob, false).await;
            assert_eq!(killer.error(&format!("KILL QUERY {}", sleeping.id)).await.0, 1095);
        }
    });
}

#[test]
fn the_rows_that_a_rollback_has_still_to_undo_can_be_watched() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("many", "(id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100))").await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        session.run(&format!("USE {}", name(db.bodies()))).await;
        session.run("START TRANSACTION").await;
        session.run("INSERT INTO many (text) VALUES (REPEAT('x', 100))").await;
        for _ in 0..17 {
            session.run("INSERT INTO many (text) SELECT text FROM many").await;
        }
        let undo = format!(
            "SELECT trx_rows_modified, trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {}",
            session.id()
        );
        let before: u64 = admin.row(&undo).await[0].parse().expect("a number");
        assert!(before >= 1 << 17, "{before}");
        admin.run(&format!("KILL {}", session.id())).await;
        let mut seen = vec![before];
        while let [row] = &admin.rows(&undo).await[..] {
            let now = row[0].parse().expect("a number");
            assert!(now <= seen[seen.len() - 1], "it only goes down: {seen:?}, {now}");
            if row[1] == "ROLLING BACK" {
                seen.push(now);
            }
            // It counts anew only when it was not asked for 0.1 s.
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        seen.dedup();
        assert!(seen.len() > 1, "{seen:?}");
    });
}
