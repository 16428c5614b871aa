//! `jobctl abort`.

use clap::Args;

use super::{cancel, request};
use crate::error::Error;
use crate::model::JobName;
use crate::output::Output;
use crate::report::Answer;
use crate::settings::Settings;

/// Abort jobs: their runners finish the present run, then end
///
/// With --now the present run is stopped, as by `jobctl cancel`. `jobctl enable` is the way back.
#[derive(Args, Debug)]
pub struct AbortArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<JobName>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Stop the present run as well
    #[arg(long)]
    pub now: bool,
}

/// Asks for it, job by job.
pub async fn run(settings: &Settings, args: AbortArgs, output: &mut Output) -> Result<Answer, Error> {
    let mut answer = request::jobs(settings, "abort", &args.names, args.reason.as_deref()).await?;
    for name in args.names.iter().filter(|_| args.now) {
        match cancel::one(settings, name, args.reason.as_deref(), output).await {
            // Nothing runs, which is what was asked for.
            Err(error) if error.code == Some(45004) && error.message.contains("has no run") => {}
            stopped => answer.extend(stopped?),
        }
    }
    Ok(answer)
}
