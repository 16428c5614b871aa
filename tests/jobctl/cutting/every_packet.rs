//! A connection that is cut after each packet of a few cycles, from its login to its answer, in both ways in which one can end.
//!
//! Wherever the cut falls: the lock is free in time, a run that was begun is recorded, no occurrence runs twice, the next runner
//! goes on. There is one job for each packet and way, so that all of them are cut at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mysql_async::{Conn, Error, Opts, Row};

use super::cutter::{Close, Cutter, Passed};
use crate::db::{Account, Db};
use crate::each::{each, full, join, wait_until};
use crate::ledger::complete_of;
use crate::runner::Runner;
use crate::session::{Session, name};

const SOON: Duration = Duration::from_secs(60);
/// A call ends within this time after the death of its client.
const BOUND: Duration = Duration::from_secs(15);
/// Of all jobs: long enough for the empty result set, by which a runner looks for its client, to be among the packets.
const EVERY: &str = "2";

/// Who is cut.
#[derive(Clone, Copy)]
enum Client {
    /// `CALL job$run`, as a person does; the third run asks for the end.
    Plain,
    /// `CALL job$run_with`, as a controller does: prepared, with notices; the session grows old.
    Controlled,
}

impl Client {
    /// What the answer is, if it comes.
    fn message(self) -> &'static str {
        match self {
            Client::Plain => "Ended to renew the session",
            Client::Controlled => "Ended to renew the session, which was old",
        }
    }

    fn call(self, db: &Db, job: &str) -> String {
        let schema = name(db.schema());
        match self {
            Client::Plain => format!("CALL {schema}.job$run('{job}')"),
            Client::Controlled => {
                format!(r#"CALL {schema}.job$run_with('{job}', '{{"controller": "cut", "session_max_age": 3}}')"#)
            }
        }
    }
}

/// A job whose runner is cut after this packet.
#[derive(Clone, Debug)]
struct Victim {
    job: String,
    limit: usize,
    close: Close,
}

/// Defines the job of a victim. Each statement of its body is a transaction, so that no rollback undoes the ledger.
async fn define(db: &Db, bob: &Account, client: Client, victim: &Victim) {
    let job = &victim.job;
    let ask = match client {
        Client::Plain => format!(
            "IF (SELECT COUNT(*) FROM ledger WHERE job = '{job}' AND what = 'end' AND connection = CONNECTION_ID()) = 3 THEN \
             CALL {}.job$stop('{job}', '{{\"reason\": \"RENEW\"}}'); END IF;",
            name(db.schema())
        ),
        Client::Controlled => String::new(),
    };
    let note = |what| format!("INSERT INTO ledger VALUES ('{job}', '{what}', CONNECTION_ID(), UTC_TIMESTAMP(6));");
    let sets = "SELECT 'one' AS a; SELECT 1 AS b UNION ALL SELECT 2; SELECT 1 AS c LIMIT 0;";
    db.body(job, &format!("BEGIN {} {sets} {} {ask} END", note("begin"), note("end"))).await;
    db.define(bob, job, job, EVERY, "").await;
}

/// One call through a cutter: what became of its connection, and the answer.
async fn cut(db: &Db, bob: &Account, client: Client, victim: &Victim) -> (Passed, Result<String, Error>) {
    let server = Opts::from(db.server().options()).tcp_port();
    let cutter = Cutter::new(server, victim.limit, victim.close).await;
    // As jobctl does: what is known beforehand is not asked for.
    let options = db.options(bob).tcp_port(cutter.port).max_allowed_packet(Some(1 << 30)).wait_timeout(Some(31_536_000));
    let answer = answer(Conn::new(options).await, client, &client.call(db, &victim.job)).await;
    (cutter.ended().await, answer)
}

/// The message of the last row.
async fn answer(conn: Result<Conn, Error>, client: Client, call: &str) -> Result<String, Error> {
    use mysql_async::prelude::Queryable;
    let mut conn = conn?;
    if matches!(client, Client::Plain) {
        let mut sets = Session::new(conn).attempt(call).await?;
        return Ok(sets.pop().and_then(|mut set| set.pop()).and_then(|mut row| row.pop()).expect("a row"));
    }
    let mut result = conn.exec_iter(call, ()).await?;
    let mut message = None;
    while !result.is_empty() {
        let rows: Vec<Row> = result.collect().await?;
        // Notices have four columns, the rows of the body one.
        message = rows.last().filter(|row| row.len() == 2).and_then(|row| row.get(1)).or(message);
    }
    Ok(message.expect("a message"))
}

/// When each job was cut.
type Cuts = Arc<Mutex<HashMap<String, Instant>>>;

/// Waits until all is over: no lock is held, no session of `bob` is left. Gives the longest time for which a lock outlived its cut.
async fn all_free(db: &Db, bob: &Account, cuts: &Cuts, calling: &AtomicBool) -> Duration {
    let locks = format!(
        "SELECT job_name FROM job JOIN job_setting ON setting_name = 'secret' \
         WHERE IS_USED_LOCK(SHA2(CONCAT(setting_value, ':', '{}', ':job:', job_id), 256)) IS NOT NULL",
        db.schema()
    );
    let sessions = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin = '{}'",
        bob.user
    );
    let mut admin = db.admin().await;
    let (mut slowest, mut busy) = (Duration::ZERO, true);
    while busy {
        let calling = calling.load(Ordering::Relaxed);
        let held = admin.rows(&locks).await;
        busy = calling || !held.is_empty() || admin.number(&sessions).await > 0;
        let cuts = cuts.lock().expect("no panic").clone();
        for (job, cut) in held.iter().filter_map(|row| cuts.get_key_value(&row[0])) {
            slowest = slowest.max(cut.elapsed());
            assert!(cut.elapsed() < BOUND, "the lock of {job} is held {:?} after the cut", cut.elapsed());
        }
        let last = cuts.values().max().map(Instant::elapsed).unwrap_or_default();
        assert!(calling || last < BOUND, "sessions are left {last:?} after the last cut");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    slowest
}

/// Cuts a runner after each of these packets, in both ways in a full run, else in turns; tells whether the last ones passed uncut.
async fn cut_at_all(db: &Db, bob: &Account, client: Client, packets: std::ops::RangeInclusive<usize>) -> bool {
    let victim = |limit, (close, letter)| Victim { job: format!("{letter}{limit}"), limit, close };
    let ways = [(Close::Fin, 'f'), (Close::Reset, 'r')];
    let both = full(2, 1) == 2;
    let victims: Vec<_> = packets
        .flat_map(|limit| ways.into_iter().enumerate().map(move |(turn, way)| (limit, turn, way)))
        .filter(|(limit, turn, _)| both || limit % ways.len() == *turn)
        .map(|(limit, _, way)| victim(limit, way))
        .collect();
    for victim in &victims {
        define(db, bob, client, victim).await;
    }
    let (times, calling) = (Cuts::default(), AtomicBool::new(true));
    let calls = async {
        let calls = victims.iter().map(|victim| {
            let (db, bob, victim, times) = (db.clone(), bob.clone(), victim.clone(), times.clone());
            tokio::spawn(async move {
                let (passed, answer) = cut(&db, &bob, client, &victim).await;
                passed.cut.map(|cut| times.lock().expect("no panic").insert(victim.job, cut));
                (passed, answer)
            })
        });
        let calls = join(calls.collect()).await.into_iter().map(|call| call.expect("no panic")).collect::<Vec<_>>();
        calling.store(false, Ordering::Relaxed);
        calls
    };
    let (cuts, slowest) = tokio::join!(calls, all_free(db, bob, &times, &calling));
    for (victim, (passed, answer)) in victims.iter().zip(&cuts) {
        match (passed.cut, answer) {
            (None, Ok(message)) => assert_eq!(message, client.message(), "{victim:?}"),
            (Some(_), Ok(message)) => assert_eq!(message, client.message(), "{victim:?}: cut after its answer"),
            (Some(_), Err(error)) => assert!(!matches!(error, Error::Server(_)), "{victim:?}: {error}"),
            (None, Err(error)) => panic!("{victim:?} was not cut, and yet: {error}"),
        }
    }

    let mut admin = db.admin().await;
    let open = "SELECT job_name FROM job WHERE job_run_open IS NOT NULL OR job_runner_status IS NOT NULL OR job_runner_token IS NOT NULL \
                UNION SELECT job_name FROM job_run WHERE outcome NOT IN ('OK', 'ERROR', 'SKIPPED')";
    assert_eq!(admin.rows(open).await, Vec::<Vec<String>>::new(), "all runs are recorded, all runners have ended");
    let most = cuts.iter().map(|(passed, _)| passed.packets).max().unwrap_or_default();
    eprintln!("{}: {} cuts in up to {most} packets, lock free after {slowest:?} at worst", db.server().name, cuts.len());

    go_on(db, bob, &victims).await;
    true_to_the_ledger(db, &mut admin).await;
    victims.iter().zip(&cuts).rev().take(ways.len()).all(|(_, (passed, _))| passed.cut.is_none())
}

/// The next runner of each job goes on with the next occurrence, however busy the machine is.
async fn go_on(db: &Db, bob: &Account, victims: &[Victim]) {
    let mut admin = db.admin().await;
    let sessions = join(victims.iter().map(|_| db.login(bob)).collect()).await;
    let runners: Vec<_> = sessions
        .into_iter()
        .zip(victims)
        .map(|(session, victim)| Runner::call(session, Client::Plain.call(db, &victim.job)))
        .collect();
    let ids: Vec<_> = runners.iter().map(|runner| runner.id.to_string()).collect();
    let ran = format!(
        "SELECT COUNT(DISTINCT run_connection_id) FROM job_run WHERE outcome = 'OK' AND run_connection_id IN ({})",
        ids.join(", ")
    );
    wait_until("all go on", SOON, async || admin.number(&ran).await == i64::try_from(victims.len()).expect("few")).await;
    admin.run("UPDATE job SET job_stop_epoch = job_runner_epoch, job_stop_reason = 'RENEW'").await;
    for (runner, victim) in runners.into_iter().zip(victims) {
        assert_eq!(runner.message().await, Client::Plain.message(), "{victim:?}");
        complete_of(&mut admin, &victim.job, 2_000_000).await;
    }
}

/// Each row has one body, each body one row, and what is OK came to its end.
async fn true_to_the_ledger(db: &Db, admin: &mut Session) {
    let ledger = format!("{}.ledger", name(db.bodies()));
    let rows = format!(
        "SELECT r.job_name, r.run_no, r.outcome, r.error_code, r.error_message, SUM(l.what = 'begin'), SUM(l.what = 'end') \
         FROM job_run AS r LEFT JOIN {ledger} AS l ON l.job = r.job_name AND l.connection = r.run_connection_id \
         AND l.at BETWEEN r.started_at AND r.finished_at WHERE r.attempt > 0 \
         GROUP BY r.job_name, r.run_no, r.outcome, r.error_code, r.error_message"
    );
    let rows = admin.rows(&rows).await;
    for row in &rows {
        // A body whose result sets nobody takes fails, in the middle.
        let failed = row[2] == "ERROR" && ["1158", "1159", "1160", "1161"].contains(&row[3].as_str());
        assert!(row[2] == "OK" || failed, "{row:?}");
        assert_eq!(row[5..], ["1", if failed { "0" } else { "1" }], "{row:?}");
    }
    let bodies = format!("SELECT COUNT(*) FROM {ledger} WHERE what = 'begin'");
    assert_eq!(admin.number(&bodies).await, i64::try_from(rows.len()).expect("few"));
}

/// All packets, so many at once, until a call passes uncut.
fn at_every_packet(client: Client, at_once: usize) {
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.table("ledger", "(job VARCHAR(8), what VARCHAR(8), connection BIGINT, at DATETIME(6), KEY (job))").await;
        let mut begin = 1;
        while !cut_at_all(&db, &bob, client, begin..=begin + at_once - 1).await {
            begin += at_once;
        }
    });
}

#[test]
fn a_plain_client_cut_at_any_packet_leaves_all_in_order() {
    at_every_packet(Client::Plain, 64);
}

#[test]
fn a_runner_of_a_controller_cut_at_any_packet_leaves_all_in_order() {
    at_every_packet(Client::Controlled, 80);
}
