//! Runners that live, which neither an installation nor its end may disturb.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::{Instant, sleep};

use crate::error::{Error, Kind};

/// Between two looks whether runners have ended.
const LOOK: Duration = Duration::from_millis(100);

/// A runner that lives.
struct Runner {
    job_id: u64,
    job: String,
    owner: String,
    connection: u64,
    /// Whether a controller lives that will start it again.
    kept: bool,
}

/// Refuses when a runner lives in the connection's schema; says of which job.
pub async fn none_lives(conn: &mut Conn) -> Result<(), Error> {
    match alive(conn).await?.as_slice() {
        [] => Ok(()),
        all => Err(Error::new(Kind::Refused, format!("{} of jobctl's runners live: {}", all.len(), named(all)))
            .hint("end them first; `jobctl status` shows them")),
    }
}

/// Holds all jobs, and waits until the runners have finished their present runs; their controllers start them again when
/// [`let_go`] has been called, or when the session that holds the installer's lock has ended. Gives how many there were.
///
/// # Errors
///
/// [`Kind::Refused`] for runners that nobody would start again, [`Kind::Busy`] when runs take longer than `patience`. Then
/// nothing is held.
pub async fn drain(conn: &mut Conn, patience: Duration) -> Result<usize, Error> {
    let found = alive(conn).await?;
    let lone: Vec<_> = found.iter().filter(|runner| !runner.kept).collect();
    if !lone.is_empty() {
        let message = format!("no controller lives that would start these runners again: {}", named(lone.iter().copied()));
        return Err(Error::new(Kind::Refused, message)
            .hint("end them first: `jobctl abort`, or KILL, and `jobctl enable` and `jobctl start` afterwards"));
    }
    if found.is_empty() {
        return Ok(0);
    }
    conn.query_drop("INSERT IGNORE INTO job_setting (setting_name, setting_value) VALUES ('hold', 'UPGRADE')").await?;
    let until = Instant::now() + patience;
    loop {
        let left = alive(conn).await?;
        if left.is_empty() {
            return Ok(found.len());
        }
        if until <= Instant::now() {
            let_go(conn).await?;
            let message = format!("present runs did not end within {} s: {}", patience.as_secs(), named(&left));
            return Err(Error::new(Kind::Busy, message).hint("try again, with a longer `--drain`; nothing was changed"));
        }
        for runner in &left {
            // The change of the row is what its controller wakes it for.
            let stop = "UPDATE job SET job_stop_epoch = job_runner_epoch, job_stop_reason = 'UPGRADE'
                        WHERE job_id = ? AND job_runner_connection_id = ? AND job_stop_epoch < job_runner_epoch";
            conn.exec_drop(stop, (runner.job_id, runner.connection)).await?;
        }
        sleep(LOOK).await;
    }
}

/// Ends what [`drain`] began.
pub async fn let_go(conn: &mut Conn) -> Result<(), Error> {
    Ok(conn.query_drop("DELETE FROM job_setting WHERE setting_name = 'hold' AND setting_value = 'UPGRADE'").await?)
}

/// The runners that live in the connection's schema.
async fn alive(conn: &mut Conn) -> Result<Vec<Runner>, Error> {
    let sql = "SELECT o.job_id, o.job_name, o.job_owner, o.job_runner_connection_id,
                      COALESCE(c.controller_finish IS NULL
                          AND c.controller_heartbeat > UTC_TIMESTAMP(6) - INTERVAL c.controller_ttl SECOND, FALSE)
               FROM job_overview AS o
               JOIN job AS j ON j.job_id = o.job_id
               LEFT JOIN job_controller AS c ON c.controller_owner = j.job_owner AND c.controller_name = j.job_runner_controller
               WHERE o.job_runner_connection_id IS NOT NULL
               ORDER BY o.job_owner, o.job_name";
    match conn.query::<(u64, String, String, u64, bool), _>(sql).await.map_err(Error::from) {
        Ok(rows) => Ok(rows
            .into_iter()
            .map(|(job_id, job, owner, connection, kept)| Runner { job_id, job, owner, connection, kept })
            .collect()),
        // A schema that is not there yet, half-installed or broken runs nothing.
        Err(error) if error.is_server(&[1046, 1049, 1054, 1146, 1305, 1356, 1449]) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Names some of them.
fn named<'a>(runners: impl IntoIterator<Item = &'a Runner>) -> String {
    let mut names = runners.into_iter().map(|runner| {
        let Runner { job, owner, connection, .. } = runner;
        format!("`{job}` of {owner} on connection {connection}")
    });
    let first = names.by_ref().take(5).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}
