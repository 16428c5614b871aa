//! The server lets every write wait, as for a backup: nobody can show a sign of life, and nobody may be judged for that.

use std::time::Duration;

use super::{alone, ends, ends_after_signal, goes_on, outcomes, said, start};
use crate::each::each_private;

const TTL: Duration = Duration::from_secs(3);

#[test]
fn no_controller_is_judged_for_a_silence_that_was_everybodys() {
    each_private(|server| async move {
        let (_private, db, bob, first) = alone(&server, &["--ttl", "3s"]).await;
        let second = start(&db, &bob, &["--ttl", "3s"]);
        second.says("standing by", 2).await;
        let mut backup = db.admin().await;
        for round in 0..2 {
            // Who judges has been heard for a time to live.
            tokio::time::sleep(TTL).await;
            backup.run("FLUSH TABLES WITH READ LOCK").await;
            tokio::time::sleep(3 * TTL).await;
            backup.run("UNLOCK TABLES").await;
            goes_on(&first).await;
            // Nor later, when time enough has gone by to judge.
            tokio::time::sleep(TTL + TTL / 2).await;
            said(&first, &[("lost the", 0), ("runner started", 2), ("runner ended", 0), ("no runner yet", 0)]);
            said(&second, &[("lost the", 0), ("runner started", 0), ("standing by", 2)]);
            assert_eq!(backup.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'STOP'").await, "0", "round {round}");
        }
        let [quick, slow] = ends(&db, &bob, vec![second, first]).await;
        assert!(outcomes(&quick, "SKIPPED") > 1 && outcomes(&slow, "SKIPPED") > 1, "{quick:#?} {slow:#?}");
        assert_eq!(outcomes(&quick, "LOST") + outcomes(&slow, "LOST"), 0, "{quick:#?} {slow:#?}");
    });
}

#[test]
fn a_controller_that_is_to_end_does_not_log_in_ever_more_often_while_nothing_can_be_written() {
    each_private(|server| async move {
        let (_private, db, bob, start) = alone(&server, &[]).await;
        let mut backup = db.admin().await;
        backup.run("FLUSH TABLES WITH READ LOCK").await;
        start.signal("TERM");
        start.says("runners end after their present runs", 1).await;
        // It asks its runners once a second, and each time that waits.
        let connected = "SHOW GLOBAL STATUS LIKE 'Threads_connected'";
        for _ in 0..12 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let connected: usize = backup.row(connected).await[1].parse().expect("a number");
            // Ours, two runners, the bell, the look, and one that asks; a few that end, or that ask what became of another.
            assert!(connected <= 12, "{connected} sessions: {:?}", backup.rows("SHOW PROCESSLIST").await);
        }
        backup.run("UNLOCK TABLES").await;
        let entries = ends_after_signal(&db, &bob, start).await;
        assert!(entries.iter().all(|entries| outcomes(entries, "LOST") == 0), "{entries:#?}");
    });
}
