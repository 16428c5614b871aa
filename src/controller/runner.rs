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
use super::lot::{Lot, Ticket};
use super::notice::{self, Notice};
use crate::db::{Session, connect, quote};
use crate::error::Error;
use crate::settings::Settings;

/// How many logins may be under way at once: a server that comes back must not be met by a crowd.
static LOGINS: Semaphore = Semaphore::const_new(32);

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
    /// It gave its session back, and the job is to be parked.
    Parked,
    /// It ended: with the message of `job$run`, or because something broke.
    Ended(Result<String, Error>),
}

/// How one call of `job$run_with` ended.
struct Ended {
    /// What `job$run` said last.
    message: String,
    /// Whether it ended only because its session had to be replaced.
    retired: bool,
    /// Whether it ended only because the job is not due for a while.
    parked: bool,
}

/// What a message of `job$run_with` is that only gives the session back.
const PARKED: &str = "Parked";

/// What a runner is to do.
pub struct Work {
    /// Number of the job.
    pub job_id: u64,
    /// Its name.
    pub job: String,
    /// Set when no new session may be opened any more.
    pub stopping: Arc<AtomicBool>,
    /// Whether jobs are to be parked.
    pub parks: Arc<AtomicBool>,
    /// What proves that the job is ours where it is parked, and the lot that is to hand it over.
    pub parked: Option<(Ticket, Lot)>,
}

/// Opens a connection, runs the job on it, and reports; returns when the call has ended. A session that a body left unclean is
/// replaced at once.
pub async fn run(settings: Settings, plan: Plan, mut work: Work, bell: Bell, report: impl Fn(Report)) {
    loop {
        // The bell is gone only when the process ends.
        let Some(place) = bell.take(work.job_id).await else { return };
        let ended = call(&settings, &plan, &work, &place, &report).await;
        // The next session finds the job free.
        work.parked = None;
        match ended {
            Ok(Ended { retired: true, .. }) if !work.stopping.load(Ordering::Relaxed) => {}
            Ok(Ended { parked: true, .. }) => return report(Report::Parked),
            ended => return report(Report::Ended(ended.map(|ended| ended.message))),
        }
    }
}

async fn call(settings: &Settings, plan: &Plan, work: &Work, place: &Place, report: &impl Fn(Report)) -> Result<Ended, Error> {
    let mut conn = {
        let _permit = LOGINS.acquire().await;
        connect(settings, Session::Runner { job: &work.job }).await?
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
    if work.parks.load(Ordering::Relaxed) {
        options["park"] = plan.park.span().as_secs_f64().into();
    }
    if let Some((ticket, _)) = &work.parked {
        options["lot"] = serde_json::json!({ "job_id": ticket.job_id, "token": ticket.token });
    }
    let ended = listen(&mut conn, &settings.schema, work, &options.to_string(), report).await;
    // Whatever the session still holds, a lock among it, goes with it.
    let _ = timeout(GOODBYE, conn.disconnect()).await;
    ended
}

/// Reads all that the call sends: notices, the rows of bodies, which are counted and thrown away one by one, and last the row
/// `(job_name, message)`.
async fn listen(conn: &mut Conn, schema: &str, work: &Work, options: &str, report: &impl Fn(Report)) -> Result<Ended, Error> {
    let job = work.job.as_str();
    let sql = format!("CALL {}.`job$run_with`(?, ?)", quote::identifier(schema));
    let mut result = conn.exec_iter(sql, Params::Positional(vec![job.into(), options.into()])).await?;
    let mut ended = Ended { message: "its session was closed before it could say why".into(), retired: false, parked: false };
    let mut gives_back = false;
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
                    Notice::Parked => gives_back = true,
                    Notice::Unparked => work.parked.iter().for_each(|(_, lot)| lot.hand_over(work.job_id)),
                    _ => {}
                }
                // That the session of a parked job comes and goes is no event.
                if work.parked.is_none() || !matches!(notice, Notice::Started { .. }) {
                    notice.log(job, std::mem::take(&mut rows));
                }
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
    ended.parked = gives_back && ended.message == PARKED;
    Ok(ended)
}
