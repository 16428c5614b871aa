//! `jobctl cancel`.

use clap::Args;
use serde_json::json;

use super::request::about;
use crate::controller::{Progress, Why, stop};
use crate::error::Error;
use crate::model::JobName;
use crate::output::Output;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Stop the present runs of jobs; their next occurrences come as planned
///
/// Returns when each run is over, its transaction is rolled back and its row is closed as KILLED. What a body had committed
/// stays. A run that completes in the very moment is OK.
#[derive(Args, Debug)]
pub struct CancelArgs {
    /// Names of the jobs
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<JobName>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Stops them, one after the other.
pub async fn run(settings: &Settings, args: CancelArgs, output: &mut Output) -> Result<Answer, Error> {
    let mut answer = Answer::default();
    for name in &args.names {
        answer.extend(one(settings, name, args.reason.as_deref(), output).await?);
    }
    Ok(answer)
}

/// Stops the present run of one job, and tells how it ended.
pub async fn one(settings: &Settings, name: &JobName, reason: Option<&str>, output: &mut Output) -> Result<Answer, Error> {
    let mut told = None;
    let ended = stop(settings, name.as_str(), Why::Asked(reason), |progress: &Progress| {
        // On a terminal a person sees that a long rollback goes on.
        if let Some(rows) = progress.rows_to_undo.filter(|rows| told != Some(*rows)) {
            output.progress(&format!("`{name}`: rolling back, {rows} rows to go"));
            told = Some(rows);
        }
    })
    .await
    .map_err(|error| match error.message.as_str() {
        "nothing runs" => Error { message: format!("`{name}` has no run that could be stopped"), ..error },
        told if told.starts_with("the definer may not kill") => error
            .hint("`GRANT CONNECTION_ADMIN ON *.* TO` the definer of jobctl's routines; on MariaDB it is `CONNECTION ADMIN`"),
        _ => about(error, name),
    })?;
    let row = json!({ "job_name": name.as_str(), "run_no": ended.run_no, "outcome": ended.outcome, "seconds": ended.took.map(|took| took.seconds()) });
    Ok(report::cancelled(row.as_object().cloned().unwrap_or_default(), name, &ended.outcome, ended.run_no, ended.took))
}
