//! Tells a server that takes its time from a connection that is dead, and that nobody said so of.

use std::pin::pin;
use std::time::Duration;

use mysql_async::Conn;
use tokio::time::timeout;

use crate::db::{self, Session, connect};
use crate::error::{Error, Kind};
use crate::settings::Settings;

/// How long an answer may take before it is asked what became of the question.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The shortest of such times.
const LEAST: Duration = Duration::from_secs(1);
/// How long an answer may be under way.
const ON_ITS_WAY: Duration = Duration::from_millis(500);
/// Who a server is, as well as it can tell without a right.
const SERVER: &str = "SELECT CONCAT(@@server_id, ' ', @@hostname, ':', @@port)";

/// How long an answer may take that a controller waits for, which may show no sign of life for `ttl`: that a connection fell
/// silent must be noticed well before it would be written off for it.
pub fn patience(ttl: Duration) -> Duration {
    (ttl / 3).clamp(LEAST, PATIENCE)
}

/// A connection, as others can ask for it.
#[derive(Clone, Debug)]
pub struct Line {
    settings: Settings,
    connection: u32,
    server: String,
    patience: Duration,
}

impl Line {
    /// Opens a connection, and tells how to ask for it.
    pub async fn open(settings: &Settings, patience: Duration) -> Result<(Conn, Line), Error> {
        let mut conn = connect(settings, Session::Own).await?;
        let connection = conn.id();
        let server = match timeout(PATIENCE, server(&mut conn)).await {
            Ok(server) => server?,
            Err(_) => return Err(Error::new(Kind::Unreachable, "the connection fell silent after the login")),
        };
        Ok((conn, Line { settings: settings.clone(), connection, server, patience }))
    }

    /// Waits for an answer, as long as the server may be at it: a backup lets every write wait. Where the session is idle, the
    /// question or the answer was lost on the way, and none ever comes; nor does it when the server is another one by now.
    ///
    /// # Errors
    ///
    /// What the answer says; [`Kind::Unreachable`] when there will be none.
    pub async fn answer<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut answer = pin!(answer);
        loop {
            match timeout(self.patience, &mut answer).await {
                Ok(answer) => return answer,
                Err(_) if self.silent().await => {
                    // The answer may have come just now, by which the session is idle.
                    let silent = |_| Err(Error::new(Kind::Unreachable, "the connection has fallen silent"));
                    return timeout(ON_ITS_WAY, &mut answer).await.unwrap_or_else(silent);
                }
                Err(_) => {}
            }
        }
    }

    /// Whether the server is not at work for this connection, asked on another one.
    async fn silent(&self) -> bool {
        let idle = async {
            let mut conn = connect(&self.settings, Session::Own).await?;
            let moved = server(&mut conn).await? != self.server;
            // One that is inside our routines may not be listed for us; it is not idle.
            let idle = match idle(&mut conn, "information_schema", self.connection).await {
                // MySQL cannot list any session there while a statement of one of them holds a character beyond utf8mb3.
                Err(error) if error.code == Some(3854) => idle(&mut conn, "performance_schema", self.connection).await?,
                idle => idle?,
            };
            conn.disconnect().await?;
            Ok::<_, Error>(moved || idle)
        };
        match timeout(PATIENCE, idle).await {
            Ok(Ok(idle)) => idle,
            // A server that turns us away answers, and may be at it.
            Ok(Err(error)) => error.code.is_none(),
            Err(_) => true,
        }
    }
}

async fn idle(conn: &mut Conn, schema: &str, connection: u32) -> Result<bool, Error> {
    let sql = format!("SELECT COUNT(*) FROM {schema}.processlist WHERE id = ? AND command = 'Sleep'");
    Ok(db::first::<u64>(conn, &sql, (connection,)).await? == Some(1))
}

async fn server(conn: &mut Conn) -> Result<String, Error> {
    Ok(db::first(conn, SERVER, ()).await?.unwrap_or_default())
}
