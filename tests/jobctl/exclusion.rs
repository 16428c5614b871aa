//! Never two at once: one runner of a job, whoever asks, however many at a time.

use std::time::Duration;

use crate::db::Db;
use crate::each::{each, full, join, wait_until};
use crate::runner::Runner;
use crate::session::name;

const SOON: Duration = Duration::from_secs(30);

#[test]
fn of_twenty_runners_started_at_once_one_runs_and_nineteen_say_who() {
    let rounds = full(40, 4);
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut admin = db.admin().await;
        for round in 1..=rounds {
            let sessions = join((0..20).map(|_| db.login(&bob)).collect()).await;
            let runners: Vec<_> = sessions.into_iter().map(|session| Runner::start(session, db.schema(), "x")).collect();
            wait_until("nineteen end", SOON, async || runners.iter().filter(|runner| runner.ended()).count() >= 19).await;
            let (winner, losers): (Vec<_>, Vec<_>) = runners.into_iter().partition(|runner| !runner.ended());
            assert_eq!(winner.len(), 1, "one runs");
            let expected = format!("Already run by connection {}", winner[0].id);
            for loser in losers {
                let message = loser.message().await;
                assert!(message == expected || message.starts_with(&format!("{expected} from ")), "{expected}: {message}");
            }
            // The others are refused by its lock, before its takeover is committed.
            let runner = winner[0].id.to_string();
            wait_until("it took over", SOON, async || admin.one("SELECT job_runner_connection_id FROM job").await == runner)
                .await;
            let starts = admin.number("SELECT COUNT(*) FROM job_event WHERE event_kind = 'RUNNER_START'").await;
            assert_eq!(starts, i64::try_from(round).unwrap(), "who is refused changes nothing");
            admin.run(&format!("KILL {}", winner[0].id)).await;
            lock_is_free(&db).await;
        }
    });
}

async fn lock_is_free(db: &Db) {
    let mut admin = db.admin().await;
    wait_until("the lock is free", SOON, async || {
        admin.one("SELECT status FROM job_overview").await == "LOST"
            || admin.one("SELECT status FROM job_overview").await == "ENABLED"
    })
    .await;
}

#[test]
fn two_accounts_of_one_user_name_exclude_each_other() {
    each(|db| async move {
        let anywhere = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&anywhere, "x", "hello", "3600", "").await;
        let mut first = db.login(&anywhere).await;
        assert_eq!(first.one("SELECT CURRENT_USER()").await, format!("{}@%", anywhere.user));
        // The same user name at exactly this host is another account, and from now on the one that matches.
        let host = first.one("SELECT SUBSTRING_INDEX(USER(), '@', -1)").await;
        let here = db.stranger_at(&anywhere.user, &host).await;
        db.own(&here).await;
        let mut second = db.login(&here).await;
        assert_eq!(second.one("SELECT CURRENT_USER()").await, format!("{}@{host}", anywhere.user));
        let mut admin = db.admin().await;
        let runner = Runner::start(first, db.schema(), "x");
        wait_until("it sleeps", SOON, async || admin.one("SELECT status FROM job_overview").await == "SLEEPING").await;
        let sets = second.attempt("CALL job$run('x')").await.unwrap();
        assert_eq!(sets[0][0][1], format!("Already run by connection {} from {host}", runner.id));
        second.run("CALL job$get_lock('x', @status, @by)").await;
        assert_eq!(second.row("SELECT @status, @by").await, ["0", &runner.id.to_string()]);
        second.run("CALL job$release_lock('x', @status, @by)").await;
        assert_eq!(second.row("SELECT @status, @by").await, ["0", &runner.id.to_string()]);
        let (code, _) = second
            .error(&format!(
                "CALL job$define('x', '{{\"schema\": \"{}\", \"procedure\": \"hello\", \"every\": 1}}')",
                db.bodies()
            ))
            .await;
        assert_eq!(code, 45004, "they are one owner, and it has an x already");
    });
}

#[test]
fn a_runner_and_a_holder_of_the_lock_in_one_session_are_never_both() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("said", "(status INT, locked_by BIGINT, released INT)").await;
        // The body of a job tries to take and to free the lock of its own runner.
        let schema = name(db.schema());
        db.body(
            "grab",
            &format!(
                "BEGIN DECLARE s, r INT; DECLARE b BIGINT; DECLARE CONTINUE HANDLER FOR 45004 SET r = -1; \
                 CALL {schema}.job$get_lock('x', s, b); CALL {schema}.job$release_lock('x', r, b); \
                 INSERT INTO said VALUES (s, b, r); END"
            ),
        )
        .await;
        db.define(&bob, "x", "grab", "0.1", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("a run", SOON, async || {
            admin.number("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('SKIPPED', 'RUNNING')").await > 0
        })
        .await;
        let said = admin.rows(&format!("SELECT status, released FROM {}.said", db.bodies())).await;
        assert_eq!(said[0], ["0", "-1"], "{:?}", admin.rows("SELECT outcome, error_code, error_message FROM job_run").await);
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'LOCK_LOST'").await, "0");
        let message = db.runner(&bob, "x").await.message().await;
        assert!(message.starts_with(&format!("Already run by connection {}", runner.id)), "{message}");
    });
}

#[test]
fn a_stranger_cannot_learn_or_take_the_lock_of_a_job() {
    each(|db| async move {
        let (bob, eve, mallory) = (db.account("bob").await, db.stranger("eve").await, db.account("mallory").await);
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "3600", "").await;
        let mut admin = db.admin().await;
        let schema = name(db.schema());
        let mut stranger = db.login(&eve).await;
        let mut owner = db.login(&mallory).await;
        let tables = admin.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()").await;
        assert!(tables.len() >= 9);
        for table in &tables {
            for session in [&mut stranger, &mut owner] {
                let (code, message) = session.error(&format!("SELECT * FROM {schema}.{}", name(&table[0]))).await;
                assert!([1142, 1143].contains(&code), "{}: {code} {message}", table[0]);
            }
        }
        let calls = "SELECT r.routine_name, COALESCE(GROUP_CONCAT(IF(p.parameter_mode = 'IN', 'NULL', '@out') ORDER BY p.ordinal_position), '') \
             FROM information_schema.routines r LEFT JOIN information_schema.parameters p \
             ON p.specific_schema = r.routine_schema AND p.specific_name = r.specific_name \
             WHERE r.routine_schema = DATABASE() GROUP BY r.routine_name";
        let calls = admin.rows(calls).await;
        assert!(calls.len() >= 30);
        for call in &calls {
            let sql = format!("CALL {schema}.{}({})", name(&call[0]), call[1]);
            let (code, message) = stranger.error(&sql).await;
            assert_eq!(code, 1370, "{}: {message}", call[0]);
        }
        // An owner has no use for the routine that makes lock names.
        let (code, _) = owner.error(&format!("CALL {schema}.job$_lock_name('job', 1, @out)")).await;
        assert_eq!(code, 1370);
        let (code, _) = owner.error(&format!("CALL {schema}.job$get_lock('x', @status, @by)")).await;
        assert_eq!(code, 45003, "she owns no x");
        // What a stranger may do on any server: take locks of guessed names. None of them is the lock of a job.
        let id = admin.one("SELECT job_id FROM job").await;
        for guess in ["x".to_owned(), format!("job{id}"), format!("{}.x", db.schema()), format!("{}.x", bob.user)] {
            stranger.run(&format!("DO GET_LOCK('{}', 0)", guess.chars().take(64).collect::<String>())).await;
        }
        let runner = db.runner(&bob, "x").await;
        wait_until("it sleeps", SOON, async || admin.one("SELECT status FROM job_overview").await == "SLEEPING").await;
        assert!(!runner.ended());
        // Nor do statements that sleep show one to others.
        let shown = owner.rows("SELECT info FROM information_schema.processlist").await;
        assert!(shown.iter().all(|row| !row[0].contains("GET_LOCK") || row[0].contains("information_schema")), "{shown:?}");
    });
}
