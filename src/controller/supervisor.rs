//! Decides which job gets a runner when, and when all is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, interval, sleep, sleep_until};

use super::bell::Bell;
use super::job::{Job, Runner};
use super::kill::{self, Why};
use super::runner::{self, Report};
use super::service::Service;
use super::{Plan, Signals, ending, watch};
use crate::error::{Error, Kind};
use crate::model::{JobOverview, word};
use crate::settings::Settings;

/// A schedule that came to its end, whether or not a runner was there to note it.
const FINISHED: &str = "FINISHED";
/// The status of a run that goes on though its controller is dead.
const GHOST: &str = "RUNNING (controller gone)";
/// How long after a failure a run is tried to be stopped again.
const AGAIN: Duration = Duration::from_secs(5);
/// How long a runner is kept that was left on another server: as long as a look may be older than what the runner said.
const MOVED: Duration = Duration::from_secs(1);
/// A runner that lived longer than this was a good one.
const STEADY: Duration = Duration::from_secs(10);
/// How often runners that have not ended yet are asked to.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// All runners of one controller.
pub struct Supervisor {
    settings: Settings,
    plan: Plan,
    bell: Bell,
    jobs: HashMap<String, Job>,
    looks: mpsc::Receiver<Vec<JobOverview>>,
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
        let jobs = watch::look(&mut conn.0, settings).await?;
        for name in &plan.names {
            check(name, jobs.iter().find(|job| job.job_name == *name))?;
        }
        let bell = Bell::open(settings, &plan).await?;
        let (look, looks) = mpsc::channel(1);
        let (reporter, reports) = mpsc::unbounded_channel();
        // The look that was just taken is repeated at once; one truth, one path.
        tokio::spawn(watch::run(settings.clone(), conn, bell.clone(), plan.ttl, look));
        Ok(Supervisor {
            settings: settings.clone(),
            plan,
            bell,
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
                Some(Ok(stopped)) = self.stops.join_next() => self.stopped(stopped),
                () = self.service.alive() => {}
                Some(jobs) = self.looks.recv() => {
                    self.part_with_the_gone(&jobs);
                    self.tend(&jobs);
                    self.stop_late_runs(&jobs);
                    if let Some(ended) = self.all_ended() {
                        return ended;
                    }
                }
            }
        }
        self.drain(signals).await
    }

    /// Waits until all runners have ended, asking those that work. Whoever does not want to wait sends a second signal, which
    /// stops the present runs, or a third, which leaves them to the server; so may the end of the grace.
    async fn drain(mut self, signals: &mut Signals) -> Result<(), Error> {
        self.stopping.store(true, Ordering::Relaxed);
        self.service.stopping();
        let mut again = interval(ASK_AGAIN);
        let mut grace = self.plan.grace.map(|grace| Instant::now() + grace);
        let mut impatient = None;
        let mut asked: Option<JoinHandle<()>> = None;
        // Why runs are stopped: also those that begin before their runners have heard that they are to end.
        let mut why = None;
        while self.jobs.values().any(|job| job.runner.is_some()) || !self.stops.is_empty() {
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
                Some(Ok(stopped)) = self.stops.join_next() => self.stopped(stopped),
                () = self.service.alive() => {}
                // Heartbeats go on as long as somebody takes the looks.
                Some(jobs) = self.looks.recv() => {
                    self.part_with_the_gone(&jobs);
                    self.stop_late_runs(&jobs);
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

    /// Stops all present runs.
    fn stop_runs(&mut self, reason: &'static str) {
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
    fn stopped(&mut self, (name, again): Stopped) {
        if let Some(job) = self.jobs.get_mut(&name).filter(|_| again) {
            job.late = None;
            job.stopping = false;
        }
    }

    /// Stops the runs that take longer than they may, each once; also those that a dead controller left behind.
    fn stop_late_runs(&mut self, seen: &[JobOverview]) {
        for overview in seen.iter().filter(|overview| overview.last_overdue == 1 && overview.job_runner_elsewhere == 0) {
            let ours = |job: &&mut Job| job.runner.is_some() || overview.status == GHOST;
            let Some(job) = self.jobs.get_mut(&overview.job_name).filter(ours) else { continue };
            if job.late != overview.last_started_at {
                job.late = overview.last_started_at;
                self.stops.spawn(stop_late(self.settings.clone(), overview.job_name.clone()));
            }
        }
    }

    /// Parts with the runners that the server does not have any more, though nobody told us: their connections are silent.
    fn part_with_the_gone(&mut self, seen: &[JobOverview]) {
        for overview in seen {
            let Some(job) = self.jobs.get_mut(&overview.job_name) else { continue };
            let Some(runner) = job.runner.as_mut().filter(|runner| runner.connection.is_some()) else { continue };
            if overview.job_runner_elsewhere == 0 && overview.job_runner_connection_id == runner.connection {
                runner.shown = Instant::now();
                job.patience.regain();
                continue;
            }
            let moved = overview.job_runner_elsewhere == 1 && runner.works.is_some();
            if runner.shown.elapsed() > if moved { MOVED } else { job.patience.now() } {
                runner.task.abort();
                let message = match moved {
                    true => "it was left on another server, which finishes its run".to_owned(),
                    false => format!("the server has not had it for {} s", job.patience.now().as_secs()),
                };
                job.patience.lost();
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
            }
            // Only now: one that starts and cannot even record a run would be tried for ever without a pause.
            Report::Ran => job.backoff.reset(),
            Report::Ended(end) => {
                let worked = runner.works.is_some();
                if runner.works.is_some_and(|since| since.elapsed() > STEADY) {
                    job.backoff.reset();
                }
                job.former = runner.connection.filter(|_| worked);
                job.runner = None;
                job.not_before = Instant::now() + job.backoff.wait();
                let said = match &end {
                    Ok(message) => message.clone(),
                    Err(error) => error.with_cause(),
                };
                if worked {
                    tracing::info!(job = name, "runner ended: {said}");
                // Numbers change while all stays as it is: how long to wait, which connection.
                } else if job.says(&said.replace(|c: char| c.is_ascii_digit(), "")) {
                    tracing::warn!(job = name, "no runner yet: {said}");
                }
            }
        }
    }

    /// Gives a runner to each job that wants one, and notes which schedules have ended.
    fn tend(&mut self, seen: &[JobOverview]) {
        for name in self.plan.names.iter().filter(|name| !seen.iter().any(|job| job.job_name == **name)) {
            self.jobs.entry(name.clone()).or_default().ended = Some("dropped".into());
        }
        let mut rung = Vec::new();
        for overview in seen {
            let name = &overview.job_name;
            if !self.plan.names.is_empty() && !self.plan.names.contains(name) {
                continue;
            }
            let job = self.jobs.entry(name.clone()).or_default();
            job.job_id = overview.job_id;
            let asked = (overview.job_changed, matches!(overview.status.as_str(), "PAUSED (all)" | "PAUSING" | "HELD"));
            if job.seen.replace(asked).is_some_and(|seen| seen != asked) && job.runner.is_some() {
                rung.push(overview.job_id);
            }
            if job.runner.is_some() {
                continue;
            }
            let wanted = wants_runner(overview);
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
                job.tries += 1;
                let (tries, name, reporter) = (job.tries, name.clone(), self.reporter.clone());
                let told = name.clone();
                let report = move |report| {
                    // The supervisor is gone only when the process ends.
                    let _ = reporter.send((told.clone(), tries, report));
                };
                let (settings, plan, bell) = (self.settings.clone(), self.plan.clone(), self.bell.clone());
                let run = runner::run(settings, plan, (overview.job_id, name), bell, self.stopping.clone(), report);
                let task = tokio::spawn(run).abort_handle();
                job.runner = Some(Runner { task, connection: None, works: None, shown: Instant::now() });
            }
        }
        if !rung.is_empty() {
            self.bell.ring(rung);
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
            let ended = job.ended.as_ref().filter(|_| job.runner.is_none())?;
            if ended != FINISHED {
                failed.push(format!("`{name}` is {ended}"));
            }
        }
        Some(match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::new(Kind::Failed, format!("not all schedules were finished: {}", failed.join(", ")))),
        })
    }
}

/// Waits until an instant, or for ever.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
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

/// Whether a runner may start for this job, as far as its status tells.
fn wants_runner(job: &JobOverview) -> bool {
    let wanted = matches!(job.job_status.as_str(), "ENABLED" | "RESUMED" | "PAUSED");
    job.job_kind == "PROCEDURE" && wanted && job.status != FINISHED
}

/// Refuses to start a job that does not exist, or whose status allows no runner.
fn check(name: &str, job: Option<&JobOverview>) -> Result<(), Error> {
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
