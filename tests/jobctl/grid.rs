//! Occurrences stay on the grid; whatever is missed is a span; nothing is claimed twice.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::{complete, entries};
use crate::session::Session;

const SOON: Duration = Duration::from_secs(40);

async fn runs(admin: &mut Session, count: i64) {
    let sql = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('SKIPPED', 'RUNNING')";
    wait_until("runs", SOON, async || admin.number(sql).await >= count).await;
}

/// Bob's job `x`, whose grid began `ago` seconds ago and which nobody has run yet: an outage of that length.
async fn neglected(db: &Db, ago: f64, every: &str) -> Account {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    neglect(db, &bob, ago, every).await;
    bob
}

async fn neglect(db: &Db, bob: &Account, ago: f64, every: &str) {
    let mut session = db.login(bob).await;
    let start = session.one(&format!("SELECT UTC_TIMESTAMP(6) - INTERVAL {ago} SECOND")).await;
    session.define(db, "x", "hello", every, &format!(r#", "start": "{start}""#)).await;
    db.admin().await.run("UPDATE job SET job_next = job_schedule_anchor").await;
}

#[test]
fn a_schedule_does_not_drift() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("nap", "DO SLEEP(0.03)").await;
        db.define(&bob, "x", "nap", "0.4", "").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 20).await;
        let entries = complete(&mut admin, 400_000).await;
        for entry in entries.iter().filter(|entry| entry.ran()) {
            assert!(entry.started_at.unwrap() >= entry.scheduled_for, "too early: {entry:?}");
        }
        let mut late: Vec<_> =
            entries.iter().filter(|entry| entry.ran()).map(|entry| entry.started_at.unwrap() - entry.scheduled_for).collect();
        late.sort_unstable();
        assert!(late[late.len() / 2] < 200_000, "half of the runs are punctual to 0.2 s: {late:?}");
    });
}

#[test]
fn a_body_longer_than_its_interval_gives_one_span_and_the_latest_occurrence_runs() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "DO SLEEP(3.2)").await;
        db.define(&bob, "x", "slow", "1", "").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 3).await;
        let entries = complete(&mut admin, 1_000_000).await;
        // A run covers three whole intervals and more: run, span, run, span...
        for pair in entries.windows(2).filter(|pair| pair[0].ran() && pair[0].finished_at.is_some()) {
            let (run, span) = (&pair[0], &pair[1]);
            assert_eq!((span.outcome.as_str(), span.reason.as_str()), ("SKIPPED", "OVERRUN"), "{entries:#?}");
            assert_eq!(span.scheduled_for, run.scheduled_for + 1_000_000);
            assert!(span.span_count.unwrap() >= 2, "{span:?}");
            // The span ends before the last instant that had come when it was written: that one runs.
            assert!(span.finished_at.unwrap() - span.span_last.unwrap() >= 1_000_000, "{run:?} {span:?}");
        }
    });
}

#[test]
fn an_occurrence_that_comes_during_a_run_is_not_skipped_if_it_is_the_latest() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("gone", "(n INT AUTO_INCREMENT PRIMARY KEY)").await;
        // The first run takes one interval and a half, the others nothing.
        db.body("slow", "BEGIN INSERT INTO gone VALUES (); IF (SELECT COUNT(*) FROM gone) = 1 THEN DO SLEEP(3); END IF; END")
            .await;
        db.define(&bob, "x", "slow", "2", "").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 3).await;
        let entries = complete(&mut admin, 2_000_000).await;
        assert!(entries.iter().all(|entry| entry.ran()), "{entries:#?}");
        let late = entries[1].started_at.unwrap() - entries[1].scheduled_for;
        assert!((900_000..2_000_000).contains(&late), "it ran late, when the first had ended: {entries:#?}");
    });
}

#[test]
fn after_an_outage_the_latest_occurrence_runs_late_and_the_others_are_one_span() {
    each(|db| async move {
        let bob = neglected(&db, 5400.0, "600").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 1).await;
        let entries = complete(&mut admin, 600_000_000).await;
        let summary: Vec<_> =
            entries.iter().map(|entry| (entry.outcome.as_str(), entry.reason.as_str(), entry.span_count)).collect();
        assert_eq!(summary, [("SKIPPED", "NO_RUNNER", Some(9)), ("OK", "NULL", None)]);
        assert_eq!(entries[0].run_no, 1);
    });
}

#[test]
fn an_outage_of_less_than_an_interval_skips_nothing() {
    each(|db| async move {
        let bob = neglected(&db, 300.0, "600").await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 1).await;
        let entries = complete(&mut admin, 600_000_000).await;
        assert_eq!(entries.iter().map(|entry| entry.outcome.as_str()).collect::<Vec<_>>(), ["OK"]);
        assert!(entries[0].started_at.unwrap() - entries[0].scheduled_for >= 300_000_000);
    });
}

#[test]
fn a_span_is_counted_up_to_ten_thousand_and_is_many_beyond() {
    each(|db| async move {
        // The instants that have come: one for the anchor, one for each whole interval since; the latest of them runs.
        let mut admin = db.admin().await;
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        for (ago, count) in [(100_005.0, "10000"), (100_015.0, "NULL")] {
            neglect(&db, &bob, ago, "10").await;
            let runner = db.runner(&bob, "x").await;
            runs(&mut admin, 1).await;
            let span = admin.row("SELECT reason, span_count FROM job_run WHERE attempt = 0").await;
            assert_eq!(span, ["NO_RUNNER", count]);
            admin.run(&format!("KILL {}", runner.id)).await;
            admin.run("DELETE FROM job_run").await;
            admin.run("DELETE FROM job").await;
        }
    });
}

#[test]
fn a_plain_change_of_start_or_interval_begins_a_new_grid_after_now() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "x", "hello", "0.2", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 3).await;
        // A grid of its own, which has no instant in common with the first.
        admin.run("UPDATE job SET job_schedule_start = '2020-01-01 00:00:00.000123', job_schedule_interval = 0.3").await;
        let changed = admin.number("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").await;
        let before = admin.number("SELECT MAX(run_no) FROM job_run").await;
        runs(&mut admin, before + 4).await;
        let anchor = admin.number("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', job_schedule_anchor) FROM job").await;
        assert_eq!(admin.one("SELECT job_schedule_anchor FROM job").await, "2020-01-01 00:00:00.000123");
        let (old, new): (Vec<_>, Vec<_>) =
            entries(&mut admin).await.into_iter().partition(|entry| (entry.scheduled_for - anchor) % 300_000 != 0);
        assert!(new.len() >= 3, "{old:?} {new:?}");
        // One old occurrence may have been on its way.
        assert!(old.iter().all(|entry| entry.run_no <= before + 1), "{old:?}");
        assert!(new.iter().all(|entry| entry.scheduled_for >= changed - 1_000_000), "nothing of the past is made up: {new:?}");
        assert!(!runner.ended());
    });
}

#[test]
fn the_last_instant_of_a_window_runs_and_then_the_job_is_finished() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        let window = session.row("SELECT UTC_TIMESTAMP(6) + INTERVAL 1 SECOND, UTC_TIMESTAMP(6) + INTERVAL 2 SECOND").await;
        let finish = session.one(&format!("SELECT TIMESTAMP'{}' + INTERVAL 600000 MICROSECOND", window[0])).await;
        let more = format!(r#", "start": "{}", "finish": "{finish}""#, window[0]);
        let row = session.define(&db, "x", "hello", "0.3", &more).await;
        assert_eq!(row[2], window[0]);
        let runner = db.runner(&bob, "x").await;
        assert_eq!(runner.message().await, "Ok: the schedule is over");
        let mut admin = db.admin().await;
        let entries = complete(&mut admin, 300_000).await;
        let planned: i64 = entries.iter().map(|entry| entry.span_count.unwrap_or(1)).sum();
        assert_eq!(planned, 3, "start, start + 0.3 s, start + 0.6 s = finish: {entries:#?}");
        assert!(entries.last().unwrap().ran(), "{entries:#?}");
        assert_eq!(admin.one("SELECT job_status FROM job").await, "FINISHED");
        assert_eq!(
            admin.one("SELECT COUNT(*) FROM job_event WHERE event_kind = 'STATUS' AND event_to = 'FINISHED'").await,
            "1"
        );
    });
}

#[test]
fn a_job_that_starts_later_waits_for_its_start() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        let start = session.one("SELECT UTC_TIMESTAMP(6) + INTERVAL 4 SECOND").await;
        session.define(&db, "x", "hello", "60", &format!(r#", "start": "{start}""#)).await;
        let _runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        wait_until("it waits", SOON, async || admin.one("SELECT status FROM job_overview").await == "WAITING").await;
        wait_until("its reason", SOON, async || {
            admin.one("SELECT status_detail FROM job_overview").await == "before the start"
        })
        .await;
        runs(&mut admin, 1).await;
        assert_eq!(admin.one("SELECT scheduled_for FROM job_run").await, start);
        assert_eq!(admin.one("SELECT status FROM job_overview").await, "SLEEPING");
    });
}

#[test]
fn an_occurrence_that_ran_never_runs_again_though_job_next_is_moved_back_by_hand() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("seen", "(id INT AUTO_INCREMENT PRIMARY KEY)").await;
        db.body("look", "INSERT INTO seen VALUES ()").await;
        db.define(&bob, "x", "look", "0.5", "").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        for round in 1..=6 {
            runs(&mut admin, 2 * round).await;
            // By one instant, by two...: all of them have run.
            admin
                .run(&format!("UPDATE job SET job_next = job_next - INTERVAL {} MICROSECOND", 500_000 * (1 + round % 3)))
                .await;
        }
        let last = admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'").await;
        runs(&mut admin, last + 2).await;
        assert!(!runner.ended());
        let twice = "SELECT scheduled_for FROM job_run WHERE attempt > 0 GROUP BY scheduled_for HAVING COUNT(*) > 1";
        assert_eq!(admin.rows(twice).await, Vec::<Vec<String>>::new());
        let (seen, rows) =
            (format!("SELECT COUNT(*) FROM {}.seen", db.bodies()), "SELECT COUNT(*) FROM job_run WHERE attempt > 0");
        wait_until("as many runs as rows", SOON, async || admin.one(&seen).await == admin.one(rows).await).await;
        let lies = "SELECT r.scheduled_for FROM job_run r JOIN job_run s ON s.outcome = 'SKIPPED' AND r.outcome = 'OK' \
                    AND r.scheduled_for BETWEEN s.scheduled_for AND s.span_last";
        assert_eq!(admin.rows(lies).await, Vec::<Vec<String>>::new(), "these ran, and are in a span of skipped ones");
    });
}

#[test]
fn the_occurrence_of_just_now_is_passed_over_though_it_is_due_again_by_hand() {
    each(|db| async move {
        let bob = neglected(&db, 1.0, "30").await;
        let runner = db.runner(&bob, "x").await;
        let mut admin = db.admin().await;
        runs(&mut admin, 1).await;
        let next = admin.one("SELECT job_next FROM job").await;
        admin.run("UPDATE job SET job_next = job_next - INTERVAL 30 SECOND").await;
        wait_until("it is passed over", SOON, async || admin.one("SELECT job_next FROM job").await == next).await;
        assert!(!runner.ended());
        assert_eq!(entries(&mut admin).await.len(), 1, "no second run, and no span");
    });
}

#[test]
fn define_tells_the_first_three_occurrences_and_none_beyond_the_finish() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        let more = r#", "start": "2099-12-31 23:59:59.25", "finish": "2100-01-01 00:00:00""#;
        let row = session.define(&db, "x", "hello", "0.5", more).await;
        assert_eq!(row[1..], ["CREATED", "2099-12-31 23:59:59.250000", "2099-12-31 23:59:59.750000", "NULL"]);
    });
}

#[test]
fn a_grid_stays_exact_far_from_its_anchor() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let call = format!(
            "CALL {}.job$_grid('1970-01-01 00:00:00.000001', 0.100001, '2399-12-31 23:59:59', @last, @next)",
            db.schema()
        );
        admin.run(&call).await;
        let steps = |at: &str| format!("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00.000001', {at}) MOD 100001");
        assert_eq!(admin.one(&steps("@last")).await, "0");
        assert_eq!(admin.one(&steps("@next")).await, "0");
        assert_eq!(admin.one("SELECT TIMESTAMPDIFF(MICROSECOND, @last, @next)").await, "100001");
        assert_eq!(admin.one("SELECT @last <= '2399-12-31 23:59:59' AND @next > '2399-12-31 23:59:59'").await, "1");
    });
}
