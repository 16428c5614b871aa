//! Requests that race with the end of a run: none is lost, and what was asked for last holds.
//!
//! Each body signals its end by letting go of two named locks; two askers wait for them and send their requests at once.
//! `JOBCTL_TEST_SEED` replays the requests of a run whose seed was printed; the interleaving is the servers' own.

mod lane;
mod oracle;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::lane::Lane;
use crate::db::Db;
use crate::each::{each, full, join, wait_until};
use crate::session::{literal, name};

const SOON: Duration = Duration::from_secs(30);
/// Jobs that race at the same time on one server.
const LANES: usize = 4;

#[test]
fn requests_that_race_with_the_end_of_a_run_are_never_lost() {
    let (count, least) = (full(200, 40), full(50, 10));
    let seed = seed();
    each(|db| async move {
        let tally = race(&db, count, least, seed).await;
        let server = &db.server().name;
        eprintln!("{server}: {tally:?}, seed {seed}");
        assert!(tally.wrong.is_empty(), "seed {seed}:\n{}", tally.wrong.join("\n"));
        assert!(tally.races >= count, "{} races", tally.races);
        assert!(tally.inside >= least, "only {} of {} landed inside, {least} wanted", tally.inside, tally.races);
    });
}

#[test]
fn a_runner_with_wish_and_state_in_one_column_loses_requests_and_the_race_sees_it() {
    let seed = seed();
    each(|db| async move {
        one_column(&db).await;
        let tally = race(&db, 120, 0, seed).await;
        eprintln!("{}: {} wrong of {}, such as {:?}", db.server().name, tally.wrong.len(), tally.races, tally.wrong.first());
        assert!(!tally.wrong.is_empty(), "the race cannot fail: {tally:?}, seed {seed}");
    });
}

#[test]
fn a_pause_during_the_last_run_that_may_fail_stays_a_pause() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("gate", "(open INT PRIMARY KEY)").await;
        db.body("fail", "BEGIN WHILE (SELECT COUNT(*) FROM gate) = 0 DO DO SLEEP(0.02); END WHILE; SELECT * FROM nothing; END")
            .await;
        let mut admin = db.admin().await;
        let mut session = db.login(&bob).await;
        for (job, plain) in [("by request", false), ("by update", true)] {
            db.define(&bob, job, "fail", "0.2", r#", "max_failures": 1"#).await;
            let named = format!("WHERE job_name = {}", literal(job));
            let runner = db.runner(&bob, job).await;
            let state = format!("SELECT job_status, job_runner_status, job_failures FROM job {named}");
            wait_until("it runs", SOON, async || admin.row(&state).await == ["ENABLED", "RUNNING", "0"]).await;
            if plain {
                admin.run(&format!("UPDATE job SET job_status = 'PAUSED' {named}")).await;
            } else {
                session.run(&format!("CALL job$pause({}, NULL)", literal(job))).await;
            }
            admin.run(&format!("INSERT INTO {}.gate VALUES (1)", name(db.bodies()))).await;
            wait_until("it pauses", SOON, async || admin.row(&state).await == ["PAUSED", "PAUSED", "1"]).await;
            let errors = format!("SELECT COUNT(*) FROM job_event {named} AND event_to = 'ERROR'");
            assert_eq!(admin.number(&errors).await, 0, "{job}");
            let failed = format!("SELECT COUNT(*) FROM job_run {named} AND outcome = 'ERROR'");
            assert_eq!(admin.number(&failed).await, 1, "{job}");
            assert!(!runner.ended(), "{job}: a paused runner stays");
            session.run(&format!("CALL job$resume({}, NULL)", literal(job))).await;
            let message = runner.message().await;
            assert!(message.starts_with("The job procedure failed 2 times in a row"), "{job}: {message}");
            assert_eq!(admin.row(&state).await, ["ERROR", "NULL", "2"], "{job}");
            let events = format!("SELECT event_from, event_to FROM job_event {named} AND event_to = 'ERROR'");
            assert_eq!(admin.rows(&events).await, [["ENABLED", "ERROR"]], "{job}");
            admin.run(&format!("DELETE FROM {}.gate", name(db.bodies()))).await;
        }
    });
}

/// What came of the races on one server.
#[derive(Debug, Default)]
struct Tally {
    races: usize,
    /// A request that changed something reached the server after the body's last statement and before the closing write's end.
    inside: usize,
    /// It had written before the closing write began to.
    first: usize,
    /// It reached the server before the closing write, and wrote after it.
    waited: usize,
    requests: usize,
    refused: usize,
    /// Runs whose failure was the one too many.
    failing: usize,
    /// Of these: runs that ended with ERROR.
    errors: usize,
    wrong: Vec<String>,
}

/// `count` races, on several jobs at the same time, and some more where fewer than `least` have landed inside. A job on which
/// something went wrong races no more.
async fn race(db: &Db, count: usize, least: usize, seed: u64) -> Tally {
    let bob = db.account("bob").await;
    db.table("gate", "(lane INT PRIMARY KEY, step INT NOT NULL, failing INT NOT NULL, said DATETIME(6))").await;
    let lanes = (0..LANES).map(|lane| {
        let (db, bob) = (db.clone(), bob.clone());
        let (share, inside) = (count.div_ceil(LANES), least.div_ceil(LANES));
        async move {
            let mut tally = Tally::default();
            let mut lane = Lane::new(&db, &bob, lane, seed).await;
            while tally.wrong.is_empty() && (tally.races < share || tally.inside < inside && tally.races < 4 * share) {
                lane.race(&mut tally).await;
            }
            tally
        }
    });
    let mut sum = Tally::default();
    for tally in join(lanes.collect()).await {
        sum.races += tally.races;
        sum.inside += tally.inside;
        sum.first += tally.first;
        sum.waited += tally.waited;
        sum.requests += tally.requests;
        sum.refused += tally.refused;
        sum.failing += tally.failing;
        sum.errors += tally.errors;
        sum.wrong.extend(tally.wrong);
    }
    sum
}

/// Makes the end of a cycle write the status, as the founding design writes SLEEPING: nothing else differs.
async fn one_column(db: &Db) {
    let mut admin = db.admin().await;
    let made = admin.row("SHOW CREATE PROCEDURE job$_record").await[2].clone();
    let broken = made.replacen("SET job_run_open = NULL,", "SET job_run_open = NULL, job_status = 'ENABLED',", 1);
    assert_ne!(made, broken);
    admin.run("DROP PROCEDURE job$_record").await;
    admin.run(&broken).await;
}

/// The seed of this run, or the one to replay.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let seed = std::env::var("JOBCTL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
    eprintln!("JOBCTL_TEST_SEED={seed}");
    seed
}
