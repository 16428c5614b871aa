//! What is known of a parked job.

use jiff::Timestamp;
use tokio::time::Instant;

use crate::controller::backoff::Backoff;

/// A job that is parked, or is to be.
#[derive(Debug)]
pub struct Space {
    /// Its name.
    pub job: String,
    /// Whether a runner of ours gave it back just now, so that its end is still to be written.
    pub goes_on: bool,
    /// What proves that it is ours; `None` until it is parked.
    pub token: Option<String>,
    /// Whether it was told what became of it.
    pub told: bool,
    /// Whether a session was opened for it, which takes it over.
    pub open: bool,
    /// When its next step is to be taken; `None`: it waits.
    pub step: Option<Instant>,
    /// Until when it waits, by the clock of the server; `None`: until it is changed.
    pub due: Option<Timestamp>,
    backoff: Backoff,
}

impl Space {
    /// One that is to be parked.
    pub fn wanted(job: String, goes_on: bool) -> Space {
        let step = Some(Instant::now());
        Space { job, goes_on, token: None, told: false, open: false, step, due: None, backoff: Backoff::default() }
    }

    /// It is parked; its first step is next.
    pub fn parked(&mut self, token: String) {
        self.token = Some(token);
        self.backoff.reset();
        self.step_soon();
    }

    /// A step is to be taken now.
    pub fn step_soon(&mut self) {
        self.step = Some(Instant::now());
    }

    /// Its row was locked: other jobs first.
    pub fn step_later(&mut self) {
        self.step = Some(Instant::now() + self.backoff.wait());
    }

    /// A step was taken, and there is nothing to do before `due`.
    pub fn waits(&mut self, due: Option<Timestamp>) {
        self.step = None;
        self.due = due;
        self.backoff.reset();
    }

    /// A session is opened: gives what proves that it may take the job over.
    pub fn opens(&mut self) -> Option<String> {
        self.open = true;
        self.token.clone()
    }

    /// The session came to nothing.
    pub fn is_back(&mut self, not_before: Instant) {
        self.open = false;
        self.step = Some(not_before);
    }
}
