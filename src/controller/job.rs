//! What a controller knows of a job.

use std::time::Duration;

use jiff::Timestamp;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::backoff::Backoff;

/// How long looks may not show a runner that is logged in, at first and at most.
pub const PATIENCE: Duration = Duration::from_secs(5);
const CEILING: Duration = Duration::from_secs(300);

/// What the supervisor knows of a job.
#[derive(Debug)]
pub struct Job {
    /// Its number.
    pub job_id: u64,
    /// The runner of ours that is at it, from before its login to its end.
    pub runner: Option<Runner>,
    /// Whether the lot has it, or is to have it.
    pub parked: bool,
    /// Whether it was said that it has a runner, which may come and go as long as it is parked in between.
    pub announced: bool,
    /// How many there have been.
    pub tries: u64,
    /// Connection of the one before, which a look may still show.
    pub former: Option<u64>,
    /// How long looks may not show a runner that is logged in. What its connection waits for goes on in the server when we
    /// leave it: so each one gets more time than the one before, lest such sessions pile up there.
    pub patience: Duration,
    /// Before it, no new runner is tried.
    pub not_before: Instant,
    pub backoff: Backoff,
    /// What was said last, so that a refusal that stays is said once.
    pub said: Option<String>,
    /// The run that is being stopped because it took too long.
    pub late: Option<Timestamp>,
    /// Whether its present run, if there is one, is being stopped because the controller ends.
    pub stopping: bool,
    /// How its schedule ended, if it did.
    pub ended: Option<String>,
    /// Whether a look that shows only what needs attention shows it while it has no runner.
    pub wanted: bool,
    /// What a runner has to know of, as it was at the last look.
    pub seen: Option<Wanted>,
}

/// A runner of ours.
#[derive(Debug)]
pub struct Runner {
    /// Ends it, and closes its connection.
    pub task: AbortHandle,
    /// Its connection, once it is logged in.
    pub connection: Option<u64>,
    /// Since when it has the job.
    pub works: Option<Instant>,
    /// When it logged in, or when a look showed it last.
    pub shown: Instant,
    /// Whether it was to take its job over from the lot.
    pub was_parked: bool,
}

/// What is wanted of a job: when it changes, its runner is woken.
pub type Wanted = (Option<Timestamp>, bool);

impl Default for Job {
    fn default() -> Self {
        Job {
            job_id: 0,
            runner: None,
            parked: false,
            announced: false,
            tries: 0,
            former: None,
            patience: PATIENCE,
            not_before: Instant::now(),
            backoff: Backoff::default(),
            said: None,
            late: None,
            stopping: false,
            ended: None,
            wanted: false,
            seen: None,
        }
    }
}

impl Job {
    /// Gives the next runner more time to be seen.
    pub fn be_patient(&mut self) {
        self.patience = (self.patience * 2).min(CEILING);
    }

    /// Whether this is something else than what was said last.
    pub fn says(&mut self, said: &str) -> bool {
        let new = self.said.as_deref() != Some(said);
        if new {
            self.said = Some(said.to_owned());
        }
        new
    }

    /// Says once why it has no runner.
    pub fn no_runner_yet(&mut self, name: &str, why: &str) {
        // Numbers change while all stays as it is: how long to wait, which connection.
        if self.says(&why.replace(|c: char| c.is_ascii_digit(), "")) {
            tracing::warn!(job = name, "no runner yet: {why}");
        }
    }
}
