//! Hears what is seen and said, and decides what follows, until all is over.
//!
//! - `tend`: which job gets a runner, and when.
//! - `parking`: jobs that are parked until they are due.
//! - `stops`: runs that are stopped.
//! - `drain`: the end in good order.

mod drain;
mod parking;
mod stops;
mod tend;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::bell::Bell;
use super::ear::Ear;
use super::job::{Job, PATIENCE};
use super::lot::{self, Lot};
use super::runner::Report;
use super::service::Service;
use super::watch::Look;
use super::{Plan, Signals, watch};
use crate::error::{Error, Kind};
use crate::settings::Settings;

/// How long a runner is kept that was left on another server: as long as a look may be older than what the runner said.
const MOVED: Duration = Duration::from_secs(1);
/// A runner that lived longer than this was a good one.
const STEADY: Duration = Duration::from_secs(10);

/// All runners of one controller.
pub struct Supervisor {
    settings: Settings,
    plan: Plan,
    bell: Bell,
    /// Where jobs are parked, and what is heard of them.
    lot: Lot,
    parked: mpsc::UnboundedReceiver<lot::Report>,
    /// Whether jobs are to be parked.
    parks: Arc<AtomicBool>,
    ear: Ear,
    jobs: HashMap<String, Job>,
    looks: mpsc::Receiver<Look>,
    reports: mpsc::UnboundedReceiver<Told>,
    reporter: mpsc::UnboundedSender<Told>,
    /// Set when no new session may be opened any more.
    stopping: Arc<AtomicBool>,
    service: Service,
    /// Runs that are being stopped: each is stayed with until it is over.
    stops: JoinSet<Stopped>,
}

/// The job whose run was to be stopped, and whether it may be tried again.
type Stopped = (String, bool);

/// What a runner says: the name of its job, which try at it this is, and what.
type Told = (String, u64, Report);

impl Supervisor {
    /// Logs in, looks at the jobs, and refuses what cannot be run.
    pub async fn start(settings: &Settings, plan: Plan) -> Result<Self, Error> {
        let mut conn = watch::open(settings, plan.ttl).await?;
        let jobs = watch::look(&mut conn.0, settings, true).await?.jobs;
        for name in &plan.names {
            tend::check(name, jobs.iter().find(|job| job.job_name == *name))?;
        }
        let bell = Bell::open(settings, &plan).await?;
        let (lot, parked) = Lot::open(settings, &plan, &bell);
        let ear = Ear::open(settings, &bell);
        let (look, looks) = mpsc::channel(1);
        let (reporter, reports) = mpsc::unbounded_channel();
        // The look that was just taken is repeated at once; one truth, one path.
        tokio::spawn(watch::run(settings.clone(), plan.clone(), conn, bell.clone(), ear.clone(), look));
        Ok(Supervisor {
            settings: settings.clone(),
            plan,
            bell,
            lot,
            parked,
            parks: Arc::default(),
            ear,
            jobs: HashMap::new(),
            looks,
            reports,
            reporter,
            stopping: Arc::default(),
            service: Service::ready(),
            stops: JoinSet::new(),
        })
    }

    /// What shows that this controller lives.
    pub fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// Starts runners and hears them until all is over.
    pub async fn supervise(mut self, signals: &mut Signals) -> Result<(), Error> {
        loop {
            tokio::select! {
                signal = signals.next() => {
                    tracing::info!("{}: runners end after their present runs", signal.name());
                    break;
                }
                Some(told) = self.reports.recv() => self.hear(told),
                Some(report) = self.parked.recv() => self.hear_lot(report),
                Some(Ok(stopped)) = self.stops.join_next() => self.stopped(stopped),
                () = self.service.alive() => {}
                Some(look) = self.looks.recv() => {
                    self.part_with_the_gone(&look);
                    self.tend(&look);
                    self.stop_late_runs(&look.jobs);
                    if let Some(ended) = self.all_ended() {
                        return ended;
                    }
                }
            }
        }
        self.drain(signals).await
    }

    /// Parts with the runners that the server does not have any more, though nobody told us: their connections are silent.
    fn part_with_the_gone(&mut self, look: &Look) {
        if !look.all {
            // Of the jobs that want a runner, only those are here that have none.
            let seen: HashSet<_> = look.jobs.iter().map(|overview| overview.job_name.as_str()).collect();
            for job in self.jobs.iter_mut().filter_map(|(name, job)| (!seen.contains(&**name)).then_some(job)) {
                if let Some(runner) = job.runner.as_mut().filter(|runner| runner.connection.is_some() && job.wanted) {
                    runner.shown = Instant::now();
                    job.patience = PATIENCE;
                }
            }
        }
        for overview in &look.jobs {
            let Some(job) = self.jobs.get_mut(&overview.job_name) else { continue };
            let Some(runner) = job.runner.as_mut().filter(|runner| runner.connection.is_some()) else { continue };
            if overview.job_runner_elsewhere == 0 && overview.job_runner_connection_id == runner.connection {
                runner.shown = Instant::now();
                job.patience = PATIENCE;
                continue;
            }
            let moved = overview.job_runner_elsewhere == 1 && runner.works.is_some();
            if runner.shown.elapsed() > if moved { MOVED } else { job.patience } {
                runner.task.abort();
                let message = match moved {
                    true => "it was left on another server, which finishes its run".to_owned(),
                    false => format!("the server has not had it for {} s", job.patience.as_secs()),
                };
                job.be_patient();
                let gone = Report::Ended(Err(Error::new(Kind::Unreachable, message)));
                let tries = job.tries;
                self.hear((overview.job_name.clone(), tries, gone));
            }
        }
    }

    /// Takes in what a runner says.
    fn hear(&mut self, (name, tries, report): Told) {
        let job = self.jobs.entry(name.clone()).or_default();
        // We parted with it.
        let Some(runner) = job.runner.as_mut().filter(|_| job.tries == tries) else { return };
        match report {
            Report::Connected { connection } => {
                runner.connection = Some(connection);
                runner.shown = Instant::now();
            }
            Report::Started => {
                runner.works = Some(Instant::now());
                job.said = None;
                job.announced = true;
            }
            // Only now: one that starts and cannot even record a run would be tried for ever without a pause.
            Report::Ran => job.backoff.reset(),
            Report::Parked => {
                job.former = runner.connection;
                job.runner = None;
                job.parked = true;
                job.backoff.reset();
                self.lot.park(job.job_id, &name, true);
            }
            Report::Ended(end) => {
                let (worked, was_parked) = (runner.works.is_some(), runner.was_parked);
                if runner.works.is_some_and(|since| since.elapsed() > STEADY) {
                    job.backoff.reset();
                }
                job.former = runner.connection.filter(|_| worked || was_parked);
                job.runner = None;
                job.not_before = Instant::now() + job.backoff.wait();
                // Whether its schedule is over is to be known at once.
                if worked {
                    self.ear.note();
                }
                let said = match &end {
                    Ok(message) => message.clone(),
                    Err(error) => error.with_cause(),
                };
                if worked {
                    job.announced = false;
                    tracing::info!(job = name, "runner ended: {said}");
                } else {
                    job.no_runner_yet(&name, &said);
                }
                if was_parked && !worked {
                    // It is parked still, unless its session came as far as taking it over.
                    job.parked = true;
                    self.lot.back(job.job_id, &name, job.not_before);
                }
            }
        }
    }

    /// Whether all named schedules have ended, and how; `--all` never ends by itself.
    fn all_ended(&self) -> Option<Result<(), Error>> {
        if self.plan.names.is_empty() {
            return None;
        }
        let mut failed = Vec::new();
        for name in &self.plan.names {
            let job = self.jobs.get(name)?;
            let ended = job.ended.as_ref().filter(|_| job.runner.is_none() && !job.parked)?;
            if ended != tend::FINISHED {
                failed.push(format!("`{name}` is {ended}"));
            }
        }
        Some(match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::new(Kind::Failed, format!("not all schedules were finished: {}", failed.join(", ")))),
        })
    }
}
