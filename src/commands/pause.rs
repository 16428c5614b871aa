//! `jobctl pause`.

use clap::Args;

use super::request;
use crate::error::Error;
use crate::model::JobName;
use crate::report::Answer;
use crate::settings::Settings;

/// Pause jobs: what comes due meanwhile is skipped for good
///
/// The runner stays and holds the lock; a run in progress is finished. `jobctl resume` ends the pause.
#[derive(Args, Debug)]
pub struct PauseArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<JobName>,
    /// Pause all your jobs at once, by a switch beside them
    #[arg(long)]
    pub all: bool,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Asks for it, job by job.
pub async fn run(settings: &Settings, args: PauseArgs) -> Result<Answer, Error> {
    match args.all {
        true => request::all(settings, "pause", args.reason.as_deref()).await,
        false => request::jobs(settings, "pause", &args.names, args.reason.as_deref()).await,
    }
}
