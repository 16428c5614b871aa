//! What systemd, or whoever speaks its protocol, is told: ready, alive, about to end. Without one, nobody is told anything.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// The service manager.
pub struct Service {
    /// When it is to be told again that we live; `None`: it does not want to know.
    alive: Option<Interval>,
}

impl Service {
    /// Tells that the controller works; to be called inside a runtime.
    pub fn ready() -> Service {
        tell(NotifyState::Ready);
        let alive = sd_notify::watchdog_enabled().filter(|patience| !patience.is_zero()).map(|patience| {
            // Twice in the time that it waits, as its manual advises.
            let mut alive = interval((patience / 2).max(Duration::from_millis(1)));
            alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
            alive
        });
        Service { alive }
    }

    /// Waits until it is time to tell that we live, and tells it; nothing is lost when the wait is dropped.
    pub async fn alive(&mut self) {
        match &mut self.alive {
            Some(alive) => {
                alive.tick().await;
                tell(NotifyState::Watchdog);
            }
            None => std::future::pending().await,
        }
    }

    /// Tells that the controller is about to end.
    pub fn stopping(&self) {
        tell(NotifyState::Stopping);
    }
}

fn tell(state: NotifyState<'_>) {
    // Whoever does not listen need not know.
    let _ = sd_notify::notify(&[state]);
}
