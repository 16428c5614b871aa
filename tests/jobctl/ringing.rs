//! A storm of rings, while bodies run: each is heard, once, and none hits a body or the bookkeeping.
//!
//! Turns are counted by the server: how often `job$_wait` and `job$_step` were called.

use std::time::Duration;

use crate::db::Db;
use crate::each::{each_private, full, wait_until};
use crate::runner::Runner;
use crate::servers::{Private, Server};
use crate::session::{Session, name};

/// How long all runners may take to hear the last ring.
const HEARD: Duration = Duration::from_secs(60);

/// A storm: so many runners, the interval of their jobs in seconds, and how many rings there are.
struct Storm {
    runners: usize,
    every: &'static str,
    rings: usize,
}

#[test]
fn rings_reach_one_busy_runner_each_and_once() {
    let rings = full(100_000, 3_000);
    each_private(|server| storm(server, Storm { runners: 1, every: "0.01", rings }));
}

#[test]
fn rings_reach_many_runners_each_and_once() {
    let (runners, rings) = (full(1_000, 60), full(100_000, 1_500));
    let every = if runners > 60 { "20" } else { "1" };
    each_private(|server| storm(server, Storm { runners, every, rings }));
}

async fn storm(server: Server, storm: Storm) {
    let private = Private::start(&server.name, &["--performance-schema=ON", "--max-connections=1500"]);
    let db = Db::installed(&private.server, "ringing").await;
    let bob = db.account("bob").await;
    let schema = name(db.schema());
    db.body("nap", "DO SLEEP(RAND() * 0.003)").await;
    let mut admin = db.admin().await;
    let mut bell = db.login(&bob).await;
    for number in 0..storm.runners {
        bell.define(&db, &format!("j{number}"), "nap", "3600", "").await;
    }
    admin
        .run(&format!(
            "UPDATE job SET job_schedule_interval = {0}, job_schedule_start = UTC_TIMESTAMP(6) + INTERVAL (job_id % 100) * {0} * 10000 MICROSECOND",
            storm.every
        ))
        .await;

    let life = bell.row(&format!("CALL {schema}.job$controller('{{\"name\": \"bell\"}}')")).await.remove(1);
    let mut bells: Vec<(String, usize)> =
        admin.rows("SELECT job_id FROM job ORDER BY job_id").await.into_iter().map(|row| (row[0].clone(), 1)).collect();
    ring(&mut bell, &schema, &life, &bells).await;
    let mut runners = Vec::new();
    for number in 0..storm.runners {
        let options = format!("{{\"controller\": \"bell\", \"life\": {life}, \"bell\": 1, \"session_max_age\": 86400}}");
        let call = format!("CALL {schema}.job$run_with('j{number}', '{options}')");
        runners.push(Runner::call(db.login(&bob).await, call));
    }
    let working = "SELECT COUNT(*) FROM job WHERE job_runner_token IS NOT NULL";
    wait_until("all work", HEARD, async || admin.one(working).await == storm.runners.to_string()).await;

    let mut chance = 0x2545_f491_u64;
    for _ in 0..storm.rings {
        // Marsaglia's xorshift: any numbers will do, as long as they are not those of the runners.
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        let number = usize::try_from(chance % storm.runners as u64).expect("as many as there are runners");
        bells[number].1 += 1;
        ring(&mut bell, &schema, &life, &bells[number..=number]).await;
        tokio::time::sleep(Duration::from_micros(chance / 1_000 % 3_000)).await;
    }

    // Whoever lost count waits for a bell that never rings.
    admin.run("UPDATE job SET job_status = 'PAUSED'").await;
    bells.iter_mut().for_each(|bell| bell.1 += 1);
    ring(&mut bell, &schema, &life, &bells).await;
    let paused = "SELECT COUNT(*) FROM job WHERE job_runner_status = 'PAUSED'";
    wait_until("all heard the last ring", HEARD, async || admin.one(paused).await == storm.runners.to_string()).await;

    assert!(runners.iter().all(|runner| !runner.ended()), "a runner has ended");
    let bad = admin.rows("SELECT * FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED')").await;
    assert!(bad.is_empty(), "{bad:?}");
    let calls = async |admin: &mut Session, routine: &str| {
        let sql = format!(
            "SELECT COALESCE(SUM(count_star), 0) FROM performance_schema.events_statements_summary_by_program \
             WHERE object_schema = DATABASE() AND object_name = '{routine}'"
        );
        usize::try_from(admin.number(&sql).await).expect("a count")
    };
    let cycles = usize::try_from(admin.number("SELECT COUNT(*) FROM job_run").await).expect("a count");
    // Each ring ends one wait, at the latest when there is nothing else to do: a busy runner does not wait, and on MySQL it only
    // sleeps in the last second before it is due.
    let rings = storm.rings + storm.runners;
    wait_until("each ring was heard", HEARD, async || calls(&mut admin, "job$_wait").await >= rings).await;
    let (waits, steps) = (calls(&mut admin, "job$_wait").await, calls(&mut admin, "job$_step").await);
    eprintln!("{}: {rings} rings, {cycles} runs and spans, {waits} waits, {steps} steps", server.name);
    // So does a time-out, before each run and, on MySQL, before the last fraction of a second.
    let idle = 5 * storm.runners;
    assert!(waits <= rings + 3 * cycles + idle, "{waits} waits for {rings} rings and {cycles} cycles: somebody spins");
    assert!(steps <= waits + cycles + idle, "{steps} steps after {waits} waits and {cycles} cycles");
}

/// Rings these bells, given by job and number.
async fn ring(bell: &mut Session, schema: &str, life: &str, bells: &[(String, usize)]) {
    let bells: Vec<_> = bells.iter().map(|(job, number)| format!("[{job}, {number}]")).collect();
    bell.run(&format!("CALL {schema}.job$ring({life}, '[{}]')", bells.join(", "))).await;
}
