//! One connection, one call, from its login to its last row.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Plan;
use super::bell::{Bell, Place};
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
    /// It is logged in, on this connection, and about to take the job over.
    Connected {
        /// `CONNECTION_ID()` of the runner.
        connection: u64,
    },
    /// It has the job.
    Started,
    /// It has run it, and recorded that.
    Ran,
    /// It ended: with the message of `job$run`, or because something broke.
    Ended(Result<String, Error>),
}

/// How one call of `job$run_with` ended.
struct Ended {
    /// What `job$run` said last.
    message: String,
    /// Whether it ended only because its session had to be replaced.
    retired: bool,
}

/// Opens a connection, runs the job on it, and reports; returns when the call has ended. A session that a body left unclean is
/// replaced at once.
pub async fn run(
    settings: Settings,
    plan: Plan,
    (job_id, job): (u64, String),
    bell: Bell,
    stopping: Arc<AtomicBool>,
    report: impl Fn(Report),
) {
    loop {
        // The bell is gone only when the process ends.
        let Some(place) = bell.take(job_id).await else { return };
        match call(&settings, &plan, &job, &place, &report).await {
            Ok(Ended { retired: true, .. }) if !stopping.load(Ordering::Relaxed) => {}
            ended => return report(Report::Ended(ended.map(|ended| ended.message))),
        }
    }
}

async fn call(settings: &Settings, plan: &Plan, job: &str, place: &Place, report: &impl Fn(Report)) -> Result<Ended, Error> {
    let mut conn = {
        let _permit = LOGINS.acquire().await;
        connect(settings, Session::Runner { job }).await?
    };
    report(Report::Connected { connection: conn.id().into() });
    let mut options = serde_json::json!({
        "controller": place.identity.name,
        "life": place.identity.life,
        "bell": place.bell,
    });
    if let Some(age) = plan.session_max_age {
        options["session_max_age"] = age.as_secs().into();
    }
    let ended = listen(&mut conn, &settings.schema, job, &options.to_string(), report).await;
    // Whatever the session still holds, a lock among it, goes with it.
    let _ = timeout(GOODBYE, conn.disconnect()).await;
    ended
}

/// Reads all that the call sends: notices, the rows of bodies, which are counted and thrown away one by one, and last the row
/// `(job_name, message)`.
async fn listen(conn: &mut Conn, schema: &str, job: &str, options: &str, report: &impl Fn(Report)) -> Result<Ended, Error> {
    let sql = format!("CALL {}.`job$run_with`(?, ?)", quote::identifier(schema));
    let mut result = conn.exec_iter(sql, Params::Positional(vec![job.into(), options.into()])).await?;
    let mut ended = Ended { message: "its session was closed before it could say why".into(), retired: false };
    let mut rows = 0;
    while !result.is_empty() {
        let columns = result.columns_ref().iter().map(|column| column.name_str().into_owned()).collect::<Vec<_>>();
        let notices = columns.first().is_some_and(|name| name == notice::COLUMN);
        let answer = columns == ["job_name", "message"];
        while let Some(row) = result.next().await? {
            if notices {
                let Some(notice) = Notice::read(row) else { continue };
                match notice {
                    Notice::Started { .. } => report(Report::Started),
                    Notice::Ok { .. } | Notice::Failed { .. } => report(Report::Ran),
                    Notice::Retired { .. } => ended.retired = true,
                    _ => {}
                }
                notice.log(job, std::mem::take(&mut rows));
            } else if answer {
                if let Some(Ok(Some(message))) = row.get_opt::<Option<String>, _>("message") {
                    ended.message = message;
                }
            } else {
                rows += 1;
            }
        }
    }
    // An error that follows a result set looks like the end.
    result.drop_result().await?;
    Ok(ended)
}
