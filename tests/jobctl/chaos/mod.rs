//! Chaos: fourteen jobs and three controllers under a random stream of faults, and then the verdict.
//!
//! - `faults`: what strikes, when and whom, from a seed, and how often it did.
//! - `world`: the jobs, whose bodies keep a ledger that no rollback undoes.
//! - `controllers`, `proxy`: what runs them, and the connections that can be cut and stalled.
//! - `storm`: brings the faults down.
//! - `hands`, `book`: who asks for something meanwhile, and what must be so by the answers.
//! - `verdict`: what the ledger, the books and the definitions say.
//!
//! `JOBCTL_TEST_CHAOS` is the length in seconds, 60 without it, and up to three times that until each kind has struck often enough;
//! `JOBCTL_TEST_SEED` replays the stream of a run whose seed was printed; what
//! each fault meets there is the servers' own. What happened is written to a file, which is named when the test fails.
//!
//! That it can fail was seen by builds that were broken on purpose, in 20 s each, the first in 60 s:
//! - without the fence (`job$_step` and `job$_record` do not compare the run token): "superseded as ..., and went on", on all three
//!   servers; with that of `job$_record` alone, on one of them;
//! - without the lock (`job$_acquire` goes on when `GET_LOCK` gives 0): "two bodies at once", on both MariaDBs;
//! - without the claim (`job_next` moves only when the run is recorded, and a second row gets another attempt): "one occurrence
//!   twice", "two rows for one instant", "no row for ...", "a row that is not true", on both MariaDBs at least.

mod book;
mod controllers;
mod faults;
mod hands;
pub mod proxy;
mod storm;
mod verdict;
mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::book::{Answer, Book};
use self::faults::{Counts, Kind, Random, Stream};
use self::hands::Hand;
use self::storm::Storm;
use self::world::{World, now};
use crate::cli::tool::good;
use crate::each::each_private;
use crate::servers::Private;
use crate::session::name;

/// Percent of the due occurrences that must complete.
const LEAST: usize = 60;

#[test]
fn nothing_runs_twice_and_nothing_lies_whatever_is_killed_cut_frozen_or_restarted() {
    let length = std::env::var("JOBCTL_TEST_CHAOS").ok().and_then(|length| length.parse().ok());
    let length: u64 = length.unwrap_or(60);
    let seed = seed();
    let least = if length < 60 { [1, 0, 0] } else { [3, 3, 3] };
    let sum = Arc::new(Mutex::new(Sum { counts: Counts::default(), least }));
    each_private(|server| {
        let sum = sum.clone();
        async move { chaos(Private::start(&server.name, &[]), Duration::from_secs(length), seed, sum).await }
    });
    let sum = sum.lock().expect("no panic");
    eprintln!("all servers: {}; JOBCTL_TEST_SEED={seed}", sum.counts);
    let rare = sum.rare();
    assert!(rare.is_empty() || sum.counts.is_empty(), "too rare, seed {seed}: {rare:?} in {}", sum.counts);
}

/// What struck on all servers so far, and how often each kind must: in all, while a body ran, while a runner waited.
struct Sum {
    counts: Counts,
    least: [usize; 3],
}

impl Sum {
    /// The kinds that struck too seldom yet.
    fn rare(&self) -> Vec<Kind> {
        let rare = |kind: &Kind| {
            let (counts, [body, waits]) = (self.counts.of(*kind), kind.strikes());
            counts[0] < self.least[0] || body && counts[1] < self.least[1] || waits && counts[2] < self.least[2]
        };
        Kind::all().filter(rare).collect()
    }
}

/// The storm on one server, and the verdict.
async fn chaos(private: Private, length: Duration, seed: u64, sum: Arc<Mutex<Sum>>) {
    let server = private.server.name.clone();
    let world = Arc::new(World::new(&private).await);
    let mut storm = Storm::new(private, world.clone(), sum.clone()).await;
    let mut wrong = Vec::new();
    let from = now();
    let stop = Arc::new(AtomicBool::new(false));
    let hands = [0, 1].map(|hand| {
        let jobs = (0..world.jobs.len()).filter(move |job| job % 2 == hand);
        let random = Random::new(seed, &format!("{server} {hand}"));
        tokio::spawn(Hand::new(world.clone(), random, jobs, stop.clone(), sum.clone()).work())
    });
    // Somebody runs the jobs, and then it begins.
    storm.pass(Duration::from_secs(1)).await;
    storm.rage(Stream::new(seed, &server), length).await;

    // All is mended, and nobody asks any more: what was asked for last must be so.
    storm.heal().await;
    stop.store(true, Ordering::Relaxed);
    let (mut books, mut log) = (BTreeMap::new(), storm.log.clone());
    for hand in hands {
        let hand = hand.await.expect("no panic");
        books.extend(hand.books);
        storm.counts.add(&hand.counts);
        wrong.extend(hand.wrong);
        log.extend(hand.log);
    }
    storm.pass(Duration::from_secs(1)).await;
    wrong.extend(final_states(&world, &books).await);
    wrong.extend(recovery(&mut storm, &mut books).await);
    let to = now();
    wrong.extend(ending(&mut storm).await);

    let (ledger, rows) = (verdict::ledger(&world).await, verdict::rows(&world).await);
    let anchor = world.anchor;
    for judged in [
        verdict::overlaps(&ledger),
        verdict::twice(&ledger),
        verdict::due(&ledger, &world.jobs, &books, anchor),
        verdict::accounted(&rows, &world.jobs, &books, anchor),
        verdict::truthful(&ledger, &rows),
        verdict::superseded(&ledger, &storm.usurped),
    ] {
        wrong.extend(judged);
    }
    wrong.append(&mut storm.wrong);
    let (due, ok) = verdict::completed(&ledger, &rows, &books, anchor, from, to);
    let lazy = |job: &usize| !ledger.iter().any(|entry| entry.job == *job && entry.what == "end");
    wrong.extend((0..world.jobs.len()).filter(lazy).map(|job| format!("j{job} never ran")));
    if ok * 100 < due * LEAST {
        wrong.push(format!("only {ok} of {due} due occurrences completed OK"));
    }
    let outcomes = rows.iter().fold(BTreeMap::<_, usize>::new(), |mut outcomes, row| {
        *outcomes.entry(row.outcome.clone()).or_default() += 1;
        outcomes
    });
    let percent = ok * 100 / due.max(1);
    eprintln!("{server}: {ok} of {due} due occurrences OK ({percent} %), rows {outcomes:?}, seed {seed}; {}", storm.counts);
    log.sort();
    for controller in &storm.controllers {
        log.extend(controller.log().into_iter().map(|line| format!("{} {line}", controller.name)));
    }
    let file = report(&server, seed, &wrong, &log, &ledger);
    assert!(wrong.is_empty(), "seed {seed}, all of it in {}:\n{}", file.display(), wrong[..wrong.len().min(20)].join("\n"));
}

/// Each job is in the state that was asked for last.
async fn final_states(world: &World, books: &BTreeMap<usize, Book>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, book) in books {
        let sql = format!("SELECT job_status FROM job WHERE job_id = {}", world.jobs[*number].id);
        let status = world.ask(&sql).await.expect("it is mended")[0][0].clone();
        if !book.states.contains(status.as_str()) {
            wrong.push(format!("j{number} is {status}, and should be {:?}", book.states));
        }
    }
    wrong
}

/// Once all is mended each job runs again, with nobody doing more than enabling it. Then all are aborted, which ends the books.
async fn recovery(storm: &mut Storm, books: &mut BTreeMap<usize, Book>) -> Vec<String> {
    let world = storm.world.clone();
    for (number, book) in books.iter_mut() {
        let job = world.jobs[*number].name.clone();
        let sql = format!("SELECT job_status FROM job WHERE job_id = {}", world.jobs[*number].id);
        let status = world.ask(&sql).await.expect("it is mended")[0][0].clone();
        let request = if status == "PAUSED" { "resume" } else { "enable" };
        let sent = now();
        good(&world.db, &world.bob, &[request, &job]).await;
        // The doubt, if there was one, is over.
        let known = ["ENABLED", "PAUSED", "ABORTED", "DISABLED"].into_iter().filter(|state| *state == status).collect();
        if book.states != known {
            book.states = known;
        }
        book.request(request, Answer::Done, sent, now()).expect("it was accepted");
    }
    let since = now();
    let sql = format!(
        "SELECT COUNT(DISTINCT job) FROM {}.ledger WHERE what = 'end' AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', at) > {since}",
        name(world.db.bodies())
    );
    let mut back = false;
    while !back && now() < since + 60_000_000 {
        storm.pass(Duration::from_millis(200)).await;
        back = world.ask(&sql).await.is_some_and(|rows| rows[0][0] == world.jobs.len().to_string());
    }
    let mut wrong = Vec::new();
    if !back {
        let rows = world
            .ask("SELECT job_name, status, status_detail, job_runner_message, job_runner_connection_id FROM job_overview")
            .await;
        wrong.push(format!("not all jobs run again within 60 s: {rows:?}"));
    }
    let names: Vec<_> = world.jobs.iter().map(|job| job.name.as_str()).collect();
    let sent = now();
    good(&world.db, &world.bob, &[&["abort"], &names[..]].concat()).await;
    books.values_mut().for_each(|book| book.close(sent));
    wrong
}

/// The controllers end in good order, and nothing is left.
async fn ending(storm: &mut Storm) -> Vec<String> {
    let world = storm.world.clone();
    let mut wrong = Vec::new();
    for controller in &mut storm.controllers {
        controller.end();
    }
    for controller in &mut storm.controllers {
        if !controller.ends().await {
            let sessions = world.ask("SHOW FULL PROCESSLIST").await;
            wrong.push(format!("{} does not end after SIGTERM, sessions: {sessions:?}", controller.name));
            controller.kill(Duration::ZERO).await;
        } else if controller.log().last().is_none_or(|line| !line.ends_with("ended with 0")) {
            wrong.push(format!("{:?}", controller.log().last()));
        }
    }
    let sessions = format!(
        "SELECT id, time, state, info FROM information_schema.processlist WHERE CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin = '{}'",
        world.bob.user
    );
    // Those that were cut off from a controller that lives no more end by themselves.
    let mut left = world.ask(&sessions).await;
    let begun = now();
    while left.as_ref().is_none_or(|left| !left.is_empty()) && now() < begun + 40_000_000 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        left = world.ask(&sessions).await;
    }
    let locks = format!(
        "SELECT job_name FROM job JOIN job_setting ON setting_name = 'secret' \
         WHERE IS_USED_LOCK(SHA2(CONCAT(setting_value, ':', '{}', ':job:', job_id), 256)) IS NOT NULL",
        world.db.schema()
    );
    let rows = "SELECT job_id, run_no FROM job_run WHERE outcome = 'RUNNING'";
    let runners = "SELECT job_name, job_runner_status, job_run_open FROM job WHERE job_runner_status IS NOT NULL OR job_run_open IS NOT NULL";
    for (what, sql) in [("sessions", sessions.as_str()), ("locks", &locks), ("RUNNING rows", rows), ("runners", runners)] {
        let left = world.ask(sql).await.expect("the storm is over");
        if !left.is_empty() {
            wrong.push(format!("{what} are left: {left:?}"));
        }
    }
    wrong
}

/// Writes down what happened.
fn report(server: &str, seed: u64, wrong: &[String], log: &[String], ledger: &[verdict::Entry]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("chaos-{server}-{seed}.log"));
    let ledger = ledger.iter().map(|entry| format!("{entry:?}"));
    let lines: Vec<_> = wrong.iter().chain(log).cloned().chain(ledger).collect();
    std::fs::write(&file, lines.join("\n") + "\n").expect("the target folder can be written");
    file
}

/// The seed of this run, or the one to replay.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let seed = std::env::var("JOBCTL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
    eprintln!("JOBCTL_TEST_SEED={seed}");
    seed
}
