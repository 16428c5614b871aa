//! Stops a run: asks, insists after a while, and stays until it is really over.
//!
//! That a session is no longer listed proves nothing, as its rollback may go on. The lock of the job is freed only after that;
//! so the schema closes the row when the lock is free, and not before.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::silence::{self, Line};
use crate::db;
use crate::error::{Error, Kind};
use crate::model::Span;
use crate::settings::Settings;

/// How long a body may take to end by itself before its session is ended.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks, at first and later: the server counts what is still to be rolled back anew every 0.1 s at most.
const LOOK: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];

/// Why a run is stopped.
#[derive(Clone, Copy, Debug)]
pub enum Why<'a> {
    /// Somebody wants it, perhaps with a reason.
    Asked(Option<&'a str>),
    /// It took longer than its job allows.
    Timeout,
}

/// How it went so far.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Number of the run.
    pub run_no: u64,
    /// `RUNNING`, or how it ended.
    pub outcome: String,
    /// Rows that are still to be rolled back, where that is known.
    pub rows_to_undo: Option<u64>,
    /// How long the run took up to now, or took.
    pub took: Option<Span>,
}

/// Stops the present run of a job, and returns when it is over, rolled back and recorded; tells of each look.
///
/// # Errors
///
/// [`Kind::NotFound`] without such a job, [`Kind::Refused`] when nothing runs or the server does not let us kill.
pub async fn stop(settings: &Settings, job: &str, why: Why<'_>, mut tell: impl FnMut(&Progress)) -> Result<Progress, Error> {
    let (mut conn, line) = Line::open(settings, silence::PATIENCE).await?;
    let mut options = match why {
        Why::Asked(reason) => json!({ "reason": reason }),
        Why::Timeout => json!({ "timeout": true, "reason": "it took longer than its timeout" }),
    };
    let asked = Instant::now();
    let mut insisted = false;
    loop {
        let cancelled = db::call(&mut conn, &settings.schema, "job$cancel", vec![job.into(), options.to_string().into()]);
        let rows = line.answer(cancelled).await?;
        let progress = read(rows).ok_or_else(|| Error::new(Kind::Failed, "`job$cancel` gave no answer"))?;
        tell(&progress);
        if progress.outcome != "RUNNING" {
            // What is left of the session ends with us.
            let _ = conn.disconnect().await;
            return Ok(progress);
        }
        sleep(LOOK[usize::from(asked.elapsed() > PATIENCE)]).await;
        // Its row is marked, and why is written there.
        options = json!({ "run_no": progress.run_no, "insist": !insisted && asked.elapsed() > PATIENCE });
        insisted = asked.elapsed() > PATIENCE;
    }
}

fn read(rows: db::Rows) -> Option<Progress> {
    let row = rows.into_first()?;
    let seconds = row.get("seconds").map(Value::to_string).and_then(|seconds| Span::from_seconds(&seconds));
    Some(Progress {
        run_no: row.get("run_no")?.as_u64()?,
        outcome: row.get("outcome")?.as_str()?.to_owned(),
        rows_to_undo: row.get("rows_to_undo").and_then(Value::as_u64),
        took: seconds,
    })
}
