//! A job as the view `job_overview` shows it.

use jiff::Timestamp;
use serde::Deserialize;

use super::Span;

/// The columns of `job_overview` that people are shown; `--output json` prints all of them.
#[derive(Clone, Debug, Deserialize)]
pub struct JobOverview {
    /// Never reused.
    pub job_id: u64,
    /// User name of the account that defined it.
    pub job_owner: String,
    /// Unique for the owner.
    pub job_name: String,
    /// What it is for.
    pub job_description: Option<String>,
    /// Schema of its procedure.
    pub job_procedure_schema: Option<String>,
    /// Name of its procedure.
    pub job_procedure_name: Option<String>,
    /// Nothing is planned before it.
    pub job_schedule_start: Option<Timestamp>,
    /// Nothing is planned after it.
    pub job_schedule_finish: Option<Timestamp>,
    /// Between two planned instants.
    pub job_schedule_interval: Option<Span>,
    /// Failures in a row that end it.
    pub job_max_failures: Option<u64>,
    /// How long an attempt may take.
    pub job_timeout: Option<Span>,
    /// SKIP or RETRY: what becomes of an occurrence whose run was lost.
    pub job_on_lost: String,
    /// PROCEDURE, STATEMENT or EXTERNAL.
    pub job_kind: String,
    /// What is wanted of it.
    pub job_status: String,
    /// What it is, in one derived word.
    pub status: String,
    /// More about the word.
    pub status_detail: Option<String>,
    /// Connection of its runner, while one lives.
    pub job_runner_connection_id: Option<u64>,
    /// Host from which the runner is logged in.
    pub job_runner_host: Option<String>,
    /// 1 when its runner is one of another server, so that only the row tells of it.
    pub job_runner_elsewhere: u64,
    /// Controller that keeps the runner alive.
    pub job_runner_controller: Option<String>,
    /// Version of jobctl whose routines the runner executes.
    pub job_runner_version: Option<String>,
    /// Since when the runner works.
    pub job_runner_start: Option<Timestamp>,
    /// Cycles that the present or last runner has done.
    pub job_runner_cycles: Option<u64>,
    /// How the last runner ended.
    pub job_runner_message: Option<String>,
    /// Failures in a row, up to now.
    pub job_failures: u64,
    /// The next planned instant.
    pub job_next: Option<Timestamp>,
    /// When its last run started.
    pub last_started_at: Option<Timestamp>,
    /// When its last run ended.
    pub last_finished_at: Option<Timestamp>,
    /// How its last run ended.
    pub last_outcome: Option<String>,
    /// How long its last run took, or has taken up to now.
    pub last_duration: Option<Span>,
    /// 1 when its present run takes longer than it may, by the clock of the server.
    pub last_overdue: u64,
    /// Server error code of its last run.
    pub last_error_code: Option<u64>,
    /// What went wrong in its last run.
    pub last_error_message: Option<String>,
    /// When a person or a request changed it last; compare for inequality only.
    pub job_changed: Option<Timestamp>,
    /// When it was defined first.
    pub job_defined: Option<Timestamp>,
}
