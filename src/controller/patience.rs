//! How long a runner may not be seen in the server, though its connection says nothing of that.
//!
//! A connection that was cut without a word is silent for ever; one whose statement waits for a lock is silent too, and goes on
//! in the server when we leave it. So we wait longer from time to time, lest such sessions pile up there.

use std::time::Duration;

/// The first wait.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const CEILING: Duration = Duration::from_secs(300);

/// Doubles whenever it is lost, up to a ceiling.
#[derive(Clone, Debug)]
pub struct Patience(Duration);

impl Default for Patience {
    fn default() -> Self {
        Patience(FIRST)
    }
}

impl Patience {
    /// How long to wait now.
    pub fn now(&self) -> Duration {
        self.0
    }

    /// Nothing came: the next wait is longer.
    pub fn lost(&mut self) {
        self.0 = (self.0 * 2).min(CEILING);
    }

    /// Something came: begins anew.
    pub fn regain(&mut self) {
        self.0 = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_as_long_as_nothing_comes() {
        let mut patience = Patience::default();
        let waits: Vec<_> = (0..8).map(|_| (patience.now().as_secs(), patience.lost()).0).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300]);
        patience.regain();
        assert_eq!(patience.now(), FIRST);
    }
}
