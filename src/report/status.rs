//! `jobctl status`: a job a line, readable at 80 columns.

use jiff::Timestamp;

use super::words::{distance, or_dash, outcome_tone, status as status_word};
use super::{Answer, Block, Cell, Table};
use crate::db::Record;
use crate::model::JobOverview;

/// Shows how jobs are.
pub fn status(rows: Vec<Record>, jobs: &[JobOverview], now: Timestamp) -> Answer {
    let header = ["name", "owner", "status", "runner", "last run", "next", "cycles", "failed"];
    let table = Table { header: header.map(String::from).to_vec(), rows: jobs.iter().map(|job| line(job, now)).collect() };
    let notes = jobs.iter().filter_map(|job| Some(format!("{}: {}", job.job_name, job.status_detail.as_ref()?)));
    let notes: Vec<_> = notes.collect();
    let mut blocks = vec![if jobs.is_empty() { Block::Text("no jobs".into()) } else { Block::Table(table) }];
    if !notes.is_empty() {
        blocks.push(Block::Text(notes.join("\n")));
    }
    Answer::new(rows, blocks)
}

fn line(job: &JobOverview, now: Timestamp) -> Vec<Cell> {
    vec![
        Cell::text(&job.job_name),
        Cell::text(&job.job_owner),
        status_word(job),
        Cell::text(runner(job)),
        last_run(job, now),
        Cell::text(or_dash(job.job_next.map(|next| distance(next, now)))),
        Cell::number(job.job_runner_cycles.unwrap_or(0)),
        Cell::number(job.job_failures),
    ]
}

/// `142 on app1`: the runner's connection and the host it came from.
fn runner(job: &JobOverview) -> String {
    match (job.job_runner_connection_id, &job.job_runner_host) {
        (None, _) => "-".into(),
        (Some(id), None) => id.to_string(),
        (Some(id), Some(host)) => format!("{id} {host}"),
    }
}

/// `ok 12ms, 3s ago`, `running for 3s`.
fn last_run(job: &JobOverview, now: Timestamp) -> Cell {
    let Some(outcome) = &job.last_outcome else { return Cell::text("-") };
    let mut text = outcome.to_lowercase();
    let at = job.last_finished_at.or(job.last_started_at);
    match (job.last_duration, at) {
        (Some(took), Some(at)) => text += &format!(" {}, {}", took.brief(), distance(at, now)),
        (None, Some(at)) => text += &format!(", {}", distance(at, now)),
        _ => {}
    }
    Cell::text(text).tone(outcome_tone(outcome))
}
