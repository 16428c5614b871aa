//! `jobctl resume`.

use clap::Args;

use super::request;
use crate::error::Error;
use crate::model::JobName;
use crate::report::Answer;
use crate::settings::Settings;

/// Resume paused jobs at their next occurrences
///
/// What fell into the pause stays skipped.
#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<JobName>,
    /// Lift the switch of `pause --all`; jobs paused singly stay paused
    #[arg(long)]
    pub all: bool,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Asks for it, job by job.
pub async fn run(settings: &Settings, args: ResumeArgs) -> Result<Answer, Error> {
    match args.all {
        true => request::all(settings, "resume", args.reason.as_deref()).await,
        false => request::jobs(settings, "resume", &args.names, args.reason.as_deref()).await,
    }
}
