//! Runs that are stopped: because they take too long, or because the controller ends.

use std::time::Duration;

use tokio::time::sleep;

use super::{Stopped, Supervisor};
use crate::controller::job::Job;
use crate::controller::kill::{self, Why};
use crate::error::Kind;
use crate::model::JobOverview;
use crate::settings::Settings;

/// The status of a run that goes on though its controller is dead.
const GHOST: &str = "RUNNING (controller gone)";
/// How long after a failure a run is tried to be stopped again.
const AGAIN: Duration = Duration::from_secs(5);

impl Supervisor {
    /// Stops all present runs.
    pub fn stop_runs(&mut self, reason: &'static str) {
        for (name, job) in self.jobs.iter_mut().filter(|(_, job)| job.runner.is_some() && !job.stopping) {
            job.stopping = true;
            let (settings, job) = (self.settings.clone(), name.clone());
            self.stops.spawn(async move {
                let again = match kill::stop(&settings, &job, Why::Asked(Some(reason)), |_| {}).await {
                    Ok(ended) => {
                        tracing::warn!(job, run_no = ended.run_no, "run stopped, it is {}", ended.outcome);
                        true
                    }
                    // It was between two runs.
                    Err(error) if error.code == Some(45004) => true,
                    Err(error) => {
                        tracing::error!(job, "its run could not be stopped: {}", error.with_cause());
                        error.kind == Kind::Unreachable
                    }
                };
                (job, again)
            });
        }
    }

    /// A run that could not be stopped may be tried again; so may the next one of its job.
    pub fn stopped(&mut self, (name, again): Stopped) {
        if let Some(job) = self.jobs.get_mut(&name).filter(|_| again) {
            job.late = None;
            job.stopping = false;
        }
    }

    /// Stops the runs that take longer than they may, each once; also those that a dead controller left behind.
    pub fn stop_late_runs(&mut self, seen: &[JobOverview]) {
        for overview in seen.iter().filter(|overview| overview.last_overdue == 1 && overview.job_runner_elsewhere == 0) {
            let ours = |job: &&mut Job| job.runner.is_some() || overview.status == GHOST;
            let Some(job) = self.jobs.get_mut(&overview.job_name).filter(ours) else { continue };
            if job.late != overview.last_started_at {
                job.late = overview.last_started_at;
                self.stops.spawn(stop_late(self.settings.clone(), overview.job_name.clone()));
            }
        }
    }
}

/// Stops a run that takes too long; that it could not be is an error that somebody sees, and it is tried again.
async fn stop_late(settings: Settings, job: String) -> Stopped {
    let again = match kill::stop(&settings, &job, Why::Timeout, |_| {}).await {
        Ok(ended) => {
            tracing::warn!(job, run_no = ended.run_no, "run stopped after its timeout, it is {}", ended.outcome);
            false
        }
        // It ended by itself in that moment.
        Err(error) if error.message == "no run has taken too long" => true,
        Err(error) => {
            tracing::error!(job, "the timeout could not be enforced, trying again: {}", error.with_cause());
            sleep(AGAIN).await;
            true
        }
    };
    (job, again)
}
