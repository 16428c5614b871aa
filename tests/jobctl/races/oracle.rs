//! One race and the verdict on it: from the events, the runs and the answers it is judged whether a request was lost.

use std::time::{Duration, Instant};

use super::lane::{Lane, Request, plain};
use super::{SOON, Tally};
use crate::each::join;
use crate::session::{Session, name};

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
    /// One race: the body signals, the requests come, and then the books are read.
    pub(super) async fn one(
        &mut self,
        scripts: &[Vec<(u64, Request)>; 2],
        failing: bool,
        tally: &mut Tally,
    ) -> Result<(), String> {
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
