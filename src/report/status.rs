//! `jobctl status`: a job a line, readable at 80 columns.

use jiff::Timestamp;

use super::words::{self, gap, or_dash, outcome_tone, status as status_word};
use super::{Answer, Block, Cell, Table};
use crate::db::Rows;
use crate::model::JobOverview;

/// Shows how jobs are.
pub fn status(rows: Rows, jobs: &[JobOverview], now: Timestamp) -> Answer {
    let table = status_table(jobs, now);
    let details = jobs.iter().filter_map(|job| Some(format!("{}: {}", job.job_name, job.status_detail.as_ref()?)));
    let details: Vec<_> = details.collect();
    let mut answer = Answer::table(rows, table);
    if !details.is_empty() {
        answer.blocks.push(Block::Text(details.join("\n")));
    }
    answer
}

/// A job a row.
pub fn status_table(jobs: &[JobOverview], now: Timestamp) -> Table {
    let header = ["name", "owner", "status", "runner", "last run", "ago", "next in", "runs", "failing"];
    Table { header: header.map(String::from).to_vec(), rows: jobs.iter().map(|job| line(job, now)).collect() }
}

fn line(job: &JobOverview, now: Timestamp) -> Vec<Cell> {
    let ago = job.last_finished_at.or(job.last_started_at).map(|at| gap(at, now));
    vec![
        Cell::text(&job.job_name),
        Cell::text(&job.job_owner),
        status_word(job),
        Cell::text(runner(job)),
        last_run(job),
        Cell::text(or_dash(ago)),
        next(job, now),
        Cell::number(job.job_runner_cycles.unwrap_or(0)),
        Cell::number(job.job_failures),
    ]
}

/// Hosts that are the server's own.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// `142 app1`: the runner's connection and the host it came from, if that is not the server's own.
fn runner(job: &JobOverview) -> String {
    match (job.job_runner_connection_id, &job.job_runner_host) {
        (None, _) => "-".into(),
        (Some(id), Some(host)) if !LOCAL.contains(&host.as_str()) => format!("{id} {host}"),
        (Some(id), _) => id.to_string(),
    }
}

/// `ok 12ms`, `running`.
fn last_run(job: &JobOverview) -> Cell {
    let Some(outcome) = &job.last_outcome else { return Cell::text("-") };
    let took = job.last_duration.map(|took| format!(" {}", took.brief())).unwrap_or_default();
    Cell::text(outcome.to_lowercase() + &took).tone(outcome_tone(outcome))
}

/// `12s`, or `3s late`; what comes after a run is known when the run has ended.
fn next(job: &JobOverview, now: Timestamp) -> Cell {
    let Some(next) = words::next(job) else { return Cell::text("-") };
    let gap = gap(next, now);
    if job.status == "RUNNING" && next <= now {
        return Cell::text("-");
    }
    if next > now || gap == "0s" { Cell::text(gap) } else { Cell::text(gap + " late") }
}
