//! `jobctl status`.

use clap::Args;

use crate::db::{self, Session};
use crate::error::Error;
use crate::model::{JobName, JobOverview};
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Show how the jobs are: what they do now, how they ended last, when they are due
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// Names of the jobs to show [default: all]
    pub names: Vec<JobName>,
}

/// Shows the jobs named, or all.
pub async fn run(settings: &Settings, args: StatusArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let mut rows = Vec::new();
    for name in &args.names {
        rows.extend(db::jobs(&mut conn, &settings.schema, Some(name.as_str())).await?);
    }
    if args.names.is_empty() {
        rows = db::jobs(&mut conn, &settings.schema, None).await?;
    }
    let now = db::now(&mut conn).await?;
    conn.disconnect().await?;
    let jobs = JobOverview::read_all(&rows)?;
    Ok(report::status(rows, &jobs, now))
}
