//! `jobctl install` while runners live: they finish their runs, execute the new version afterwards, and none is left behind.

use super::takeover::start;
use super::tool::{SOON, Tool, bad, call, good, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::Session;

/// Two jobs under a controller: one is in the middle of a run of that many seconds, one sleeps.
async fn scene(db: &Db, seconds: &str) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    db.body("slow", &format!("DO SLEEP({seconds})")).await;
    good(db, &bob, &["define", "quick", "--call", &call(db, "hello"), "--every", "1h"]).await;
    good(db, &bob, &["define", "slow", "--call", &call(db, "slow"), "--every", "1s"]).await;
    (bob, db.admin().await)
}

/// As if another version were installed, which has other routines.
async fn older(admin: &mut Session) {
    admin.run("UPDATE job_setting SET setting_value = '' WHERE setting_name = 'routines_digest'").await;
    admin.run("UPDATE job SET job_runner_version = '0.0.1', job_changed = job_changed").await;
}

#[test]
fn runners_end_between_two_runs_and_come_back_with_the_new_version() {
    each(|db| async move {
        let (bob, mut admin) = scene(&db, "2").await;
        let start = start(&db, &bob, &["--all"]);
        status(&db, &bob, "quick", "SLEEPING").await;
        status(&db, &bob, "slow", "RUNNING").await;
        older(&mut admin).await;
        assert_eq!(json(&db, &bob, &["show", "quick"]).await[0]["job_runner_version"], "0.0.1");
        let told = good(&db, &db.root(), &["install"]).await;
        assert!(told.contains("2 runners ended for it"), "{told}");
        start.says("runner started", 4).await;
        assert_eq!(start.count("runner ended"), 2, "{:#?}", start.log());
        for job in ["slow", "quick"] {
            let shown = good(&db, &bob, &["show", job]).await;
            assert!(shown.lines().any(|line| line.contains("version") && line.ends_with(env!("CARGO_PKG_VERSION"))), "{shown}");
        }
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED', 'RUNNING')").await, "0");
        status(&db, &bob, "quick", "SLEEPING").await;
        start.signal("TERM");
        start.ends().await;
    });
}

#[test]
fn a_run_that_takes_too_long_keeps_the_old_version_and_nothing_is_held() {
    each(|db| async move {
        let (bob, mut admin) = scene(&db, "600").await;
        let start = start(&db, &bob, &["--all"]);
        status(&db, &bob, "slow", "RUNNING").await;
        older(&mut admin).await;
        let refused = bad(&db, &db.root(), 75, &["install", "--drain", "1s"]).await;
        assert!(refused.contains("present runs did not end within 1 s: `slow` of "), "{refused}");
        assert_eq!(admin.one("SELECT setting_value FROM job_setting WHERE setting_name = 'routines_digest'").await, "");
        // The one that slept comes back.
        status(&db, &bob, "quick", "SLEEPING").await;

        // Nor is anything held by an installer that was killed.
        let installer = Tool::new(&db, &db.root(), &["install", "--drain", "10m"]).start();
        status(&db, &bob, "quick", "HELD").await;
        installer.signal("KILL");
        installer.ends().await;
        status(&db, &bob, "quick", "SLEEPING").await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_setting WHERE setting_name = 'hold'").await, "1");
        good(&db, &bob, &["cancel", "slow"]).await;
        good(&db, &db.root(), &["install"]).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_setting WHERE setting_name = 'hold'").await, "0");
        start.signal("TERM");
        start.says("runners end after", 1).await;
        start.signal("TERM");
        start.ends().await;
    });
}

#[test]
fn a_runner_that_nobody_would_start_again_is_named_and_left_alone() {
    each(|db| async move {
        let (bob, mut admin) = scene(&db, "0").await;
        let start = start(&db, &bob, &["slow"]);
        start.says("run ok", 1).await;
        let plain = db.runner(&bob, "quick").await;
        status(&db, &bob, "quick", "SLEEPING").await;
        older(&mut admin).await;
        let refused = bad(&db, &db.root(), 4, &["install"]).await;
        let named = format!(
            "no controller lives that would start these runners again: `quick` of {} on connection {}",
            bob.user, plain.id
        );
        assert!(refused.contains(&named), "{refused}");
        assert!(!plain.ended());
        let ran = start.count("run ok");
        start.says("run ok", ran + 2).await;
        assert_eq!(start.count("runner started"), 1, "{:#?}", start.log());

        admin.run(&format!("KILL {}", plain.id)).await;
        wait_until("it is gone", SOON, async || {
            admin.one("SELECT status FROM job_overview WHERE job_name = 'quick'").await == "LOST"
        })
        .await;
        good(&db, &db.root(), &["install"]).await;
        start.says("runner started", 2).await;
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
    });
}
