//! The server is stopped in good order, or killed, and started again.

use std::time::Instant;

use super::{alone, ends, goes_on, outcomes, said};
use crate::each::each_private;

/// Stops the server under a controller, starts it again, and sees all go on.
fn comes_back_after(kill: bool) {
    each_private(|server| async move {
        let (mut private, db, bob, start) = alone(&server, &[]).await;
        private.stop(kill);
        start.says("lost the server", 1).await;
        start.says("lost the bell", 1).await;
        start.says("runner ended", 2).await;
        private.restart(&[]);
        let begun = Instant::now();
        goes_on(&start).await;
        eprintln!("{}: all goes on {:?} after the start of the server", server.name, begun.elapsed());
        said(&start, &[("lost the server", 1), ("the server is back", 1), ("lost the bell", 1), ("the bell is back", 1)]);
        said(&start, &[("runner ended", 2), ("runner started", 4), ("no runner yet", 0)]);
        let [quick, slow] = ends(&db, &bob, vec![start]).await;
        assert!(outcomes(&quick, "SKIPPED") > 0, "the outage is told: {quick:#?}");
        assert!(outcomes(&quick, "LOST") <= 1 && outcomes(&slow, "LOST") <= 1, "{quick:#?} {slow:#?}");
    });
}

#[test]
fn a_controller_comes_back_after_a_restart_of_the_server() {
    comes_back_after(false);
}

#[test]
fn a_controller_comes_back_after_a_server_that_was_killed() {
    comes_back_after(true);
}

#[test]
fn a_signal_is_heard_while_there_is_no_server() {
    each_private(|server| async move {
        let (private, _, _, start) = alone(&server, &[]).await;
        private.stop(true);
        start.says("runner ended", 2).await;
        start.signal("TERM");
        let begun = Instant::now();
        let (code, log) = start.ends().await;
        eprintln!("{}: ends {:?} after the signal", server.name, begun.elapsed());
        assert_eq!(code, 0, "{log:#?}");
    });
}
