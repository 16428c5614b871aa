//! Keeps runners alive: one dedicated connection each, which blocks in `job$run_with`.
//!
//! - `supervisor`: decides which job gets a runner when, and when all is over.
//! - `job`: what is known of a job and its runner.
//! - `watch`: reads what the schema says of the owner's jobs, when something changed and now and then.
//! - `runner`: one connection, one call, from its login to its last row.
//! - `lot`: holds the locks of jobs that are not due for a while, and need no session.
//! - `bell`: shows that we live, and wakes runners.
//! - `ear`: hears that something changed.
//! - `notice`: what a runner says while it works.
//! - `ending`: asks runners to end.
//! - `kill`: stops a run, and stays until it is over.
//! - `service`: tells systemd.
//! - `silence`: tells a server that takes its time from a connection that is dead.
//! - `signals`: SIGINT and SIGTERM, heard in one place.
//! - `backoff`: how long to wait before trying again.

mod backoff;
mod bell;
mod ear;
mod ending;
mod job;
mod kill;
mod lot;
mod notice;
mod runner;
mod service;
mod signals;
mod silence;
mod supervisor;
mod watch;

use std::time::Duration;

use supervisor::Supervisor;
use tokio::time::timeout;

use crate::error::Error;
use crate::settings::Settings;

pub use backoff::Backoff;
pub use kill::{Progress, Why, stop};
pub use signals::{Signal, Signals};

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a controller is to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of jobs; empty: all jobs of the account, those defined later too.
    pub names: Vec<String>,
    /// Name by which the controller is known.
    pub controller: String,
    /// Whether it must be that name; else it gets a number, if another controller has it.
    pub exact: bool,
    /// How long the controller may show no sign of life before others take its jobs over.
    pub ttl: Duration,
    /// Age at which the session of a runner is replaced by a new one; `None`: as the schema says.
    pub session_max_age: Option<Duration>,
    /// How long present runs may take after a signal; `None`: as long as they want.
    pub grace: Option<Duration>,
    /// Whether those that take longer are stopped; else the server finishes and records them.
    pub kill_after_grace: bool,
    /// Which jobs are parked.
    pub park: Park,
}

/// Which jobs give their session back, while they are not due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Park {
    /// Those that are not due within a minute, when there are many jobs.
    Auto,
    /// None.
    Never,
    /// Those that are not due within that time.
    After(Duration),
}

impl Park {
    /// The shortest time: a session is opened seconds before it is needed.
    pub const LEAST: Duration = Duration::from_secs(10);

    /// How long a job that is parked has to wait at the least.
    pub fn span(self) -> Duration {
        match self {
            Park::After(span) => span,
            Park::Auto | Park::Never => Duration::from_secs(60),
        }
    }
}

impl Plan {
    /// How long a controller may show no sign of life, unless told otherwise.
    pub const TTL: Duration = Duration::from_secs(30);

    /// All jobs of the account, and nothing else said.
    pub fn all(controller: impl Into<String>) -> Plan {
        Plan {
            names: Vec::new(),
            controller: controller.into(),
            exact: false,
            ttl: Plan::TTL,
            session_max_age: None,
            grace: None,
            kill_after_grace: false,
            park: Park::Auto,
        }
    }
}

/// Runs jobs until all named schedules have ended, or until a signal comes; then runners end after their present runs. When
/// a second one comes, or the grace is over, those that are left are stopped, or left to the server.
///
/// # Errors
///
/// What the first login and the first look at the jobs say; a second signal; and when not all named schedules ended as FINISHED.
pub async fn run(settings: &Settings, plan: Plan, signals: &mut Signals) -> Result<(), Error> {
    let supervisor = Supervisor::start(settings, plan).await?;
    let bell = supervisor.bell();
    let ended = supervisor.supervise(signals).await;
    // Where the server is gone there is nobody to say goodbye to.
    let _ = timeout(GOODBYE, watch::goodbye(settings, &bell)).await;
    ended
}
