//! The lot: one connection that holds the locks of all parked jobs, and takes their steps, so that none of them needs a session
//! until it is due. Nothing waits on it: a row that somebody has locked is tried again later, other jobs first.
//!
//! - `plan`: when sessions are opened.
//! - `space`: what is known of a parked job.
//! - `warden`: the connection, and what is asked over it.

mod plan;
mod space;
mod warden;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use self::space::Space;
use self::warden::{Action, Warden};
use super::Plan;
use super::backoff::Backoff;
use super::bell::Bell;
use super::notice::Notice;
use crate::error::Error;
use crate::settings::Settings;

/// How often it is looked whether the connection still stands, and what the server's clock says.
const LOOK: Duration = Duration::from_millis(400);
/// What errors of the server mean that a row is locked: a deadlock, a wait that was too long, a change in between.
const BUSY: [u16; 3] = [1213, 1205, 1020];
/// How a parked job ends when its controller does.
const SHUTDOWN: &str = "Ended because its controller shuts down";

/// What the session of a parked job proves itself with.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Number of the job.
    pub job_id: u64,
    /// The run token of the lot.
    pub token: String,
}

/// What becomes of a job that was to be parked.
#[derive(Debug)]
pub enum Report {
    /// It is parked, until then; `None`: until it is changed, or not at all.
    Parked { job: String, connection: u64, until: Option<Timestamp> },
    /// It is not parked here, and why, if that is not known already.
    Free { job: String, why: Option<String> },
    /// It was, and ended.
    Ended { job: String, connection: u64, message: String },
    /// It is to get a session, which takes it over from here.
    Due { job: String, ticket: Ticket },
}

/// Something to do.
enum Request {
    Park { job_id: u64, job: String, goes_on: bool },
    Look(Vec<u64>),
    HandOver(u64),
    Back { job_id: u64, job: String, not_before: Instant },
    End,
}

/// A way to reach the lot.
#[derive(Clone)]
pub struct Lot(mpsc::UnboundedSender<Request>);

impl Lot {
    /// Opens a lot, which logs in when there is something to be parked.
    pub fn open(settings: &Settings, plan: &Plan, bell: &Bell) -> (Lot, mpsc::UnboundedReceiver<Report>) {
        let (requests, inbox) = mpsc::unbounded_channel();
        let (reports, heard) = mpsc::unbounded_channel();
        let keeper = Keeper {
            settings: settings.clone(),
            plan: plan.clone(),
            bell: bell.clone(),
            reports,
            warden: None,
            backoff: Backoff::default(),
            not_before: Instant::now(),
            broken: false,
            spaces: HashMap::new(),
            handed: VecDeque::new(),
            look: Instant::now(),
            ending: false,
        };
        tokio::spawn(keeper.keep(inbox));
        (Lot(requests), heard)
    }

    /// Parks a job; `goes_on`: a runner of ours gave it back just now.
    pub fn park(&self, job_id: u64, job: &str, goes_on: bool) {
        self.ask(Request::Park { job_id, job: job.to_owned(), goes_on });
    }

    /// Steps are to be taken, as these jobs were changed.
    pub fn look(&self, job_ids: Vec<u64>) {
        self.ask(Request::Look(job_ids));
    }

    /// A session has taken the job over, and waits for its lock.
    pub fn hand_over(&self, job_id: u64) {
        self.ask(Request::HandOver(job_id));
    }

    /// The session that was to take the job over is none, and the next one may be tried from then on.
    pub fn back(&self, job_id: u64, job: &str, not_before: Instant) {
        self.ask(Request::Back { job_id, job: job.to_owned(), not_before });
    }

    /// All parked jobs are to end, and those that are given back from now on.
    pub fn end(&self) {
        self.ask(Request::End);
    }

    fn ask(&self, request: Request) {
        // The lot is gone only when the process ends.
        let _ = self.0.send(request);
    }
}

/// Whoever keeps the lot.
struct Keeper {
    settings: Settings,
    plan: Plan,
    bell: Bell,
    reports: mpsc::UnboundedSender<Report>,
    warden: Option<Warden>,
    backoff: Backoff,
    /// Before it, no login is tried.
    not_before: Instant,
    /// Whether it was said that the connection is lost.
    broken: bool,
    spaces: HashMap<u64, Space>,
    /// Jobs whose sessions wait for the lock.
    handed: VecDeque<u64>,
    /// When the next look is due.
    look: Instant,
    ending: bool,
}

impl Keeper {
    async fn keep(mut self, mut inbox: mpsc::UnboundedReceiver<Request>) {
        loop {
            // What was asked meanwhile may be more urgent than what is next.
            loop {
                match inbox.try_recv() {
                    Ok(request) => self.take(request),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => return,
                }
            }
            let wake = match self.once().await {
                Ok(wake) => wake,
                Err(error) => {
                    self.lose(Some(&error));
                    None
                }
            };
            if let Some(wake) = wake {
                tokio::select! {
                    request = inbox.recv() => match request {
                        Some(request) => self.take(request),
                        None => return,
                    },
                    () = sleep_until(wake) => {}
                }
            }
        }
    }

    fn take(&mut self, request: Request) {
        match request {
            Request::Park { job, goes_on, .. } if self.ending && !(goes_on && self.warden.is_some()) => {
                self.tell(Report::Free { job, why: None });
            }
            Request::Park { job_id, job, goes_on } => {
                self.spaces.insert(job_id, Space::wanted(job, goes_on));
            }
            Request::Look(job_ids) => {
                for job_id in job_ids {
                    if let Some(space) = self.spaces.get_mut(&job_id) {
                        space.step_soon();
                    }
                }
            }
            Request::HandOver(job_id) if self.spaces.get(&job_id).is_some_and(|space| space.open) => {
                self.handed.push_back(job_id);
            }
            Request::HandOver(_) => {}
            Request::Back { job_id, job, not_before } => match self.spaces.get_mut(&job_id).filter(|space| space.open) {
                Some(space) => space.is_back(if self.ending { Instant::now() } else { not_before }),
                None => self.tell(Report::Free { job, why: None }),
            },
            Request::End => {
                self.ending = true;
                let connected = self.warden.is_some();
                self.part_with(|space| !space.open && space.token.is_none() && !(space.goes_on && connected));
                for space in self.spaces.values_mut() {
                    space.step_soon();
                }
            }
        }
    }

    /// Does what is most urgent; when there is nothing, tells when there will be.
    async fn once(&mut self) -> Result<Option<Instant>, Error> {
        let identity = self.bell.identity();
        let life = identity.as_ref().map(|identity| identity.life);
        if self.warden.as_ref().is_some_and(|warden| Some(warden.identity.life) != life) {
            // Whoever stands by may go on at once.
            self.lose(None);
        }
        let now = Instant::now();
        let Some(warden) = &mut self.warden else {
            let Some(identity) = identity.filter(|_| !self.spaces.is_empty()) else {
                return Ok(Some(now + LOOK));
            };
            if now < self.not_before {
                return Ok(Some(self.not_before));
            }
            self.warden = Some(Warden::open(&self.settings, &self.plan, identity).await?);
            if std::mem::take(&mut self.broken) {
                tracing::info!("the connection that holds the locks of parked jobs is back");
            }
            self.look = Instant::now() + LOOK;
            return Ok(None);
        };
        if let Some(job_id) = self.handed.front() {
            match warden.hand_over(*job_id).await {
                Err(error) if error.code.is_some() => {
                    tracing::warn!("cannot hand a job over, trying again: {}", error.with_cause());
                    self.handed.rotate_left(1);
                    return Ok(Some(now + LOOK / 4));
                }
                done => done?,
            }
            if let Some(job_id) = self.handed.pop_front()
                && let Some(space) = self.spaces.remove(&job_id)
                && !space.open
            {
                // Meanwhile its session came to nothing.
                self.tell(Report::Free { job: space.job, why: None });
            }
            return Ok(None);
        }
        if self.look <= now {
            warden.look().await?;
            self.backoff.reset();
            self.look = Instant::now() + LOOK;
            return Ok(None);
        }
        let opening = match self.ending {
            true => None,
            false => self.next_opening(now),
        };
        if let Some((opening, job_id)) = opening
            && opening <= now
        {
            let Some(space) = self.spaces.get_mut(&job_id) else { return Ok(None) };
            if let Some(token) = space.opens() {
                let job = space.job.clone();
                self.tell(Report::Due { job, ticket: Ticket { job_id, token } });
            }
            return Ok(None);
        }
        let steps = self.spaces.iter().filter_map(|(job_id, space)| Some((space.step.filter(|_| !space.open)?, *job_id)));
        match steps.min() {
            Some((step, job_id)) if step <= now => {
                self.step(job_id).await?;
                Ok(None)
            }
            step => {
                let wakes = [Some(self.look), step.map(|step| step.0), opening.map(|opening| opening.0)];
                Ok(wakes.into_iter().flatten().min())
            }
        }
    }

    /// When which session is to be opened next.
    fn next_opening(&self, now: Instant) -> Option<(Instant, u64)> {
        let clock = self.warden.as_ref()?.now();
        let due = self.spaces.iter().filter(|(_, space)| !space.open && space.step.is_none()).filter_map(|(job_id, space)| {
            let wait = space.due?.duration_since(clock);
            Some((Duration::try_from(wait).unwrap_or_default(), *job_id))
        });
        let (opening, job_id) = plan::openings(due).into_iter().next()?;
        Some((now + opening, job_id))
    }

    /// Parks a job, or takes its next step.
    async fn step(&mut self, job_id: u64) -> Result<(), Error> {
        let (Some(warden), Some(space)) = (&mut self.warden, self.spaces.get_mut(&job_id)) else { return Ok(()) };
        let connection = warden.connection;
        let Some(token) = &space.token else {
            match warden.park(&space.job).await {
                Ok(Ok(token)) => space.parked(token),
                Ok(Err(why)) => self.part(job_id, Some(why)),
                Err(error) if error.is_server(&BUSY) => space.step_later(),
                Err(error) if error.code.is_some() => self.part(job_id, Some(error.with_cause())),
                Err(error) => return Err(error),
            }
            return Ok(());
        };
        let end = self.ending.then_some(SHUTDOWN);
        let turn = match warden.turn(job_id, token, end).await {
            Ok(turn) => turn,
            Err(error) if error.code.is_some() => {
                space.step_later();
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let job = space.job.clone();
        let first = !std::mem::replace(&mut space.told, true);
        let until = match turn.action {
            Action::Busy => {
                space.told = !first;
                space.step_later();
                return Ok(());
            }
            Action::Wait(until) => {
                space.waits(Some(until));
                Some(until)
            }
            Action::Idle => {
                space.waits(None);
                None
            }
            Action::Due => {
                space.waits(Some(warden.now()));
                None
            }
            Action::Skip => {
                space.told = !first;
                Notice::Skipped { message: turn.message }.log(&job, 0);
                return Ok(());
            }
            Action::End => {
                self.spaces.remove(&job_id);
                if first {
                    self.tell(Report::Parked { job: job.clone(), connection, until: None });
                }
                self.tell(Report::Ended { job, connection, message: turn.message });
                return Ok(());
            }
        };
        if first {
            self.tell(Report::Parked { job, connection, until });
        }
        Ok(())
    }

    /// Gives the connection up: the locks are free, whatever state it is in, and the jobs are to be parked again.
    fn lose(&mut self, error: Option<&Error>) {
        let warden = self.warden.take();
        let parked = self.spaces.values().filter(|space| !space.open && space.token.is_some()).count();
        if let Some(error) = error.filter(|_| parked > 0 && !self.broken) {
            tracing::warn!("lost the connection that holds the locks of parked jobs ({parked}): {}", error.with_cause());
            self.broken = true;
        }
        drop(warden);
        self.not_before = Instant::now() + error.map(|_| self.backoff.wait()).unwrap_or_default();
        self.handed.clear();
        // Their sessions get the locks without us.
        self.spaces.retain(|_, space| !space.open);
        for space in self.spaces.values_mut() {
            space.token = None;
            space.waits(None);
            space.step_soon();
        }
        if self.ending {
            self.part_with(|_| true);
        }
    }

    /// Parts with jobs that are not parked.
    fn part_with(&mut self, which: impl Fn(&Space) -> bool) {
        let gone: Vec<_> = self.spaces.iter().filter(|(_, space)| which(space)).map(|(job_id, _)| *job_id).collect();
        for job_id in gone {
            self.part(job_id, None);
        }
    }

    fn part(&mut self, job_id: u64, why: Option<String>) {
        if let Some(space) = self.spaces.remove(&job_id) {
            self.tell(Report::Free { job: space.job, why });
        }
    }

    fn tell(&self, report: Report) {
        // The supervisor is gone only when the process ends.
        let _ = self.reports.send(report);
    }
}
