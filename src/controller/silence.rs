//! Tells a server that takes its time from a connection that is dead, and that nobody said so of.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::db::{self, Session, connect};
use crate::error::{Error, Kind};
use crate::settings::Settings;

/// How long an answer may take before it is asked what became of the question.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for an answer on `connection`, as long as the server may be at it: a backup lets every write wait. Where the session is
/// idle, the question or the answer was lost on the way, and none ever comes.
///
/// # Errors
///
/// What the answer says; [`Kind::Unreachable`] when there will be none.
pub async fn answer<T, E>(settings: &Settings, connection: u32, answer: impl Future<Output = Result<T, E>>) -> Result<T, Error>
where
    Error: From<E>,
{
    let mut answer = pin!(answer);
    loop {
        match timeout(PATIENCE, &mut answer).await {
            Ok(answer) => return Ok(answer?),
            Err(_) if silent(settings, connection).await => {
                return Err(Error::new(Kind::Unreachable, "the connection has fallen silent"));
            }
            Err(_) => {}
        }
    }
}

/// Whether the server is not at work for this connection, asked on another one.
async fn silent(settings: &Settings, connection: u32) -> bool {
    let idle = async {
        let mut conn = connect(settings, Session::Own).await?;
        // One that is inside our routines may not be listed for us; it is not idle.
        let sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND command = 'Sleep'";
        let idle = db::first::<u64>(&mut conn, sql, (connection,)).await?;
        conn.disconnect().await?;
        Ok::<_, Error>(idle)
    };
    match timeout(PATIENCE, idle).await {
        Ok(Ok(idle)) => idle == Some(1),
        // A server that turns us away answers, and may be at it.
        Ok(Err(error)) => error.code.is_none(),
        Err(_) => true,
    }
}
