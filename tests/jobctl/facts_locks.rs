//! What the servers do with named locks, as far as jobctl depends on it.

use std::time::Duration;

use mysql_async::Error;

use crate::db::Db;
use crate::each::{each, each_private, wait_until};
use crate::servers::Private;

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
