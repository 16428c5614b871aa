//! Which job gets a runner, and when.

use std::collections::HashSet;

use tokio::time::Instant;

use super::Supervisor;
use crate::controller::watch::Look;
use crate::error::{Error, Kind};
use crate::model::{JobOverview, word};

/// A schedule that came to its end, whether or not a runner was there to note it.
pub const FINISHED: &str = "FINISHED";

impl Supervisor {
    /// Gives a runner to each job that wants one, and notes which schedules have ended.
    pub fn tend(&mut self, look: &Look) {
        let (mut rung, mut looked) = (Vec::new(), Vec::new());
        if look.all {
            let seen: HashSet<_> = look.jobs.iter().map(|job| job.job_name.as_str()).collect();
            for name in self.plan.names.iter().filter(|name| !seen.contains(name.as_str())) {
                self.jobs.entry(name.clone()).or_default().ended = Some("dropped".into());
            }
            // The runner of a row that is gone, or has another name, is to know of it.
            let gone = self.jobs.iter_mut().filter(|(name, job)| job.runner.is_some() && !seen.contains(name.as_str()));
            rung.extend(gone.filter_map(|(_, job)| job.seen.take().map(|_| job.job_id)));
        }
        self.decide_parking(look);
        for overview in &look.jobs {
            let name = &overview.job_name;
            if !self.plan.names.is_empty() && !self.plan.names.contains(name) {
                continue;
            }
            let job = self.jobs.entry(name.clone()).or_default();
            job.job_id = overview.job_id;
            let wanted = wants_runner(overview);
            job.wanted = wanted;
            let asked = (overview.job_changed, matches!(overview.status.as_str(), "PAUSED (all)" | "PAUSING" | "HELD"));
            let changed = job.seen.replace(asked).is_some_and(|seen| seen != asked);
            if changed {
                // One that was renamed may be parked by its former name: the lot knows its number.
                let hears = if job.runner.is_some() { &mut rung } else { &mut looked };
                hears.push(overview.job_id);
            }
            if job.runner.is_some() || job.parked {
                continue;
            }
            if !wanted && job.ended.is_none() && !self.plan.names.is_empty() {
                tracing::info!(job = name, "schedule ended: {}", overview.status);
            }
            job.ended = (!wanted).then(|| overview.status.clone());
            // A runner on another server is judged by the schema, when one of ours knocks.
            let other = overview.job_runner_connection_id.filter(|_| overview.job_runner_elsewhere == 0);
            if wanted && let Some(other) = other.filter(|other| job.former != Some(*other)) {
                let host = overview.job_runner_host.as_ref().map(|host| format!(" from {host}")).unwrap_or_default();
                let said = format!("already run by connection {other}{host}");
                if job.says(&said) {
                    tracing::info!(job = name, "{said}: standing by");
                }
            }
            // Another's runner is at work: stand by, and look again when its lock is free.
            if wanted && other.is_none() && job.not_before <= Instant::now() {
                self.give_runner(name);
            }
        }
        if !rung.is_empty() {
            self.bell.ring(rung);
        }
        if !looked.is_empty() {
            self.lot.look(looked);
        }
    }
}

/// Whether a runner may start for this job, as far as its status tells.
pub fn wants_runner(job: &JobOverview) -> bool {
    let wanted = matches!(job.job_status.as_str(), "ENABLED" | "RESUMED" | "PAUSED");
    job.job_kind == "PROCEDURE" && wanted && job.status != FINISHED
}

/// Refuses to start a job that does not exist, or whose status allows no runner.
pub fn check(name: &str, job: Option<&JobOverview>) -> Result<(), Error> {
    match job {
        None => Err(Error::new(Kind::NotFound, format!("you own no job named `{name}`")).hint("`jobctl list` shows your jobs")),
        Some(job) if !wants_runner(job) => {
            let status = &job.status;
            Err(Error::new(Kind::Refused, format!("`{name}` is {status}, and only an ENABLED or PAUSED job gets a runner"))
                .hint(format!("`jobctl enable {0}` is the way back; `jobctl show {0}` tells more", word(name))))
        }
        Some(_) => Ok(()),
    }
}
