//! One connection, one call, from its login to its last row.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::notice::{self, Notice};
use crate::db::{Session, connect, quote};
use crate::error::Error;
use crate::settings::Settings;

/// How many logins may be under way at once: a server that comes back must not be met by a crowd.
static LOGINS: Semaphore = Semaphore::const_new(8);

/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a runner tells its supervisor.
#[derive(Debug)]
pub enum Report {
    /// It works, on this connection.
    Started {
        /// `CONNECTION_ID()` of the runner.
        connection: u64,
    },
    /// It ended: with the message of `job$run`, or because something broke.
    Ended(Result<String, Error>),
}

/// Opens a connection, runs the job on it, and reports; returns when the call has ended.
pub async fn run(settings: Settings, job: String, controller: String, reports: mpsc::UnboundedSender<(String, Report)>) {
    let report = |report| {
        // The supervisor is gone only when the process ends.
        let _ = reports.send((job.clone(), report));
    };
    let ended = call(&settings, &job, &controller, &report).await;
    report(Report::Ended(ended));
}

async fn call(settings: &Settings, job: &str, controller: &str, report: &impl Fn(Report)) -> Result<String, Error> {
    let mut conn = {
        let _permit = LOGINS.acquire().await;
        connect(settings, Session::Runner { job }).await?
    };
    let ended = listen(&mut conn, &settings.schema, job, controller, report).await;
    // Whatever the session still holds, a lock among it, goes with it.
    let _ = timeout(GOODBYE, conn.disconnect()).await;
    ended
}

/// Reads all that the call sends: notices, the rows of bodies, which are thrown away, and last the row `(job_name, message)`.
async fn listen(conn: &mut Conn, schema: &str, job: &str, controller: &str, report: &impl Fn(Report)) -> Result<String, Error> {
    let sql = format!("CALL {}.`job$run_with`(?, ?)", quote::identifier(schema));
    let options = serde_json::json!({ "controller": controller }).to_string();
    let mut result = conn.exec_iter(sql, Params::Positional(vec![job.into(), options.into()])).await?;
    let mut last = None;
    while !result.is_empty() {
        let columns = result.columns_ref().iter().map(|column| column.name_str().into_owned()).collect::<Vec<_>>();
        let notices = columns.first().is_some_and(|name| name == notice::COLUMN);
        let answer = columns == ["job_name", "message"];
        while let Some(row) = result.next().await? {
            if notices {
                let Some(notice) = Notice::read(row) else { continue };
                if let Notice::Started { connection } = notice {
                    report(Report::Started { connection });
                }
                notice.log(job);
            } else if answer {
                last = row.get_opt::<Option<String>, _>("message").and_then(Result::ok).flatten();
            }
        }
    }
    Ok(last.unwrap_or_else(|| "ended without a message".into()))
}
