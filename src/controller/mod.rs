//! Keeps runners alive: one dedicated connection each, which blocks in `job$run_with`.
//!
//! - `supervisor`: decides which job gets a runner when, and when all is over.
//! - `watch`: reads, again and again, what the schema says of the owner's jobs.
//! - `runner`: one connection, one call, from its login to its last row.
//! - `notice`: what a runner says while it works.
//! - `stop`: asks runners to end.
//! - `signals`: SIGINT and SIGTERM, heard in one place.
//! - `backoff`: how long to wait before trying again.

mod backoff;
mod notice;
mod runner;
mod signals;
mod stop;
mod supervisor;
mod watch;

use supervisor::Supervisor;

use crate::error::Error;
use crate::settings::Settings;

pub use backoff::Backoff;
pub use signals::{Signal, Signals};

/// What a controller is to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of jobs; empty: all jobs of the account, those defined later too.
    pub names: Vec<String>,
    /// Name by which the controller is known.
    pub controller: String,
}

/// Runs jobs until all named schedules have ended, or until a signal comes; then runners end after their present cycle. When
/// a second one comes, the runs that are left are left to the server.
///
/// # Errors
///
/// What the first login and the first look at the jobs say; a second signal; and when not all named schedules ended as FINISHED.
pub async fn run(settings: &Settings, plan: Plan, signals: &mut Signals) -> Result<(), Error> {
    Supervisor::start(settings, plan).await?.supervise(signals).await
}
