//! Requests that race with the end of a run: none is lost, and what was asked for last holds.
//!
//! Each body signals its end by letting go of two named locks; two askers wait for them and send their requests at once.
//! `JOBCTL_TEST_SEED` replays the requests of a run whose seed was printed; the interleaving is the servers' own.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mysql_async::Error;

use crate::db::{Account, Db};
use crate::each::{each, full, join, wait_until};
use crate::runner::Runner;
use crate::session::{Session, literal, name};

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
    let broken = made.replacen("job_failures = v_failures,", "job_failures = v_failures, job_status = 'ENABLED',", 1);
    assert_ne!(made, broken);
    admin.run("DROP PROCEDURE job$_record").await;
    admin.run(&broken).await;
}

/// One job, its runner, and two who make requests.
struct Lane {
    db: Db,
    bob: Account,
    number: usize,
    job: String,
    id: i64,
    random: u64,
    admin: Session,
    askers: [Asker; 2],
    runner: Option<Runner>,
}

/// An owner's session for the SQL API, and a DBA's for plain UPDATEs.
struct Asker {
    owner: Session,
    dba: Session,
    lock: String,
}

#[derive(Clone, Copy, Debug)]
enum Request {
    Call(&'static str),
    Update(&'static str),
}

/// One change of `job_status`, in the order of the lock of the job row.
#[derive(Clone, Debug)]
struct Change {
    order: (i64, usize),
    from: String,
    to: String,
    /// When the request reached the server; none for what the runner did.
    arrived: Option<String>,
    /// When it was written; known of events.
    written: Option<String>,
    connection: Option<String>,
}

impl Change {
    fn ends(&self) -> bool {
        matches!(self.to.as_str(), "ABORTED" | "DISABLED" | "ERROR")
    }
}

impl Lane {
    async fn new(db: &Db, bob: &Account, number: usize, seed: u64) -> Self {
        let (job, body) = (format!("race {number}"), format!("body{number}"));
        let locks = [1, 2].map(|asker| literal(&format!("{}.{number}.{asker}", db.bodies())));
        let (mine, gate) = (format!("WHERE lane = {number}"), format!("{}.gate", name(db.bodies())));
        let mut admin = db.admin().await;
        admin.run(&format!("INSERT INTO {gate} VALUES ({number}, 0, 0, NULL)")).await;
        let text = format!(
            "BEGIN \
               DECLARE v_step, v_failing INT; \
               SELECT step, failing INTO v_step, v_failing FROM gate {mine}; \
               IF v_step = 1 THEN \
                 DO GET_LOCK({0}, 10), GET_LOCK({1}, 10); \
                 UPDATE gate SET step = 2 {mine}; \
                 DO SLEEP(0.03); \
                 UPDATE gate SET step = 3, said = UTC_TIMESTAMP(6) {mine}; \
                 DO RELEASE_LOCK({0}), RELEASE_LOCK({1}); \
                 IF v_failing THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'as told'; END IF; \
               END IF; \
             END",
            locks[0], locks[1]
        );
        db.body(&body, &text).await;
        db.define(bob, &job, &body, "0.2", "").await;
        let id = admin.number(&format!("SELECT job_id FROM job WHERE job_name = {}", literal(&job))).await;
        let [one, two] = locks;
        let askers = [
            Asker { owner: db.login(bob).await, dba: db.admin().await, lock: one },
            Asker { owner: db.login(bob).await, dba: db.admin().await, lock: two },
        ];
        let random = seed.wrapping_add(number as u64 * 7_919);
        Self { db: db.clone(), bob: bob.clone(), number, job, id, random, admin, askers, runner: None }
    }

    /// A random number below `bound` (splitmix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn script(&mut self, from: u64, to: u64) -> Vec<(u64, Request)> {
        let length = from + self.below(to - from + 1);
        (0..length)
            .map(|at| {
                let delay = [0, 0, 0, 1, 2, 3][usize::try_from(self.below(6)).expect("small")];
                // Mostly one that changes something first.
                let kinds = if at == 0 && self.below(4) > 0 { 3 } else { 5 };
                let which = usize::try_from(self.below(kinds)).expect("small");
                let request = if self.below(5) < 3 {
                    Request::Call(["pause", "abort", "disable", "resume", "enable"][which])
                } else {
                    Request::Update(["PAUSED", "ABORTED", "DISABLED", "ENABLED", "RESUMED"][which])
                };
                (delay, request)
            })
            .collect()
    }

    /// Brings the job back to ENABLED with a live runner.
    async fn ready(&mut self) {
        if let Some(runner) = self.runner.take_if(|runner| runner.ended()) {
            runner.message().await;
        }
        let request = match self.status().await.as_str() {
            "ENABLED" => None,
            "PAUSED" => Some("resume"),
            _ => Some("enable"),
        };
        if let Some(request) = request {
            self.askers[0].owner.run(&format!("CALL job${request}({}, NULL)", literal(&self.job))).await;
        }
        self.admin
            .run(&format!("UPDATE job SET job_description = NULL, job_max_failures = NULL WHERE job_id = {}", self.id))
            .await;
        if self.runner.is_none() {
            self.runner = Some(self.db.runner(&self.bob, &self.job).await);
        }
        // A run that succeeds, so that no failure is counted.
        let runs = format!("SELECT job_failures = 0 AND job_runner_token IS NOT NULL FROM job WHERE job_id = {}", self.id);
        let admin = &mut self.admin;
        wait_until("a runner without failures", SOON, async || admin.one(&runs).await == "1").await;
    }

    async fn status(&mut self) -> String {
        let status = self.admin.one(&format!("SELECT job_status FROM job WHERE job_id = {}", self.id)).await;
        plain(&status)
    }

    async fn race(&mut self, tally: &mut Tally) {
        self.ready().await;
        let failing = self.below(4) == 0;
        let alone = self.below(2) == 0;
        let scripts = [self.script(1, 3), if alone { Vec::new() } else { self.script(1, 2) }];
        if let Err(wrong) = self.one(&scripts, failing, tally).await {
            tally.wrong.push(format!("lane {}: {scripts:?} failing {failing}: {wrong}", self.number));
        }
        tally.races += 1;
    }

    /// One race: the body signals, the requests come, and then the books are read.
    async fn one(&mut self, scripts: &[Vec<(u64, Request)>; 2], failing: bool, tally: &mut Tally) -> Result<(), String> {
        let (id, number) = (self.id, self.number);
        let gate = format!("{}.gate", name(self.db.bodies()));
        let limit = if failing { "1" } else { "NULL" };
        let counter = format!("SELECT job_event_counter FROM job WHERE job_id = {id}");
        let base = self.admin.number(&counter).await;
        let epoch = self.admin.number(&format!("SELECT job_runner_epoch FROM job WHERE job_id = {id}")).await;
        self.admin.run(&format!("UPDATE job SET job_max_failures = {limit} WHERE job_id = {id}")).await;
        let arm = format!("UPDATE {gate} SET step = 1, failing = {}, said = NULL WHERE lane = {number}", i32::from(failing));
        self.admin.run(&arm).await;
        let step = format!("SELECT step >= 2 FROM {gate} WHERE lane = {number}");
        if !soon(&mut self.admin, &step).await {
            return Err("the job does not run".into());
        }
        let job = self.job.clone();
        let asked = self.askers.iter_mut().zip(scripts).map(|(asker, script)| asker.ask(id, &job, script)).collect();
        let answers = join(asked).await;

        // The run that raced, closed.
        let run = format!(
            "FROM job_run JOIN {gate} ON lane = {number} WHERE job_id = {id} AND outcome <> 'SKIPPED' AND run_kind = 'SCHEDULED' \
             AND started_at <= said AND finished_at >= said"
        );
        if !soon(&mut self.admin, &format!("SELECT COUNT(*) {run}")).await {
            return Err("the run is never closed".into());
        }
        let row = self.admin.row(&format!("SELECT run_no, outcome, finished_at, said {run}")).await;
        let (run_no, outcome, finished, said) = (row[0].clone(), row[1].clone(), row[2].clone(), row[3].clone());
        if outcome != if failing { "ERROR" } else { "OK" } {
            return Err(format!("the run ended {outcome}"));
        }
        let chain = self.chain(base).await;
        let status = self.status().await;

        // None is lost: each change begins where the one before it ended, and the last one holds.
        let mut state = "ENABLED".to_owned();
        for change in &chain {
            if change.from != state {
                return Err(format!("it was {state}, and a change found it {}: {chain:?}", change.from));
            }
            state.clone_from(&change.to);
        }
        if status != state {
            return Err(format!("{state} was asked for last, and it is {status}: {chain:?}"));
        }
        // Every answer has its event.
        for (asker, answers) in self.askers.iter().zip(&answers) {
            let connection = asker.owner.id().to_string();
            let said: Vec<_> = answers
                .iter()
                .filter_map(|(_, answer)| answer.clone().ok().flatten())
                .filter(|(from, to)| from != to)
                .collect();
            let of = chain.iter().filter(|change| change.connection.as_ref() == Some(&connection) && change.arrived.is_some());
            let written: Vec<_> = of.map(|change| (change.from.clone(), change.to.clone())).collect();
            if said != written {
                return Err(format!("answered {said:?}, wrote {written:?}"));
            }
            tally.requests += answers.len();
            for (request, answer) in answers {
                if let Err(code) = answer {
                    tally.refused += 1;
                    if *code != 45004 {
                        return Err(format!("{request:?} failed with {code}"));
                    }
                }
            }
        }
        // One asker alone, and a run that succeeds: each answer is known beforehand.
        if scripts[1].is_empty() && !failing {
            let mut state = "ENABLED".to_owned();
            for (request, answer) in &answers[0] {
                match (request, answer) {
                    (Request::Update(to), _) => state = plain(to),
                    (Request::Call(call), answer) => {
                        let to = leads_to(call, &state);
                        let wanted = to.map(|to| (state.clone(), to.to_owned()));
                        if answer.clone().ok().flatten() != wanted {
                            return Err(format!("{call} in {state}: {answer:?}"));
                        }
                        state = to.map_or(state, str::to_owned);
                    }
                }
            }
            if state != status {
                return Err(format!("{state} was asked for, and it is {status}"));
            }
        }
        // A failure too many ends a job that is ENABLED, and no other.
        let gave_up = chain.iter().any(|change| change.to == "ERROR");
        if gave_up && !failing {
            return Err(format!("ERROR without a failure: {chain:?}"));
        }
        if failing {
            tally.failing += 1;
            tally.errors += usize::from(gave_up);
            if chain.iter().all(|change| change.written.is_some()) {
                let mut before =
                    chain.iter().rev().filter(|change| change.to != "ERROR" && change.written.as_ref() <= Some(&finished));
                let then = before.next().map_or("ENABLED", |change| change.to.as_str());
                if gave_up != (then == "ENABLED") {
                    return Err(format!("it was {then} when it failed once too often at {finished}: {chain:?}"));
                }
            }
        }

        // The runner obeys.
        let runner = self.runner.as_ref().expect("there is one");
        let must = chain.iter().any(|change| change.ends() && change.written.is_some())
            || matches!(status.as_str(), "ABORTED" | "DISABLED" | "ERROR");
        let may = must || chain.iter().any(Change::ends);
        let stays = match status.as_str() {
            "PAUSED" => format!("SELECT COALESCE(job_runner_status = 'PAUSED', 0) FROM job WHERE job_id = {id}"),
            _ => format!(
                "SELECT COUNT(*) FROM job_run WHERE job_id = {id} AND run_no > {run_no} AND outcome <> 'SKIPPED' AND run_epoch = {epoch}"
            ),
        };
        let began = Instant::now();
        let obeys = loop {
            match (must, runner.ended()) {
                (true, true) => break true,
                (false, true) => break may,
                (true, false) => {}
                (false, false) if self.admin.number(&stays).await > 0 => break !runner.ended() || may,
                (false, false) => {}
            }
            if began.elapsed() > SOON {
                break false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        if !obeys {
            let ended = runner.ended();
            return Err(format!("{status}: the runner must end: {must}, may: {may}, has: {ended}; {chain:?}"));
        }
        let now = self.status().await;
        if now != status {
            return Err(format!("{status} was asked for last, and later it is {now}: {chain:?}"));
        }

        let arrived = |change: &&Change| change.arrived.as_ref().is_some_and(|at| *at >= said && *at <= finished);
        let first = |change: &Change| change.written.as_ref().is_some_and(|at| *at <= finished);
        tally.inside += usize::from(chain.iter().any(|change| arrived(&change)));
        tally.first += usize::from(chain.iter().any(|change| arrived(&change) && first(change)));
        let waited = |change: &Change| arrived(&change) && change.written.is_some() && !first(change);
        tally.waited += usize::from(chain.iter().any(waited));
        Ok(())
    }

    /// All changes of the status since event `base`, in the order in which they held the job row.
    async fn chain(&mut self, base: i64) -> Vec<Change> {
        let events = format!(
            "SELECT event_no, event_from, event_to, event_message, event_at, event_connection_id FROM job_event \
             WHERE job_id = {} AND event_kind = 'STATUS' AND event_no > {base}",
            self.id
        );
        let updates = format!("SELECT COALESCE(job_description, '') FROM job WHERE job_id = {}", self.id);
        let mut chain = Vec::new();
        for row in self.admin.rows(&events).await {
            let order = (row[0].parse().expect("a number"), 0);
            let request = row[2] != "ERROR";
            let arrived = Some(row[3].clone()).filter(|_| request);
            let (written, connection) = (Some(row[4].clone()), Some(row[5].clone()));
            chain.push(Change { order, from: plain(&row[1]), to: plain(&row[2]), arrived, written, connection });
        }
        let text = self.admin.one(&updates).await;
        for (at, entry) in text.split_terminator('|').enumerate() {
            let parts: Vec<_> = entry.split(',').collect();
            let order = (parts[0].parse().expect("a number"), at + 1);
            let (from, to, arrived) = (plain(parts[1]), plain(parts[2]), Some(parts[3].to_owned()));
            if from != to {
                chain.push(Change { order, from, to, arrived, written: None, connection: None });
            }
        }
        chain.sort_by_key(|change| change.order);
        chain
    }
}

type Answer = Result<Option<(String, String)>, u16>;

impl Asker {
    /// Waits for the body's signal, then makes the requests.
    async fn ask(&mut self, id: i64, job: &str, script: &[(u64, Request)]) -> Vec<(Request, Answer)> {
        let mut answers = Vec::new();
        if script.is_empty() {
            return answers;
        }
        self.owner.run(&format!("DO GET_LOCK({0}, 10), RELEASE_LOCK({0})", self.lock)).await;
        for (delay, request) in script {
            if *delay > 0 {
                tokio::time::sleep(Duration::from_millis(*delay)).await;
            }
            let answer = match request {
                Request::Call(call) => {
                    let reason = r#"CONCAT('{"reason": "', UTC_TIMESTAMP(6), '"}')"#;
                    self.owner.attempt(&format!("CALL job${call}({}, {reason})", literal(job))).await
                }
                Request::Update(to) => {
                    // The description keeps the place of the change among the events, and when the statement came.
                    let entry = format!("job_event_counter, ',', job_status, ',{to},', UTC_TIMESTAMP(6), '|'");
                    let set = format!("job_description = CONCAT(COALESCE(job_description, ''), {entry}), job_status = '{to}'");
                    self.dba.attempt(&format!("UPDATE job SET {set} WHERE job_id = {id}")).await
                }
            };
            let answer = match answer {
                Ok(sets) => Ok(sets.first().map(|rows| (rows[0][1].clone(), rows[0][2].clone()))),
                Err(Error::Server(error)) => Err(error.code),
                Err(error) => panic!("{request:?}: {error}"),
            };
            // An UPDATE answers nothing.
            let answer = answer.map(|changed| changed.filter(|_| matches!(request, Request::Call(_))));
            answers.push((*request, answer));
        }
        answers
    }
}

/// RESUMED is read as ENABLED.
fn plain(status: &str) -> String {
    if status == "RESUMED" { "ENABLED".into() } else { status.into() }
}

/// The table of states, for those that a request can meet here.
fn leads_to(request: &str, from: &str) -> Option<&'static str> {
    match (request, from) {
        ("pause", "ENABLED" | "PAUSED") => Some("PAUSED"),
        ("resume", "PAUSED" | "ENABLED") => Some("ENABLED"),
        ("abort", "ENABLED" | "PAUSED" | "ABORTED") => Some("ABORTED"),
        ("enable", "ABORTED" | "DISABLED" | "ERROR" | "ENABLED") => Some("ENABLED"),
        ("disable", _) => Some("DISABLED"),
        _ => None,
    }
}

/// Polls closely until a number is above 0.
async fn soon(session: &mut Session, sql: &str) -> bool {
    let began = Instant::now();
    while session.number(sql).await == 0 {
        if began.elapsed() > SOON {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    true
}

/// The seed of this run, or the one to replay.
fn seed() -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let seed = std::env::var("JOBCTL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
    eprintln!("JOBCTL_TEST_SEED={seed}");
    seed
}
