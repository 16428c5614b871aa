//! What happens to the system as a whole is written down too, with no job beside it.

use super::tool::{Going, SOON, Tool, call, good};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};

fn start(db: &Db, account: &Account, name: &str) -> Going {
    Tool::new(db, account, &["start", "--all", "--ttl", "3s", "--controller-name", name]).start()
}

#[test]
fn controllers_that_come_go_and_freeze_leave_events() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        let mut admin = db.admin().await;
        let (frozen, other) = (start(&db, &bob, "frozen"), start(&db, &bob, "other"));
        for controller in [&frozen, &other] {
            wait_until("both work", SOON, async || controller.count("runner started") + controller.count("standing by") > 0)
                .await;
        }
        frozen.signal("STOP");
        let stale = "SELECT COUNT(*) FROM job_event WHERE event_kind = 'CONTROLLER_STALE' AND event_from = 'frozen'";
        wait_until("it is written off", SOON, async || admin.number(stale).await == 1).await;
        frozen.signal("CONT");
        let again = "SELECT COUNT(*) FROM job_event WHERE event_kind = 'CONTROLLER_START' AND event_to = 'frozen'";
        wait_until("it begins anew", SOON, async || admin.number(again).await == 2).await;
        for controller in [frozen, other] {
            controller.signal("TERM");
            assert_eq!(controller.ends().await.0, 0);
        }
        let events =
            admin.rows("SELECT event_no, event_kind, job_owner, event_by FROM job_event WHERE job_id = 0 ORDER BY event_no");
        let events = events.await;
        let count = |kind: &str| events.iter().filter(|event| event[1] == kind).count();
        assert_eq!((count("CONTROLLER_START"), count("CONTROLLER_STALE"), count("CONTROLLER_STOP")), (3, 1, 2), "{events:#?}");
        for (n, event) in events.iter().enumerate() {
            assert_eq!(event[0], (n + 1).to_string(), "numbered without a gap: {events:#?}");
            assert!(event[3].starts_with(&bob.user), "{event:?}");
        }
    });
}
