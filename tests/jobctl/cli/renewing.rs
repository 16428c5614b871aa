//! Sessions of runners are renewed when they are old, between two runs: a session keeps the rights that it logged in with.

use super::starting::nothing_left;
use super::takeover::{jealous, start};
use crate::each::each;
use crate::ledger::complete;

#[test]
fn a_session_that_is_old_is_replaced_and_no_occurrence_is_lost() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "0.25s").await;
        let start = start(&db, &bob, &["x", "--session-max-age", "2s"]);
        start.says("session renewed, it was old", 3).await;
        let ran = start.count("run ok");
        start.says("run ok", ran + 2).await;
        // It is no end of the runner, and no other one.
        assert_eq!(start.count("runner ended"), 0, "{:#?}", start.log());
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        let entries = complete(&mut admin, 250_000).await;
        assert!(entries.iter().all(|entry| ["OK", "SKIPPED"].contains(&entry.outcome.as_str())), "{entries:#?}");
        let sessions = admin.number("SELECT COUNT(DISTINCT run_connection_id) FROM job_run WHERE attempt > 0").await;
        assert!(sessions >= 4, "{sessions} in {log:#?}");
        let age = "SELECT MAX(age) FROM (SELECT TIMESTAMPDIFF(SECOND, MIN(started_at), MAX(started_at)) AS age \
                   FROM job_run WHERE attempt > 0 GROUP BY run_connection_id) AS s";
        assert!(admin.number(age).await <= 3, "{entries:#?}");
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.clash", db.bodies())).await, "0");
        nothing_left(&db, &bob, &mut admin).await;
    });
}
