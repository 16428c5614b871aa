//! `jobctl list`.

use clap::Args;

use crate::db::{self, Session};
use crate::error::Error;
use crate::model::JobOverview;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// List the jobs and their schedules
#[derive(Args, Debug)]
pub struct ListArgs {}

/// Lists the jobs.
pub async fn run(settings: &Settings, _: ListArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let rows = db::jobs(&mut conn, &settings.schema, None).await?;
    conn.disconnect().await?;
    let jobs = JobOverview::read_all(&rows)?;
    Ok(report::list(rows, &jobs, &settings.zone))
}
