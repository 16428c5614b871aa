//! Jobs that are parked until they are due, and sessions that are opened for them in time.

use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::{Supervisor, tend};
use crate::controller::Park;
use crate::controller::job::Runner;
use crate::controller::lot::{Report, Ticket};
use crate::controller::runner::{self, Work};
use crate::controller::watch::Look;

/// With more jobs than that, they are parked unless told otherwise.
const MANY: usize = 20;

impl Supervisor {
    /// Decides whether jobs are to be parked; how many there are, only a look at all of them tells.
    pub fn decide_parking(&mut self, look: &Look) {
        let parks = match self.plan.park {
            Park::Never => false,
            Park::After(_) => true,
            Park::Auto if !look.all => return,
            Park::Auto => {
                let ours = |name: &String| self.plan.names.is_empty() || self.plan.names.contains(name);
                look.jobs.iter().filter(|job| ours(&job.job_name) && tend::wants_runner(job)).count() > MANY
            }
        };
        self.parks.store(parks, Ordering::Relaxed);
    }

    /// Gives a job a runner: a session of its own, or a place in the lot until it is due.
    pub fn give_runner(&mut self, name: &str) {
        if !self.parks.load(Ordering::Relaxed) {
            return self.open(name, None);
        }
        let Some(job) = self.jobs.get_mut(name) else { return };
        job.parked = true;
        self.lot.park(job.job_id, name, false);
    }

    /// Opens a session for a job, which may be parked.
    fn open(&mut self, name: &str, ticket: Option<Ticket>) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        job.tries += 1;
        let (tries, reporter, told) = (job.tries, self.reporter.clone(), name.to_owned());
        let report = move |report| {
            // The supervisor is gone only when the process ends.
            let _ = reporter.send((told.clone(), tries, report));
        };
        let was_parked = ticket.is_some();
        let work = Work {
            job_id: job.job_id,
            job: name.to_owned(),
            stopping: self.stopping.clone(),
            parks: self.parks.clone(),
            parked: ticket.map(|ticket| (ticket, self.lot.clone())),
        };
        let task = tokio::spawn(runner::run(self.settings.clone(), self.plan.clone(), work, self.bell.clone(), report));
        job.parked = false;
        job.runner =
            Some(Runner { task: task.abort_handle(), connection: None, works: None, shown: Instant::now(), was_parked });
    }

    /// Takes in what becomes of parked jobs.
    pub fn hear_lot(&mut self, report: Report) {
        match report {
            Report::Parked { job: name, connection, until } => {
                let Some(job) = self.jobs.get_mut(&name) else { return };
                job.said = None;
                if !std::mem::replace(&mut job.announced, true) {
                    let until = until.map(|until| until.strftime(", parked until %F %T UTC").to_string()).unwrap_or_default();
                    tracing::info!(job = name, connection, "runner started{until}");
                }
            }
            Report::Free { job: name, why } => {
                let Some(job) = self.jobs.get_mut(&name) else { return };
                job.parked = false;
                if let Some(why) = why {
                    job.announced = false;
                    job.not_before = Instant::now() + job.backoff.wait();
                    job.no_runner_yet(&name, &why);
                }
            }
            Report::Ended { job: name, connection, message } => {
                let Some(job) = self.jobs.get_mut(&name) else { return };
                job.parked = false;
                job.announced = false;
                job.former = Some(connection);
                job.not_before = Instant::now() + job.backoff.wait();
                tracing::info!(job = name, "runner ended: {message}");
            }
            Report::Due { job: name, ticket } => match self.stopping.load(Ordering::Relaxed) {
                true => self.lot.back(ticket.job_id, &name, Instant::now()),
                false => self.open(&name, Some(ticket)),
            },
        }
    }
}
