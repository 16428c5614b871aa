//! How long to wait before trying again: longer each time, with a ceiling, and never in step with others.

use std::time::Duration;

use crate::chance;

/// The first wait.
const FIRST: Duration = Duration::from_millis(250);
/// The longest wait.
const CEILING: Duration = Duration::from_secs(2);

/// Doubles from try to try.
#[derive(Debug, Default)]
pub struct Backoff {
    tries: u32,
}

impl Backoff {
    /// The wait before the next try: half of it certain, half of it by chance, so that many who failed together do not come
    /// back together.
    pub fn wait(&mut self) -> Duration {
        let wait = FIRST.saturating_mul(1 << self.tries.min(10)).min(CEILING);
        self.tries = self.tries.saturating_add(1);
        wait / 2 + wait.mul_f64(chance::fraction() / 2.0)
    }

    /// Begins anew, after a success.
    pub fn reset(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_ceiling() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..40).map(|_| backoff.wait()).collect();
        assert!(waits[0] >= FIRST / 2 && waits[0] <= FIRST);
        assert!(waits[3] > waits[0]);
        assert!(waits.iter().all(|wait| *wait <= CEILING));
        assert!(waits[39] >= CEILING / 2);
        backoff.reset();
        assert!(backoff.wait() <= FIRST);
    }
}
