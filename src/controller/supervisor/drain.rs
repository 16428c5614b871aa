//! The end in good order: no new runs, and what is under way may finish, for as long as whoever wants the end has patience.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep_until};

use super::Supervisor;
use crate::controller::{Signals, ending};
use crate::error::Error;

/// How often runners that have not ended yet are asked to.
const ASK_AGAIN: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Waits until all runners have ended, asking those that work. Whoever does not want to wait sends a second signal, which
    /// stops the present runs, or a third, which leaves them to the server; so may the end of the grace.
    pub async fn drain(mut self, signals: &mut Signals) -> Result<(), Error> {
        self.stopping.store(true, Ordering::Relaxed);
        self.service.stopping();
        self.lot.end();
        let mut again = interval(ASK_AGAIN);
        let mut grace = self.plan.grace.map(|grace| Instant::now() + grace);
        let mut impatient = None;
        let mut asked: Option<JoinHandle<()>> = None;
        // Why runs are stopped: also those that begin before their runners have heard that they are to end.
        let mut why = None;
        while self.jobs.values().any(|job| job.runner.is_some() || job.parked) || !self.stops.is_empty() {
            let asking =
                self.jobs.iter().filter_map(|(name, job)| Some((name.clone(), job.runner.as_ref()?.connection?))).collect();
            let waiting = self.jobs.values().filter(|job| job.runner.is_some()).map(|job| job.job_id).collect();
            tokio::select! {
                signal = signals.next() => match impatient.replace(signal) {
                    None => {
                        tracing::warn!("{} again: runs are stopped", signal.name());
                        why = Some("its controller got a second signal");
                        again.reset_immediately();
                    }
                    Some(_) => return self.leave(Err(signal.into())),
                },
                () = at(grace) => {
                    grace = None;
                    if !self.plan.kill_after_grace {
                        return self.leave(Ok(()));
                    }
                    tracing::warn!("the grace is over: runs are stopped");
                    why = Some("its controller ended, and the grace was over");
                    again.reset_immediately();
                }
                Some(told) = self.reports.recv() => self.hear(told),
                Some(report) = self.parked.recv() => self.hear_lot(report),
                Some(Ok(stopped)) = self.stops.join_next() => self.stopped(stopped),
                () = self.service.alive() => {}
                // Heartbeats go on as long as somebody takes the looks.
                Some(look) = self.looks.recv() => {
                    self.part_with_the_gone(&look);
                    self.stop_late_runs(&look.jobs);
                }
                // One at a time: where the server lets writes wait, they would be ever more.
                _ = again.tick(), if asked.as_ref().is_none_or(JoinHandle::is_finished) => {
                    if let Some(why) = why {
                        self.stop_runs(why);
                    }
                    let (settings, bell) = (self.settings.clone(), self.bell.clone());
                    asked = Some(tokio::spawn(async move {
                        if let Err(error) = ending::ask(&settings, &asking).await {
                            tracing::warn!("cannot ask runners to end, trying again: {}", error.with_cause());
                        }
                        bell.ring(waiting);
                    }));
                }
            }
        }
        tracing::info!("all runners have ended");
        impatient.map_or(Ok(()), |signal| Err(signal.ended()))
    }

    /// Names the runs that go on without us.
    fn leave(&self, ended: Result<(), Error>) -> Result<(), Error> {
        for (name, runner) in self.jobs.iter().filter_map(|(name, job)| Some((name, job.runner.as_ref()?))) {
            tracing::warn!(job = name, connection = runner.connection, "left to the server, which finishes its run");
        }
        ended
    }
}

/// Waits until an instant, or for ever.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
