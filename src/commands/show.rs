//! `jobctl show`.

use clap::Args;

use crate::db::{self, Session};
use crate::error::Error;
use crate::model::{JobName, JobOverview};
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Show everything about a job
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Name of the job
    pub name: JobName,
}

/// Shows the job, or all jobs of that name where several owners have one.
pub async fn run(settings: &Settings, args: ShowArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let rows = db::jobs(&mut conn, &settings.schema, Some(args.name.as_str())).await?;
    let now = db::now(&mut conn).await?;
    conn.disconnect().await?;
    let jobs = JobOverview::read_all(&rows)?;
    Ok(report::job(rows, &jobs, now, &settings.zone))
}
