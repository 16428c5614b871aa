//! What a runner says while it works: one row `(job$notice, run_no, seconds, message)` for each thing that happens.

use mysql_async::Row;
use serde_json::Value;

use crate::db::record;
use crate::model::Span;

/// First column of a notice, which tells it from the rows of a body.
pub const COLUMN: &str = "job$notice";

/// One thing that happened.
#[derive(Debug, PartialEq)]
pub enum Notice {
    /// The runner took the job over, on this connection.
    Started {
        /// `CONNECTION_ID()` of the runner.
        connection: u64,
    },
    /// A run ended well.
    Ok {
        /// Number of the run.
        run_no: u64,
        /// How long it took.
        took: Option<Span>,
    },
    /// A run failed.
    Failed {
        /// Number of the run.
        run_no: u64,
        /// How long it took.
        took: Option<Span>,
        /// What went wrong.
        message: String,
    },
    /// The session is to be replaced by a new one.
    Retired {
        /// What the body left in it; `None`: it was only old.
        left: Option<String>,
    },
    /// The job is not due for a while: its session is given back.
    Parked,
    /// The job was taken over from the lot, which is to let go of its lock.
    Unparked,
    /// Occurrences were skipped.
    Skipped {
        /// Which, and why.
        message: String,
    },
}

impl Notice {
    /// Reads a row; `None` for one that is no notice, as a body may forge.
    pub fn read(row: Row) -> Option<Notice> {
        let row = record(row);
        let text = |column: &str| match row.get(column)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let run_no = || row.get("run_no")?.as_u64();
        let took = text("seconds").and_then(|seconds| Span::from_seconds(&seconds));
        let message = || text("message").unwrap_or_else(|| "no diagnostics".into());
        match text(COLUMN)?.as_str() {
            "STARTED" => Some(Notice::Started { connection: message().parse().ok()? }),
            "OK" => Some(Notice::Ok { run_no: run_no()?, took }),
            "ERROR" => Some(Notice::Failed { run_no: run_no()?, took, message: message() }),
            "RETIRED" => Some(Notice::Retired { left: text("message") }),
            "PARKED" => Some(Notice::Parked),
            "UNPARKED" => Some(Notice::Unparked),
            "SKIPPED" => Some(Notice::Skipped { message: message() }),
            _ => None,
        }
    }

    /// Writes it into the log, with the number of rows that the body sent.
    pub fn log(&self, job: &str, rows: u64) {
        let show = |took: &Option<Span>| took.map_or("an unknown time".into(), |took| took.brief());
        match self {
            Notice::Started { connection } => tracing::info!(job, connection, "runner started"),
            Notice::Ok { run_no, took } if rows == 0 => tracing::info!(job, run_no, "run ok in {}", show(took)),
            Notice::Ok { run_no, took } => tracing::info!(job, run_no, rows, "run ok in {}", show(took)),
            Notice::Failed { run_no, took, message } => {
                tracing::warn!(job, run_no, "run failed in {}: {message}", show(took));
            }
            Notice::Retired { left: Some(left) } => tracing::info!(job, "session renewed, the body left in it: {left}"),
            Notice::Retired { left: None } => tracing::info!(job, "session renewed, it was old"),
            Notice::Parked | Notice::Unparked => tracing::debug!(job, "{self:?}"),
            Notice::Skipped { message } => tracing::warn!(job, "occurrences skipped, {message}"),
        }
    }
}
