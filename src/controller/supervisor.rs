//! Decides which job gets a runner when, and when all is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use super::backoff::Backoff;
use super::bell::Bell;
use super::kill::{self, Why};
use super::runner::{self, Report};
use super::service::Service;
use super::{Plan, Signals, ending, watch};
use crate::error::{Error, Kind};
use crate::model::{JobOverview, word};
use crate::settings::Settings;

/// A schedule that came to its end, whether or not a runner was there to note it.
const FINISHED: &str = "FINISHED";
/// A runner that holds no lock any more.
const LOST: &str = "LOST";
/// How long after a failure a run is tried to be stopped again.
const AGAIN: Duration = Duration::from_secs(5);
/// A runner that lived longer than this was a good one.
const STEADY: Duration = Duration::from_secs(10);
/// How long a runner that has ended, as the schema has it, may take to say so.
const FAREWELL: Duration = Duration::from_secs(10);
/// How often runners that have not ended yet are asked to.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// All runners of one controller.
pub struct Supervisor {
    settings: Settings,
    plan: Plan,
    bell: Bell,
    jobs: HashMap<String, Job>,
    looks: mpsc::Receiver<Vec<JobOverview>>,
    reports: mpsc::UnboundedReceiver<(String, Report)>,
    reporter: mpsc::UnboundedSender<(String, Report)>,
    /// Set when no new session may be opened any more.
    stopping: Arc<AtomicBool>,
    service: Service,
    /// Runs that are being stopped: each is stayed with until it is over.
    stops: JoinSet<Option<String>>,
}

/// What the supervisor knows of a job.
#[derive(Debug)]
struct Job {
    /// Its number.
    job_id: u64,
    /// Whether a runner of ours is at it, from its login to its end.
    running: bool,
    /// What waits for that runner.
    task: Option<AbortHandle>,
    /// Since when that runner has ended, as the schema has it.
    over: Option<Instant>,
    /// Since when that runner works.
    since: Option<Instant>,
    /// Connection of that runner, once it works.
    connection: Option<u64>,
    /// Connection of the one before, which a look may still show.
    former: Option<u64>,
    /// Before it, no new runner is tried.
    not_before: Instant,
    backoff: Backoff,
    /// What was said last, so that a refusal that stays is said once.
    said: Option<String>,
    /// The run that is being stopped because it took too long.
    late: Option<Timestamp>,
    /// How its schedule ended, if it did.
    ended: Option<String>,
    /// What a runner has to know of, as it was at the last look.
    seen: Option<Wanted>,
}

/// What is wanted of a job: when it changes, its runner is woken.
type Wanted = (Option<Timestamp>, bool);

impl Default for Job {
    fn default() -> Self {
        Job {
            job_id: 0,
            running: false,
            task: None,
            over: None,
            since: None,
            connection: None,
            former: None,
            not_before: Instant::now(),
            backoff: Backoff::default(),
            said: None,
            late: None,
            ended: None,
            seen: None,
        }
    }
}

impl Supervisor {
    /// Logs in, looks at the jobs, and refuses what cannot be run.
    pub async fn start(settings: &Settings, plan: Plan) -> Result<Self, Error> {
        let mut conn = watch::open(settings).await?;
        let jobs = watch::look(&mut conn, settings).await?;
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
                Some((name, report)) = self.reports.recv() => self.hear(name, report),
                Some(stopped) = self.stops.join_next() => self.stopped(stopped.ok().flatten()),
                () = self.service.alive() => {}
                Some(jobs) = self.looks.recv() => {
                    self.let_go(&jobs);
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
        again.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut grace = self.plan.grace.map(|grace| Instant::now() + grace);
        let mut impatient = None;
        let mut asked: Option<JoinHandle<()>> = None;
        while self.jobs.values().any(|job| job.running) || !self.stops.is_empty() {
            let asking = self.jobs.iter().filter_map(|(name, job)| Some((name.clone(), job.connection?))).collect();
            let waiting = self.jobs.values().filter(|job| job.running).map(|job| job.job_id).collect();
            tokio::select! {
                signal = signals.next() => match impatient.replace(signal) {
                    None => {
                        tracing::warn!("{} again: runs are stopped", signal.name());
                        self.stop_runs("its controller got a second signal");
                    }
                    Some(_) => return self.leave(Err(signal.into())),
                },
                () = at(grace) => {
                    grace = None;
                    if !self.plan.kill_after_grace {
                        return self.leave(Ok(()));
                    }
                    tracing::warn!("the grace is over: runs are stopped");
                    self.stop_runs("its controller ended, and the grace was over");
                }
                Some((name, report)) = self.reports.recv() => self.hear(name, report),
                Some(stopped) = self.stops.join_next() => self.stopped(stopped.ok().flatten()),
                () = self.service.alive() => {}
                // Heartbeats go on as long as somebody takes the looks.
                Some(jobs) = self.looks.recv() => {
                    self.let_go(&jobs);
                    self.stop_late_runs(&jobs);
                }
                // One at a time: where the server lets writes wait, they would be ever more.
                _ = again.tick(), if asked.as_ref().is_none_or(JoinHandle::is_finished) => {
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
        for (name, job) in self.jobs.iter().filter(|(_, job)| job.running) {
            tracing::warn!(job = name, connection = job.connection, "left to the server, which finishes its run");
        }
        ended
    }

    /// Stops all present runs.
    fn stop_runs(&mut self, reason: &'static str) {
        for (name, _) in self.jobs.iter().filter(|(_, job)| job.running) {
            let (settings, job) = (self.settings.clone(), name.clone());
            self.stops.spawn(async move {
                match kill::stop(&settings, &job, Why::Asked(Some(reason)), |_| {}).await {
                    Ok(ended) => tracing::warn!(job, run_no = ended.run_no, "run stopped, it is {}", ended.outcome),
                    // It was between two runs.
                    Err(error) if error.code == Some(45004) => {}
                    Err(error) => tracing::error!(job, "its run could not be stopped: {}", error.with_cause()),
                }
                None
            });
        }
    }

    /// A run that could not be stopped may be tried again.
    fn stopped(&mut self, failed: Option<String>) {
        if let Some(job) = failed.and_then(|name| self.jobs.get_mut(&name)) {
            job.late = None;
        }
    }

    /// Stops the runs that take longer than they may, each once.
    fn stop_late_runs(&mut self, seen: &[JobOverview]) {
        for overview in seen.iter().filter(|overview| overview.last_overdue == 1 && overview.status == "RUNNING") {
            let Some(job) = self.jobs.get_mut(&overview.job_name).filter(|job| job.running) else { continue };
            if job.late != overview.last_started_at {
                job.late = overview.last_started_at;
                self.stops.spawn(stop_late(self.settings.clone(), overview.job_name.clone()));
            }
        }
    }

    /// Gives up runners that have ended on the server, and whose connections are silent about it.
    fn let_go(&mut self, seen: &[JobOverview]) {
        let mut silent = Vec::new();
        for overview in seen {
            let Some(job) = self.jobs.get_mut(&overview.job_name).filter(|job| job.running) else { continue };
            // Of one that is LOST nobody knows: its body may have given away the lock, and go on.
            let over =
                job.connection.is_some() && job.connection != overview.job_runner_connection_id && overview.status != LOST;
            job.over = over.then(|| job.over.unwrap_or_else(Instant::now));
            if job.over.is_some_and(|since| since.elapsed() > FAREWELL) {
                job.task.take().inspect(AbortHandle::abort);
                silent.push(overview.job_name.clone());
            }
        }
        for name in silent {
            let error = Error::new(Kind::Unreachable, "it has ended on the server, and its connection is silent");
            self.hear(name, Report::Ended(Err(error)));
        }
    }

    /// Takes in what a runner says.
    fn hear(&mut self, name: String, report: Report) {
        let job = self.jobs.entry(name.clone()).or_default();
        match report {
            Report::Started { connection } => {
                job.connection = Some(connection);
                job.since = Some(Instant::now());
                job.said = None;
            }
            // Only now: one that starts and cannot even record a run would be tried for ever without a pause.
            Report::Ran => job.backoff.reset(),
            Report::Ended(end) => {
                job.former = job.connection.take();
                let worked = job.former.is_some();
                job.running = false;
                (job.task, job.over) = (None, None);
                if job.since.take().is_some_and(|since| since.elapsed() > STEADY) {
                    job.backoff.reset();
                }
                job.not_before = Instant::now() + job.backoff.wait();
                let said = match &end {
                    Ok(message) => message.clone(),
                    Err(error) => error.with_cause(),
                };
                if worked {
                    tracing::info!(job = name, "runner ended: {said}");
                } else if job.said.as_ref() != Some(&said) {
                    tracing::warn!(job = name, "no runner yet: {said}");
                    job.said = Some(said);
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
            if job.seen.replace(asked).is_some_and(|seen| seen != asked) && job.running {
                rung.push(overview.job_id);
            }
            if job.running {
                continue;
            }
            let wanted = wants_runner(overview);
            if !wanted && job.ended.is_none() && !self.plan.names.is_empty() {
                tracing::info!(job = name, "schedule ended: {}", overview.status);
            }
            job.ended = (!wanted).then(|| overview.status.clone());
            if wanted && let Some(other) = overview.job_runner_connection_id.filter(|other| job.former != Some(*other)) {
                let host = overview.job_runner_host.as_ref().map(|host| format!(" from {host}")).unwrap_or_default();
                let said = format!("already run by connection {other}{host}");
                if job.said.as_ref() != Some(&said) {
                    tracing::info!(job = name, "{said}: standing by");
                    job.said = Some(said);
                }
            }
            // Another's runner is at work: stand by, and look again when its lock is free.
            if wanted && overview.job_runner_connection_id.is_none() && job.not_before <= Instant::now() {
                job.running = true;
                let (settings, plan, bell) = (self.settings.clone(), self.plan.clone(), self.bell.clone());
                let (stopping, reporter) = (self.stopping.clone(), self.reporter.clone());
                let runner = runner::run(settings, plan, (overview.job_id, name.clone()), bell, stopping, reporter);
                job.task = Some(tokio::spawn(runner).abort_handle());
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
            let ended = job.ended.as_ref().filter(|_| !job.running)?;
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

/// Stops a run that takes too long; that it could not be is an error that somebody sees, and it is tried again. Gives the job.
async fn stop_late(settings: Settings, job: String) -> Option<String> {
    match kill::stop(&settings, &job, Why::Timeout, |_| {}).await {
        Ok(ended) => {
            tracing::warn!(job, run_no = ended.run_no, "run stopped after its timeout, it is {}", ended.outcome);
            None
        }
        // It ended by itself in that moment.
        Err(error) if error.message == "no run has taken too long" => Some(job),
        Err(error) => {
            tracing::error!(job, "the timeout could not be enforced, trying again: {}", error.with_cause());
            sleep(AGAIN).await;
            Some(job)
        }
    }
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
