//! `jobctl show`: everything about a job, a line each.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::words::{distance, next, or_dash, outcome_tone, procedure, status, time};
use super::{Answer, Block, Cell, Table};
use crate::db::Rows;
use crate::model::JobOverview;

/// Shows jobs, one after the other.
pub fn job(rows: Rows, jobs: &[JobOverview], now: Timestamp, zone: &TimeZone) -> Answer {
    let mut blocks = Vec::new();
    for job in jobs {
        if !blocks.is_empty() {
            blocks.push(Block::Text("\n".into()));
        }
        blocks.push(Block::Table(Table { header: Vec::new(), rows: lines(job, now, zone) }));
    }
    Answer::new(rows, blocks)
}

/// Three lines more than a line of `jobctl status` has room for: what for, what happened last, what comes.
pub fn details(job: &JobOverview, now: Timestamp, zone: &TimeZone) -> Vec<String> {
    let at = |instant: Timestamp| format!("{} ({})", time(instant, zone), distance(instant, now));
    let every = job.job_schedule_interval.map(|every| format!(" every {every}")).unwrap_or_default();
    let what_for = job.job_description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    let started = job.last_started_at.map(|started| format!(" at {}", at(started))).unwrap_or_default();
    let error = error(job).map(|error| format!(": {error}")).unwrap_or_default();
    let last = match &job.last_outcome {
        Some(outcome) => format!("last run: {}{started}{error}", outcome.to_lowercase()),
        None => "last run: none".into(),
    };
    let coming = match (next(job), &job.status_detail) {
        (Some(next), None) if next <= now => "next run: now".into(),
        (Some(next), None) => format!("next run: {}", at(next)),
        (Some(next), Some(detail)) => format!("next run: {}; {detail}", at(next)),
        (None, detail) => format!("next run: none while {}", detail.as_ref().unwrap_or(&job.status)),
    };
    vec![format!("{} calls {}{every}{what_for}", job.job_name, procedure(job)), last, coming]
}

/// What went wrong in the last run.
fn error(job: &JobOverview) -> Option<String> {
    let message = job.last_error_message.as_ref()?;
    Some(match job.last_error_code {
        Some(code) => format!("{message} ({code})"),
        None => message.clone(),
    })
}

fn lines(job: &JobOverview, now: Timestamp, zone: &TimeZone) -> Vec<Vec<Cell>> {
    let at = |instant: Timestamp| Cell::text(format!("{}, {}", time(instant, zone), distance(instant, now)));
    let text = |text: &Option<String>| text.as_ref().map(Cell::text);
    let runner = job.job_runner_connection_id.map(|id| {
        let host = job.job_runner_host.as_ref().map(|host| format!(" from {host}")).unwrap_or_default();
        Cell::text(format!("connection {id}{host}"))
    });
    let lines = [
        ("name", Some(Cell::text(&job.job_name))),
        ("id", Some(Cell::text(job.job_id.to_string()))),
        ("owner", Some(Cell::text(&job.job_owner))),
        ("description", text(&job.job_description)),
        ("procedure", Some(Cell::text(procedure(job)))),
        ("every", Some(Cell::text(or_dash(job.job_schedule_interval.map(|every| every.to_string()))))),
        ("start", job.job_schedule_start.map(at)),
        ("finish", job.job_schedule_finish.map(at)),
        ("max failures", job.job_max_failures.map(|max| Cell::text(max.to_string()))),
        ("timeout", job.job_timeout.map(|timeout| Cell::text(timeout.to_string()))),
        ("on lost", (job.job_on_lost != "SKIP").then(|| Cell::text(job.job_on_lost.to_lowercase()))),
        ("defined", job.job_defined.map(at)),
        ("status", Some(status(job))),
        ("", text(&job.status_detail)),
        ("runner", runner),
        ("version", job.job_runner_connection_id.and(text(&job.job_runner_version))),
        ("controller", job.job_runner_connection_id.and(text(&job.job_runner_controller))),
        ("runner start", job.job_runner_start.map(at)),
        ("runner said", text(&job.job_runner_message)),
        ("cycles", job.job_runner_cycles.map(|cycles| Cell::text(cycles.to_string()))),
        ("failed in a row", Some(Cell::text(job.job_failures.to_string()))),
        ("last run", job.last_outcome.as_ref().map(|outcome| Cell::text(outcome.to_lowercase()).tone(outcome_tone(outcome)))),
        ("started", job.last_started_at.map(at)),
        ("took", job.last_duration.map(|took| Cell::text(took.brief()))),
        ("error", error(job).map(Cell::text)),
        ("next", next(job).map(at)),
    ];
    lines.into_iter().filter_map(|(label, cell)| Some(vec![Cell::text(label), cell?])).collect()
}
