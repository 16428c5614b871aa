//! How long a job is without a runner when its controller goes: measured, printed, and held to the bound with room for noise.

use std::time::{Duration, Instant};

use super::starting::nothing_left;
use super::takeover::start;
use super::tool::{Going, SOON, call, good};
use crate::each::{each, full, wait_until};
use crate::session::Session;

/// The bound is one second; a noisy machine with two cores gets more.
const BOUND: Duration = Duration::from_secs(4);

/// How a controller goes.
const ENDS: [&str; 4] = ["a clean end", "SIGKILL", "its connections are killed", FREEZES];
/// The one that nothing betrays but its silence: the other waits for one time to live.
const FREEZES: &str = "it freezes";
/// That time.
const TTL: Duration = Duration::from_secs(3);

async fn epoch(admin: &mut Session) -> i64 {
    admin.number("SELECT job_runner_epoch FROM job").await
}

/// Waits until one of two controllers has a runner that sleeps and the other stands by: `(who runs, who stands by)`.
async fn settled(admin: &mut Session, [one, two]: [Going; 2]) -> (Going, Going) {
    let settled = |runs: &Going, waits: &Going| runs.count("runner started") > 0 && waits.count("standing by") > 0;
    wait_until("one runs, one stands by", SOON, async || settled(&one, &two) || settled(&two, &one)).await;
    let sleeps = "SELECT COUNT(*) FROM job_overview WHERE status = 'SLEEPING'";
    wait_until("the runner sleeps", SOON, async || admin.number(sleeps).await == 1).await;
    if settled(&one, &two) { (one, two) } else { (two, one) }
}

#[test]
fn a_job_that_sleeps_is_taken_over_at_once() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "1h"]).await;
        let mut admin = db.admin().await;
        for end in ENDS {
            let mut times = Vec::new();
            let bound = if end == FREEZES { TTL + BOUND } else { BOUND };
            for _ in 0..full(20, if end == FREEZES { 1 } else { 3 }) {
                let begin = || start(&db, &bob, &["x", "--ttl", "3s"]);
                let (runs, stands_by) = settled(&mut admin, [begin(), begin()]).await;
                let before = epoch(&mut admin).await;
                let mut begun = Instant::now();
                match end {
                    "a clean end" => runs.signal("TERM"),
                    "SIGKILL" => runs.signal("KILL"),
                    FREEZES => {
                        // Who judges has been heard for a time to live.
                        let heard = "SELECT COUNT(*) FROM job_controller WHERE controller_finish IS NULL \
                                     AND controller_steady < UTC_TIMESTAMP(6) - INTERVAL controller_ttl SECOND";
                        wait_until("both were heard", SOON, async || admin.number(heard).await >= 2).await;
                        begun = Instant::now();
                        runs.signal("STOP");
                    }
                    _ => {
                        let ids = "SELECT controller_bell_connection_id FROM job_controller JOIN job ON job_runner_controller = controller_name \
                                   UNION SELECT job_runner_connection_id FROM job";
                        // Frozen, so that it cannot come back by itself before the other does.
                        runs.signal("STOP");
                        for id in admin.rows(ids).await {
                            admin.run(&format!("KILL {}", id[0])).await;
                        }
                    }
                }
                wait_until("the other has it", SOON, async || epoch(&mut admin).await > before).await;
                times.push(begun.elapsed());
                if end != "a clean end" {
                    runs.signal("KILL");
                }
                runs.ends().await;
                stands_by.signal("TERM");
                assert_eq!(stands_by.ends().await.0, 0);
            }
            times.sort();
            let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
            eprintln!("{}: taken over after {end}: median {median:?}, worst {worst:?} of {}", db.server().name, times.len());
            assert!(median < bound, "{end}: {times:?}");
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}
