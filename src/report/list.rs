//! `jobctl list`: what is defined.

use jiff::tz::TimeZone;

use super::words::{or_dash, procedure, status, time};
use super::{Answer, Cell, Table};
use crate::db::Rows;
use crate::model::JobOverview;

/// Shows what is defined; a window only where a job has one.
pub fn list(rows: Rows, jobs: &[JobOverview], zone: &TimeZone) -> Answer {
    let mut header = vec!["name", "owner", "procedure", "every", "status"];
    let windows = jobs.iter().any(|job| job.job_schedule_start.is_some() || job.job_schedule_finish.is_some());
    if windows {
        header.extend(["start", "finish"]);
    }
    let line = |job: &JobOverview| {
        let mut cells = vec![
            Cell::text(&job.job_name),
            Cell::text(&job.job_owner),
            Cell::text(procedure(job)),
            Cell::text(or_dash(job.job_schedule_interval.map(|every| every.to_string()))),
            status(job),
        ];
        if windows {
            let instant = |instant: Option<_>| Cell::text(or_dash(instant.map(|instant| time(instant, zone))));
            cells.extend([instant(job.job_schedule_start), instant(job.job_schedule_finish)]);
        }
        cells
    };
    let table = Table { header: header.into_iter().map(String::from).collect(), rows: jobs.iter().map(line).collect() };
    Answer::table(rows, table)
}
