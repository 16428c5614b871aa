//! A third signal: whoever cannot wait for a run to be stopped either leaves it to the server.

use std::time::{Duration, Instant};

use super::starting::nothing_left;
use super::takeover::start;
use super::tool::{SOON, call, good};
use crate::each::{each, wait_until};

#[test]
fn a_third_signal_leaves_a_run_to_the_server_which_finishes_and_records_it() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(n INT)").await;
        // A sleep of this kind swallows the first wish that it end, should that still be sent; the second one, which does not leave
        // a choice, would come two seconds later, from a process that is gone by then.
        db.body("stubborn", "BEGIN DO SLEEP(6); DO SLEEP(3); INSERT INTO done VALUES (1); END").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "stubborn"), "--every", "0.5s"]).await;
        let mut admin = db.admin().await;
        let start = start(&db, &bob, &["x"]);
        let sleeps = "SELECT COUNT(*) FROM information_schema.processlist AS p JOIN job ON p.id = job_runner_connection_id \
                      WHERE p.state = 'User sleep' AND job_runner_status = 'RUNNING'";
        wait_until("the body sleeps", SOON, async || admin.number(sleeps).await == 1).await;
        start.signal("TERM");
        start.says("SIGTERM: runners end after their present runs", 1).await;
        start.signal("TERM");
        start.says("SIGTERM again: runs are stopped", 1).await;
        start.signal("TERM");
        let begun = Instant::now();
        let (code, log) = start.ends().await;
        assert!(begun.elapsed() < Duration::from_secs(2 + 1), "it waits for nobody: {:?}", begun.elapsed());
        assert_eq!(code, 143, "{log:#?}");
        let told = |text: &str| log.iter().filter(|line| line.contains(text)).count();
        assert_eq!(told("x: left to the server, which finishes its run"), 1, "{log:#?}");
        assert_eq!(log.last().unwrap(), "error: ended by SIGTERM before all runners had ended");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'").await, "1");

        let over = "SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'";
        wait_until("the server finishes it", SOON, async || admin.number(over).await == 0).await;
        assert_eq!(admin.one("SELECT GROUP_CONCAT(outcome) FROM job_run WHERE attempt > 0").await, "OK");
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.done", db.bodies())).await, "1");
        nothing_left(&db, &bob, &mut admin).await;
    });
}
