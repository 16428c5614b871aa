//! How long an answer may take before the connection counts as broken.
//!
//! A connection that was cut without a word is silent for ever; one whose statement waits for a lock on all writes is silent
//! too, and goes on in the server when we leave it. So we wait longer from time to time, lest such sessions pile up there.

use std::time::Duration;

use tokio::time::timeout;

use crate::error::{Error, Kind};

/// The longest first wait.
const FIRST: Duration = Duration::from_secs(5);
/// The shortest first wait.
const LEAST: Duration = Duration::from_secs(1);
/// The longest wait.
const CEILING: Duration = Duration::from_secs(300);

/// Doubles whenever it is lost, up to a ceiling.
#[derive(Clone, Debug)]
pub struct Patience {
    first: Duration,
    now: Duration,
}

impl Patience {
    /// That of a controller that may show no sign of life for `ttl`: a broken connection must be noticed well within it.
    pub fn new(ttl: Duration) -> Patience {
        let first = (ttl / 3).clamp(LEAST, FIRST);
        Patience { first, now: first }
    }

    /// How long to wait now.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Nothing came: the next wait is longer.
    pub fn lost(&mut self) {
        self.now = (self.now * 2).min(CEILING);
    }

    /// Something came: begins anew.
    pub fn regain(&mut self) {
        self.now = self.first;
    }

    /// Waits for an answer, but not for ever.
    ///
    /// # Errors
    ///
    /// [`Kind::Unreachable`] when nothing came; then the connection is not to be used again.
    pub async fn wait<T>(&mut self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        match timeout(self.now, answer).await {
            Ok(answer) => {
                self.regain();
                answer
            }
            Err(_) => {
                let message = format!("no answer within {} s", self.now.as_secs_f64());
                self.lost();
                Err(Error::new(Kind::Unreachable, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_as_long_as_nothing_comes() {
        let mut patience = Patience::new(Duration::from_secs(30));
        let waits: Vec<_> = (0..8).map(|_| (patience.now().as_secs(), patience.lost()).0).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300]);
        patience.regain();
        assert_eq!(patience.now(), FIRST);
        assert_eq!(Patience::new(Duration::from_millis(500)).now(), LEAST);
        assert_eq!(Patience::new(Duration::from_secs(6)).now(), Duration::from_secs(2));
    }
}
