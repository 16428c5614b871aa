//! `jobctl disable`.

use clap::Args;

use super::request;
use crate::error::Error;
use crate::model::JobName;
use crate::report::Answer;
use crate::settings::Settings;

/// Disable jobs: their runners end, and none may start
///
/// `jobctl enable` is the way back.
#[derive(Args, Debug)]
pub struct DisableArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<JobName>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Asks for it, job by job.
pub async fn run(settings: &Settings, args: DisableArgs) -> Result<Answer, Error> {
    request::jobs(settings, "disable", &args.names, args.reason.as_deref()).await
}
