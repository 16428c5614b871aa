//! Signals in the wrong moment.

use super::starting::nothing_left;
use super::takeover::start;
use super::tool::{call, good};
use crate::each::{each, full};

#[test]
fn a_second_signal_stops_also_the_runs_that_begin_after_it() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "DO SLEEP(600)").await;
        for job in ["a", "b", "c", "d"] {
            good(&db, &bob, &["define", job, "--call", &call(&db, "slow"), "--every", "0.1s"]).await;
        }
        for _ in 0..full(20, 3) {
            let start = start(&db, &bob, &["--all"]);
            // Some work, some are about to.
            start.says("runner started", 1).await;
            start.signal("TERM");
            start.says("runners end after", 1).await;
            start.signal("TERM");
            let (code, log) = start.ends().await;
            assert_eq!(code, 143, "{log:#?}");
            assert!(log.iter().any(|line| line.contains("all runners have ended")), "{log:#?}");
        }
        nothing_left(&db, &bob, &mut db.admin().await).await;
    });
}
