//! What the servers do with named locks, as far as jobctl depends on it.
//!
//! Not here: that every member of a replication group grants the same lock (a group takes half a minute to form; a single read-only
//! server shows the same), that Percona XtraDB Cluster forbids `GET_LOCK`, that Galera does not support it across nodes, and that
//! a proxy may move a session: none of these servers is part of the test bench.

use std::time::{Duration, Instant};

use mysql_async::Error;

use crate::db::{Account, Db};
use crate::each::{each, each_private, wait_until};
use crate::runner::Runner;
use crate::servers::Private;
use crate::session::Session;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_lock_name_of_64_characters_works_and_a_longer_one_may_not() {
    each(|db| async move {
        let mut session = db.admin().await;
        let take = |n: usize| format!("SELECT GET_LOCK(CONCAT(SHA2('{}', 256), REPEAT('x', {n})), 0)", db.schema());
        assert_eq!(session.one(&take(0)).await, "1");
        if db.mariadb() {
            assert_eq!(session.one(&take(1)).await, "1");
        } else {
            assert_eq!(session.error(&take(1)).await.0, 4163);
        }
    });
}

#[test]
fn the_case_of_a_lock_name_matters_on_mariadb_alone() {
    each(|db| async move {
        let mut session = db.admin().await;
        session.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        let upper = session.one(&format!("SELECT IS_USED_LOCK(UPPER('{}'))", db.schema())).await;
        assert_eq!(upper, if db.mariadb() { "NULL".into() } else { session.id().to_string() });
    });
}

#[test]
fn a_lock_without_a_name_is_refused() {
    each(|db| async move {
        let mut session = db.admin().await;
        for name in ["''", "NULL"] {
            match session.attempt(&format!("SELECT GET_LOCK({name}, 0)")).await {
                Ok(sets) if db.mariadb() => assert_eq!(sets[0][0][0], "NULL"),
                Err(Error::Server(error)) if !db.mariadb() => assert_eq!(error.code, 3057),
                other => panic!("{name}: {other:?}"),
            }
        }
    });
}

#[test]
fn a_lock_taken_twice_needs_two_releases() {
    each(|db| async move {
        let mut session = db.admin().await;
        let of = |function: &str, rest: &str| format!("SELECT {function}('{}'{rest})", db.schema());
        for _ in 0..2 {
            assert_eq!(session.one(&of("GET_LOCK", ", 0")).await, "1");
        }
        assert_eq!(session.one(&of("RELEASE_LOCK", "")).await, "1");
        assert_eq!(session.one(&of("IS_USED_LOCK", "")).await, session.id().to_string());
        assert_eq!(session.one(&of("RELEASE_LOCK", "")).await, "1");
        assert_eq!(session.one(&of("IS_USED_LOCK", "")).await, "NULL");
        assert_eq!(session.one(&of("RELEASE_LOCK", "")).await, "NULL");
    });
}

#[test]
fn any_account_may_take_any_lock_and_release_none_of_others() {
    each(|db| async move {
        let (one, two) = (db.stranger("one").await, db.stranger("two").await);
        let (mut one, mut two) = (db.login(&one).await, db.login(&two).await);
        let of = |function: &str, rest: &str| format!("SELECT {function}('{}'{rest})", db.schema());
        assert_eq!(one.one(&of("GET_LOCK", ", 0")).await, "1");
        assert_eq!(two.one(&of("GET_LOCK", ", 0")).await, "0");
        assert_eq!(two.one(&of("RELEASE_LOCK", "")).await, "0");
        two.run("DO RELEASE_ALL_LOCKS()").await;
        assert_eq!(two.one(&of("IS_USED_LOCK", "")).await, one.id().to_string());
    });
}

#[test]
fn a_lock_is_free_soon_after_its_holder_was_killed_or_cut() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let mut admin = db.admin().await;
        let held = format!("SELECT COALESCE(IS_USED_LOCK('{}'), 0)", db.schema());
        for kill in [true, false] {
            let mut session = db.login(&bob).await;
            session.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
            let id = session.id();
            assert_eq!(admin.one(&held).await, id.to_string());
            if kill {
                admin.run(&format!("KILL {id}")).await;
            } else {
                session.close().await;
            }
            wait_until("the lock is free", SOON, async || admin.one(&held).await == "0").await;
        }
    });
}

#[test]
fn a_read_only_server_gives_locks_and_takes_no_writes() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let db = Db::empty(&private.server, "read_only").await;
        let bob = db.stranger("bob").await;
        db.table("t", "(id INT)").await;
        db.admin().await.run("SET GLOBAL read_only = 1").await;
        let mut session = db.login(&bob).await;
        assert_eq!(session.one("SELECT GET_LOCK('x', 0)").await, "1");
        assert_eq!(session.error(&format!("INSERT INTO `{}`.t VALUES (1)", db.bodies())).await.0, 1290);
        assert!(["1", "ON"].contains(&session.one("SELECT @@GLOBAL.read_only").await.as_str()));
        drop(private);
    });
}

#[test]
fn a_session_holds_many_locks_and_a_procedure_can_release_them_all() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.body("free", "DO RELEASE_ALL_LOCKS()").await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        for n in 0..50 {
            assert_eq!(session.one(&format!("SELECT GET_LOCK('{}{n}', 0)", &db.schema()[2..])).await, "1");
        }
        let held: Vec<_> = (0..50).map(|n| format!("(IS_USED_LOCK('{}{n}') IS NOT NULL)", &db.schema()[2..])).collect();
        let held = format!("SELECT {}", held.join(" + "));
        assert_eq!(admin.one(&held).await, "50");
        session.run(&format!("CALL `{}`.free()", db.bodies())).await;
        assert_eq!(admin.one(&held).await, "0");
    });
}

#[test]
fn a_lock_is_free_without_a_word_when_its_holder_idles_too_long() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        session.run("SET SESSION wait_timeout = 1").await;
        session.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        let held = format!("SELECT COALESCE(IS_USED_LOCK('{}'), 0)", db.schema());
        assert_eq!(admin.one(&held).await, session.id().to_string());
        wait_until("the lock is free", SOON, async || admin.one(&held).await == "0").await;
        assert!(session.attempt("DO 0").await.is_err());
    });
}

#[test]
fn the_timeout_of_get_lock_is_in_whole_seconds_on_mysql() {
    each(|db| async move {
        let (mut admin, mut session) = (db.admin().await, db.admin().await);
        admin.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        for (asked, mysql) in [(300_000, 0), (600_000, 1_000_000)] {
            let wait = format!(
                "SELECT GET_LOCK('{}', {asked} / 1000000), TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))",
                db.schema()
            );
            let mut shortest = i64::MAX;
            for _ in 0..3 {
                let row = session.row(&wait).await;
                assert_eq!(row[0], "0");
                shortest = shortest.min(row[1].parse().expect("a number"));
            }
            let expected = if db.mariadb() { asked } else { mysql };
            // A clock of milliseconds may end it a little early.
            assert!((expected - 20_000..expected + 250_000).contains(&shortest), "{asked}: {shortest}");
        }
    });
}

/// A session that waits for the lock of the schema's name, which another holds.
async fn waiting(db: &Db, bob: &Account, sql: &str) -> (Session, Session, Runner) {
    let (mut admin, mut holder) = (db.admin().await, db.admin().await);
    // Its last holder may still be about to leave.
    assert_eq!(holder.one(&format!("SELECT GET_LOCK('{}', 10)", db.schema())).await, "1");
    let waiter = Runner::call(db.login(bob).await, sql.to_owned());
    let state = waits("id", &waiter.id.to_string());
    wait_until("it waits", SOON, async || admin.number(&state).await == 1).await;
    (admin, holder, waiter)
}

fn waits(column: &str, value: &str) -> String {
    format!("SELECT COUNT(*) FROM information_schema.processlist WHERE {column} = '{value}' AND state = 'User lock'")
}

#[test]
fn the_release_of_a_lock_wakes_a_waiter_at_once() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let mut fastest = Duration::MAX;
        for _ in 0..5 {
            let (_admin, mut holder, waiter) = waiting(&db, &bob, &format!("SELECT GET_LOCK('{}', 600)", db.schema())).await;
            let begun = Instant::now();
            holder.run(&format!("DO RELEASE_LOCK('{}')", db.schema())).await;
            assert_eq!(waiter.outcome().await.expect("it gets the lock")[0][0][0], "1");
            fastest = fastest.min(begun.elapsed());
        }
        assert!(fastest < Duration::from_millis(250), "{fastest:?}");
    });
}

/// A body that waits for the lock by a statement, and notes what it got; `handler` may catch the kill.
fn patient(db: &Db, how: &str, handler: &str) -> String {
    format!(
        "BEGIN DECLARE v_got INT DEFAULT -1; {handler} {}; INSERT INTO answer VALUES (COALESCE(v_got, 'NULL')); END",
        how.replace("GET_LOCK", &format!("GET_LOCK('{}', 600)", db.schema()))
    )
}

/// How a killed call ended (0: without an error), and what its body noted.
type Ending = (u16, &'static [&'static str]);

#[test]
fn a_kill_of_a_waiting_get_lock_can_be_caught_unless_a_variable_is_set_to_it_in_the_same_procedure() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("answer", "(what VARCHAR(64))").await;
        let handler = "DECLARE CONTINUE HANDLER FOR 1317 INSERT INTO answer VALUES ('1317');";
        db.body("bell", &format!("BEGIN DECLARE v_got INT; SET v_got = GET_LOCK('{}', 600); END", db.schema())).await;
        // The way to wait; how it ends on MySQL without a handler and with one, and the same on MariaDB.
        let ways: [(&str, [[Ending; 2]; 2]); 4] = [
            ("SET v_got = GET_LOCK", [[(1317, &[]), (1317, &[])], [(1317, &[]), (1317, &[])]]),
            ("CALL bell()", [[(1317, &[]), (0, &["1317", "-1"])], [(1317, &[]), (0, &["1317", "-1"])]]),
            ("SELECT GET_LOCK INTO v_got", [[(1317, &[]), (0, &["1317", "NULL"])], [(0, &["NULL"]), (0, &["NULL"])]]),
            ("DO GET_LOCK", [[(1317, &[]), (0, &["1317", "-1"])], [(0, &["-1"]), (0, &["-1"])]]),
        ];
        for (way, (how, endings)) in ways.into_iter().enumerate() {
            for (handled, handler) in ["", handler].into_iter().enumerate() {
                let body = format!("wait{way}{handled}");
                db.body(&body, &patient(&db, how, handler)).await;
                let (mut admin, _holder, waiter) = waiting(&db, &bob, &format!("CALL `{}`.{body}()", db.bodies())).await;
                admin.run(&format!("KILL QUERY {}", waiter.id)).await;
                let code = match waiter.outcome().await {
                    Err(Error::Server(error)) => error.code,
                    outcome => outcome.map(|_| 0).expect("the session stays"),
                };
                let noted = admin.rows(&format!("SELECT what FROM `{}`.answer", db.bodies())).await.concat();
                let expected = endings[usize::from(db.mariadb())][handled];
                assert_eq!(
                    (code, noted),
                    (expected.0, expected.1.iter().map(ToString::to_string).collect()),
                    "{how} {handler}"
                );
                admin.run(&format!("DELETE FROM `{}`.answer", db.bodies())).await;
            }
        }
    });
}

#[test]
fn a_waiting_get_lock_notices_within_seconds_that_its_client_died() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("answer", "(what VARCHAR(64))").await;
        db.body("plain", &patient(&db, "SELECT GET_LOCK INTO v_got", "")).await;
        let (mut admin, mut holder) = (db.admin().await, db.admin().await);
        holder.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        let mut client = db.doomed(&bob, &format!("CALL `{}`.plain()", db.bodies()));
        let state = waits("user", &bob.user);
        wait_until("it waits", SOON, async || admin.number(&state).await == 1).await;
        client.kill().await.expect("it lives");
        let sessions = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}'", bob.user);
        wait_until("its session has ended", SOON, async || admin.number(&sessions).await == 0).await;
        // MySQL ends the call; on MariaDB it looks like a timeout, and the procedure goes on.
        let seen = admin.rows(&format!("SELECT what FROM `{}`.answer", db.bodies())).await.concat();
        assert_eq!(seen, if db.mariadb() { &["0"][..] } else { &[] });
    });
}

#[test]
fn the_lock_of_a_killed_session_is_free_only_after_its_rollback() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("many", "(id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100))").await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        session.run(&format!("USE `{}`", db.bodies())).await;
        session.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        session.run("START TRANSACTION").await;
        session.run("INSERT INTO many (text) VALUES (REPEAT('x', 100))").await;
        for _ in 0..16 {
            session.run("INSERT INTO many (text) SELECT text FROM many").await;
        }
        admin.run(&format!("KILL {}", session.id())).await;
        let held = format!("SELECT IS_USED_LOCK('{}') IS NOT NULL", db.schema());
        let mut looks = 0;
        while admin.one(&held).await == "1" {
            looks += 1;
        }
        assert!(looks > 0, "the rollback takes its time");
        let rows = format!("SELECT COUNT(*) FROM `{}`.many FOR UPDATE NOWAIT", db.bodies());
        assert_eq!(admin.one(&rows).await, "0", "no row is locked any more");
    });
}
