//! A lane of the races: one job whose body signals its end, its runner, and two who make random requests of it at that moment.

use std::time::Duration;

use mysql_async::Error;

use super::{SOON, Tally};
use crate::db::{Account, Db};
use crate::each::wait_until;
use crate::runner::Runner;
use crate::session::{Session, literal, name};

/// One job, its runner, and two who make requests.
pub(super) struct Lane {
    pub(super) db: Db,
    bob: Account,
    pub(super) number: usize,
    pub(super) job: String,
    pub(super) id: i64,
    random: u64,
    pub(super) admin: Session,
    pub(super) askers: [Asker; 2],
    pub(super) runner: Option<Runner>,
}

/// An owner's session for the SQL API, and a DBA's for plain UPDATEs.
pub(super) struct Asker {
    pub(super) owner: Session,
    dba: Session,
    lock: String,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    Call(&'static str),
    Update(&'static str),
}

impl Lane {
    pub(super) async fn new(db: &Db, bob: &Account, number: usize, seed: u64) -> Self {
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

    pub(super) async fn status(&mut self) -> String {
        let status = self.admin.one(&format!("SELECT job_status FROM job WHERE job_id = {}", self.id)).await;
        plain(&status)
    }

    pub(super) async fn race(&mut self, tally: &mut Tally) {
        self.ready().await;
        let failing = self.below(4) == 0;
        let alone = self.below(2) == 0;
        let scripts = [self.script(1, 3), if alone { Vec::new() } else { self.script(1, 2) }];
        if let Err(wrong) = self.one(&scripts, failing, tally).await {
            tally.wrong.push(format!("lane {}: {scripts:?} failing {failing}: {wrong}", self.number));
        }
        tally.races += 1;
    }
}

pub(super) type Answer = Result<Option<(String, String)>, u16>;

impl Asker {
    /// Waits for the body's signal, then makes the requests.
    pub(super) async fn ask(&mut self, id: i64, job: &str, script: &[(u64, Request)]) -> Vec<(Request, Answer)> {
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
pub(super) fn plain(status: &str) -> String {
    if status == "RESUMED" { "ENABLED".into() } else { status.into() }
}
