//! `jobctl drop`.

use clap::Args;
use serde_json::json;

use super::request::about;
use crate::db::{self, Session};
use crate::error::Error;
use crate::model::JobName;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Drop a job
///
/// Refused while the job has a runner. The record of its runs and events stays.
#[derive(Args, Debug)]
pub struct DropArgs {
    /// Name of the job
    pub name: JobName,
    /// Delete the record of its runs and events as well
    #[arg(long)]
    pub purge_history: bool,
}

/// Drops the job.
pub async fn run(settings: &Settings, args: DropArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let options = json!({ "purge_history": args.purge_history }).to_string();
    let arguments = vec![args.name.as_str().into(), options.into()];
    let rows = db::call(&mut conn, &settings.schema, "job$drop", arguments).await;
    let rows = rows.map_err(|error| match error.code {
        Some(45004) if !error.message.contains("anonymous") => {
            error.hint("`jobctl status` shows who; a runner ends after `jobctl abort`")
        }
        _ => about(error, &args.name),
    })?;
    conn.disconnect().await?;
    Ok(report::dropped(rows.into_first().unwrap_or_default(), &args.name, args.purge_history))
}
