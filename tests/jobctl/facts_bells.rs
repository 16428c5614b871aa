//! What the servers do with locks that serve as bells, as far as jobctl depends on it.
//!
//! A runner waits for `bell.n`, which somebody holds who rings by taking `bell.n+1` and then releasing `bell.n`.
//!
//! Not here: the cost of a thousand idle runners, which is a measurement; and what was found not to work (one bell that is released
//! and taken back, waking a `SLEEP` by `KILL QUERY`), since nothing depends on it. That a frozen controller holds its locks, which
//! is why there is a heartbeat, is seen in `cli::bells`.

use std::time::{Duration, Instant};

use mysql_async::Error;

use crate::db::{Account, Db};
use crate::each::{each, full, join, wait_until};
use crate::runner::Runner;
use crate::session::Session;

const SOON: Duration = Duration::from_secs(30);
/// Anything that happens at once, on a noisy machine.
const AT_ONCE: Duration = Duration::from_secs(5);

/// A waiter that notes each bell it hears, and is busy for up to 2 ms after each; it ends after bell `last`.
fn listens(db: &Db, last: usize) -> String {
    format!(
        "BEGIN
            DECLARE v_bell, v_turns INT DEFAULT 1;
            WHILE v_bell <= {last} DO
                SET v_turns = v_turns + 1;
                IF GET_LOCK(CONCAT('{0}', v_bell), 6) = 1 THEN
                    DO RELEASE_LOCK(CONCAT('{0}', v_bell));
                    INSERT INTO heard VALUES (v_bell);
                    SET v_bell = v_bell + 1;
                    DO SLEEP(RAND() * 0.002);
                END IF;
            END WHILE;
        END",
        bell(db)
    )
}

/// What the names of this schema's bells begin with; with a number, at most 64 characters.
fn bell(db: &Db) -> String {
    db.schema().chars().rev().take(40).collect()
}

async fn hold(session: &mut Session, db: &Db, n: usize) {
    // Its last holder may still be about to leave.
    assert_eq!(session.one(&format!("SELECT GET_LOCK('{}{n}', 10)", bell(db))).await, "1");
}

async fn all_wait(admin: &mut Session, ids: &[u32]) {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let waits =
        format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id IN ({}) AND state = 'User lock'", ids.join(", "));
    wait_until("all wait", SOON, async || admin.number(&waits).await == i64::try_from(ids.len()).expect("few")).await;
}

#[test]
fn no_ring_is_lost_and_none_is_heard_twice() {
    let rings = full(1000, 150);
    each(move |db| async move {
        let bob = db.stranger("bob").await;
        db.table("heard", "(bell INT)").await;
        db.body("listens", &listens(&db, rings)).await;
        let (mut admin, mut ringer) = (db.admin().await, db.admin().await);
        hold(&mut ringer, &db, 1).await;
        let waiter = Runner::call(db.login(&bob).await, format!("CALL `{}`.listens()", db.bodies()));
        all_wait(&mut admin, &[waiter.id]).await;
        for n in 1..=rings {
            // One statement: nobody sees a moment without a bell that is held.
            let ring = format!("SELECT GET_LOCK('{0}{1}', 0), RELEASE_LOCK('{0}{n}')", bell(&db), n + 1);
            assert_eq!(ringer.row(&ring).await, ["1", "1"], "{n}");
        }
        waiter.outcome().await.expect("it hears the last one");
        let heard = format!("SELECT COUNT(*), COUNT(DISTINCT bell), MAX(bell) FROM `{}`.heard", db.bodies());
        assert_eq!(admin.row(&heard).await, [rings.to_string(), rings.to_string(), rings.to_string()]);
    });
}

#[test]
fn all_who_wait_wake_at_once_when_the_connection_of_the_bells_is_cut() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let mut admin = db.admin().await;
        for killed in [false, true] {
            let mut ringer = db.admin().await;
            let mut waiters = Vec::new();
            for n in 0..20 {
                hold(&mut ringer, &db, n).await;
                let wait = format!("SELECT GET_LOCK('{}{n}', 600)", bell(&db));
                waiters.push(Runner::call(db.login(&bob).await, wait));
            }
            all_wait(&mut admin, &waiters.iter().map(|waiter| waiter.id).collect::<Vec<_>>()).await;
            let begun = Instant::now();
            if killed {
                admin.run(&format!("KILL {}", ringer.id())).await;
            } else {
                drop(ringer);
            }
            for woken in join(waiters.into_iter().map(Runner::outcome).collect()).await {
                assert_eq!(woken.expect("it wakes")[0][0][0], "1");
            }
            assert!(begun.elapsed() < AT_ONCE, "killed {killed}: {:?}", begun.elapsed());
        }
    });
}

/// A session that waits for a lock while holding another.
async fn holds_and_waits(db: &Db, bob: &Account, holds: usize, sql: &str) -> Runner {
    let mut session = db.login(bob).await;
    hold(&mut session, db, holds).await;
    Runner::call(session, sql.to_owned())
}

#[test]
fn a_deadlock_of_locks_is_an_error_that_do_swallows_on_mariadb() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let mut admin = db.admin().await;
        let code = if db.mariadb() { 1213 } else { 3058 };
        for (way, seen) in [("SELECT", true), ("DO", !db.mariadb())] {
            let mut session = db.login(&bob).await;
            hold(&mut session, &db, 1).await;
            let waiter = holds_and_waits(&db, &bob, 2, &format!("{way} GET_LOCK('{}1', 600)", bell(&db))).await;
            all_wait(&mut admin, &[waiter.id]).await;
            // Whoever is the victim, the other gets on once it is gone.
            let closer = Runner::call(session, format!("{way} GET_LOCK('{}2', 600)", bell(&db)));
            let outcomes = join(vec![waiter.outcome(), closer.outcome()]).await;
            let victims = outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::Server(error)) if error.code == code));
            assert_eq!(victims.count(), usize::from(seen), "{way}: {outcomes:?}");
        }
    });
}

#[test]
fn a_deadlock_of_a_lock_and_a_row_is_not_noticed() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("t", "(id INT PRIMARY KEY)").await;
        let (mut admin, mut session) = (db.admin().await, db.login(&bob).await);
        session.run(&format!("INSERT INTO `{}`.t VALUES (1)", db.bodies())).await;
        session.run("START TRANSACTION").await;
        session.run(&format!("UPDATE `{}`.t SET id = 2", db.bodies())).await;
        let mut holder = db.login(&bob).await;
        hold(&mut holder, &db, 1).await;
        let waiter = Runner::call(session, format!("SELECT GET_LOCK('{}1', 600)", bell(&db)));
        all_wait(&mut admin, &[waiter.id]).await;
        holder.run("SET SESSION innodb_lock_wait_timeout = 1").await;
        // A deadlock would be 1213; this is just patience that ended.
        assert_eq!(holder.error(&format!("UPDATE `{}`.t SET id = 3", db.bodies())).await.0, 1205);
        assert!(!waiter.ended());
        holder.run(&format!("DO RELEASE_LOCK('{}1')", bell(&db))).await;
        assert_eq!(waiter.outcome().await.expect("it gets the lock")[0][0][0], "1");
    });
}
