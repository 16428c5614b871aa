//! Which of several hosts takes writes: found out anew at every login, as that may change at any time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mysql_async::Conn;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connect::{Login, login};
use super::takes_writes;
use crate::error::{Error, Kind};

/// How long one host is waited for before the next is asked too: one that vanished without a word says nothing for long.
const HEAD_START: Duration = Duration::from_millis(300);

/// Logs in on the first host that takes writes, beginning with the one that did so last, whose number is kept in `last`. Where
/// all that answer are read-only, on one of them: what is done there says so best.
///
/// # Errors
///
/// [`Kind::Unreachable`] when none lets us in.
pub async fn first_writable(last: &AtomicUsize, logins: Vec<Login>) -> Result<Conn, Error> {
    let mut waiting: Vec<_> = logins.into_iter().enumerate().collect();
    let preferred = last.load(Ordering::Relaxed).min(waiting.len() - 1);
    waiting.rotate_left(preferred);
    let mut waiting = waiting.into_iter();
    let mut asked = JoinSet::new();
    let mut read_only = None;
    let mut failed = Vec::new();
    loop {
        let answer = match waiting.len() {
            0 => asked.join_next().await,
            _ => timeout(HEAD_START, asked.join_next()).await.unwrap_or_default(),
        };
        match answer {
            Some(Ok((host, Ok((conn, true))))) => {
                last.store(host, Ordering::Relaxed);
                return Ok(conn);
            }
            Some(Ok((_, Ok((conn, false))))) => read_only = read_only.or(Some(conn)),
            Some(Ok((_, Err(error)))) => failed.push(error),
            // It panicked, which is told by the panic itself.
            Some(Err(_)) => {}
            None => {}
        }
        match waiting.next() {
            Some((host, login)) => drop(asked.spawn(ask(host, login))),
            None if asked.is_empty() => return read_only.ok_or_else(|| none(failed)),
            None => {}
        }
    }
}

/// Logs in on one host, and asks whether it takes writes.
async fn ask(host: usize, to: Login) -> (usize, Result<(Conn, bool), Error>) {
    let answer = async {
        let mut conn = login(to).await?;
        let writable = takes_writes(&mut conn).await?;
        Ok((conn, writable))
    };
    (host, answer.await)
}

/// None let us in.
fn none(failed: Vec<Error>) -> Error {
    let each = failed.iter().map(Error::with_cause).collect::<Vec<_>>().join("; ");
    let mut error = Error::new(Kind::Unreachable, format!("none of the hosts lets us in: {each}"));
    for hint in failed.into_iter().flat_map(|error| error.hints) {
        if !error.hints.contains(&hint) {
            error.hints.push(hint);
        }
    }
    error
}
