//! A copy of a server holds the same jobs, and must not run them too.

use super::tool::{SOON, Tool, bad, call, good, json, status};
use crate::db::Db;
use crate::each::{each_private, wait_until};
use crate::replica::{admin, pair, promote};

#[test]
fn a_copy_is_held_until_somebody_adopts_it() {
    each_private(|server| async move {
        let (primary, replica) = pair(&server.name).await;
        let db = Db::installed(&primary.server, "copy").await;
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "0.5s"]).await;
        let original = Tool::new(&db, &bob, &["start", "x", "--controller-name", "original"]).start();
        original.says("run ok", 1).await;
        original.signal("TERM");
        assert_eq!(original.ends().await.0, 0);

        // What was a replica is a copy from now on: another server, which holds the same rows, and takes writes.
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        let events = format!("SELECT COUNT(*) FROM {}.job_event WHERE event_kind = 'CONTROLLER_STOP'", db.schema());
        assert_eq!(here.one(&events).await, "1");
        wait_until("all is there", SOON, async || there.attempt(&events).await.is_ok_and(|rows| rows[0][0][0] == "1")).await;
        promote(&server.name, &mut there).await;
        let copy = db.on(&replica.server);

        // A plain call holds nothing, and a controller that nobody knows does.
        let held = "SELECT COUNT(*) FROM job_setting WHERE setting_name = 'hold'";
        let mut rows = copy.admin().await;
        assert_eq!(rows.one(held).await, "0");
        let stranger = Tool::new(&copy, &bob, &["start", "x", "--controller-name", "stranger"]).start();
        stranger
            .says("All jobs are held, because this looks like a copy of another server; `jobctl adopt` lets them go", 1)
            .await;
        assert_eq!(rows.one(held).await, "1");
        status(&copy, &bob, "x", "HELD").await;
        let refused = copy.runner(&bob, "x").await.message().await;
        assert!(refused.starts_with("All jobs are held"), "{refused}");
        let doctor = copy.jobctl(&bob, &["doctor"]).await;
        assert!(doctor.code == 1 && doctor.stdout.contains("jobctl adopt"), "{doctor:?}");
        // So is one that is known, once the copy is held.
        let known = Tool::new(&copy, &bob, &["start", "x", "--controller-name", "original"]).start();
        known.says("All jobs are held", 1).await;

        let refused = bad(&copy, &bob, 4, &["adopt"]).await;
        assert!(refused.contains("administrator"), "{refused}");
        assert_eq!(rows.one("SELECT COUNT(*) FROM job_run WHERE run_controller <> 'original'").await, "0");
        assert!(good(&copy, &copy.root(), &["adopt"]).await.starts_with("jobs are to run on "));
        assert!(good(&copy, &copy.root(), &["adopt"]).await.starts_with("nothing to do"));
        wait_until("one of them runs it", SOON, async || stranger.count("run ok") + known.count("run ok") > 1).await;
        for controller in [stranger, known] {
            controller.signal("TERM");
            assert_eq!(controller.ends().await.0, 0);
        }
        let kinds = "SELECT event_kind FROM job_event WHERE job_id = 0 AND event_kind NOT LIKE 'CONTROLLER%' ORDER BY event_no";
        let kinds = rows.rows(kinds).await.concat();
        assert_eq!(kinds[..2], ["HELD", "ADOPTED"], "{kinds:?}");
        // The original knows nothing of it.
        assert_eq!(
            here.one(&format!("SELECT COUNT(*) FROM {}.job_setting WHERE setting_name = 'hold'", db.schema())).await,
            "0"
        );
        assert_eq!(json(&db, &bob, &["status", "x"]).await[0]["status"], "ENABLED");
    });
}
