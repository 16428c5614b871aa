//! `jobctl enable`.

use clap::Args;

use super::request;
use crate::error::Error;
use crate::model::JobName;
use crate::report::Answer;
use crate::settings::Settings;

/// Enable jobs that are ABORTED, DISABLED, FINISHED or ERROR
///
/// Runners may start again. What fell into the time before is skipped. Failures in a row are counted anew.
#[derive(Args, Debug)]
pub struct EnableArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<JobName>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Asks for it, job by job.
pub async fn run(settings: &Settings, args: EnableArgs) -> Result<Answer, Error> {
    request::jobs(settings, "enable", &args.names, args.reason.as_deref()).await
}
