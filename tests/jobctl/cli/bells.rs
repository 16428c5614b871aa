//! The bell of a controller: it wakes runners, and its silence tells that the controller is gone, frozen, or alone.

use std::time::{Duration, Instant};

use super::starting::nothing_left;
use super::takeover::{jealous, start};
use super::tool::{Going, SOON, bad, call, good, status};
use crate::each::{each, wait_until};
use crate::ledger::complete;
use crate::session::Session;

/// With room for a noisy machine: the bound is one second.
const SECOND: Duration = Duration::from_secs(3);

pub(super) async fn bell(admin: &mut Session) -> String {
    admin.one("SELECT controller_bell_connection_id FROM job_controller WHERE controller_finish IS NULL").await
}

#[test]
fn a_request_reaches_a_waiting_runner_at_once() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "1h").await;
        let start = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "SLEEPING").await;
        for (verb, word) in [("pause", "PAUSED"), ("resume", "SLEEPING"), ("pause", "PAUSED"), ("resume", "SLEEPING")] {
            good(&db, &bob, &[verb, "x"]).await;
            let begun = Instant::now();
            let now = "SELECT job_runner_status FROM job";
            wait_until(word, SOON, async || admin.one(now).await == word).await;
            assert!(begun.elapsed() < SECOND, "{verb}: {:?}", begun.elapsed());
        }
        // So does a plain UPDATE, and the switch.
        admin.run("UPDATE job SET job_status = 'PAUSED'").await;
        let begun = Instant::now();
        wait_until("PAUSED", SOON, async || admin.one("SELECT job_runner_status FROM job").await == "PAUSED").await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
        wait_until("SLEEPING", SOON, async || admin.one("SELECT job_runner_status FROM job").await == "SLEEPING").await;
        good(&db, &bob, &["pause", "--all"]).await;
        wait_until("PAUSED", SOON, async || admin.one("SELECT job_runner_status FROM job").await == "PAUSED").await;
        good(&db, &bob, &["resume", "--all"]).await;
        wait_until("SLEEPING", SOON, async || admin.one("SELECT job_runner_status FROM job").await == "SLEEPING").await;
        assert!(begun.elapsed() < 3 * SECOND, "{:?}", begun.elapsed());
        let begun = Instant::now();
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
        nothing_left(&db, &bob, &mut admin).await;
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_controller WHERE controller_finish IS NULL").await, "0");
    });
}

#[test]
fn a_bell_that_is_cut_is_back_at_once_and_no_occurrence_is_lost() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "0.5s").await;
        let start = start(&db, &bob, &["x"]);
        start.says("run ok", 2).await;
        for round in 1..=3 {
            let id = bell(&mut admin).await;
            admin.run(&format!("KILL {id}")).await;
            let begun = Instant::now();
            start.says("lost the bell", round).await;
            assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
            start.says("the bell is back", round).await;
            start.says("runner started", round + 1).await;
            let ran = start.count("run ok");
            start.says("run ok", ran + 2).await;
        }
        let entries = complete(&mut admin, 500_000).await;
        assert!(entries.iter().all(|entry| entry.outcome != "LOST"), "{entries:?}");
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.clash", db.bodies())).await, "0");
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_runner_that_is_killed_while_it_waits_for_its_bell_says_so_and_is_back() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "1h").await;
        let start = start(&db, &bob, &["x"]);
        status(&db, &bob, "x", "SLEEPING").await;
        let id = admin.one("SELECT job_runner_connection_id FROM job").await;
        let waits = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id} AND state = 'User lock'");
        wait_until("it waits for its bell", SOON, async || admin.number(&waits).await == 1).await;
        admin.run(&format!("KILL QUERY {id}")).await;
        start.says("x: runner ended: Interrupted while it was waiting", 1).await;
        start.says("x: runner started", 2).await;
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_frozen_controller_is_written_off_by_the_one_that_stands_by_and_thawed_it_stands_by_itself() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "0.5s").await;
        let first = start(&db, &bob, &["x", "--ttl", "3s"]);
        first.says("run ok", 1).await;
        let second = start(&db, &bob, &["x", "--ttl", "3s"]);
        wait_until("both are known", SOON, async || admin.number("SELECT COUNT(*) FROM job_controller").await == 2).await;
        // Who judges has been heard for a time to live.
        tokio::time::sleep(Duration::from_millis(3500)).await;
        first.signal("STOP");
        let begun = Instant::now();
        second.says("runner started", 1).await;
        eprintln!("{}: a frozen controller's job taken over after {:?} (TTL 3 s)", db.server().name, begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(3) + 2 * SECOND, "{:?}", begun.elapsed());
        second.says("run ok", 2).await;
        first.signal("CONT");
        first.says("written off", 1).await;
        first.says("the bell is back", 1).await;
        let ran = second.count("run ok");
        second.says("run ok", ran + 3).await;
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.clash", db.bodies())).await, "0");
        assert_eq!(first.count("runner started"), 1, "{:#?}", first.log());
        complete(&mut admin, 500_000).await;
        for start in [second, first] {
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_run_of_a_frozen_controller_is_finished_and_never_killed() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(id BIGINT)").await;
        db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(8); INSERT INTO done VALUES (CONNECTION_ID()); END").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "slow"), "--every", "1s"]).await;
        let mut admin = db.admin().await;
        let first = start(&db, &bob, &["x", "--ttl", "1s"]);
        let second = start(&db, &bob, &["x", "--ttl", "1s"]);
        status(&db, &bob, "x", "RUNNING").await;
        let ghost = admin.one("SELECT job_runner_connection_id FROM job").await;
        let started = || first.count("runner started") + second.count("runner started");
        wait_until("one of them says that it runs it", SOON, async || started() == 1).await;
        let (runs, stands) = if first.count("runner started") == 1 { (first, second) } else { (second, first) };
        runs.signal("STOP");
        stands.says("runner started", 1).await;
        let runs_of_ghost =
            format!("SELECT GROUP_CONCAT(outcome) FROM job_run WHERE run_connection_id = {ghost} AND attempt > 0");
        assert_eq!(admin.one(&runs_of_ghost).await, "OK");
        assert_eq!(admin.one(&format!("SELECT GROUP_CONCAT(id) FROM {}.done", db.bodies())).await, ghost);
        runs.signal("KILL");
        stands.signal("TERM");
        assert_eq!(stands.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn controllers_on_one_host_have_names_of_their_own_and_a_name_given_is_taken_once() {
    each(|db| async move {
        let (bob, mut admin) = jealous(&db, "1h").await;
        let mut starts =
            [start(&db, &bob, &["x"]), start(&db, &bob, &["x"]), start(&db, &bob, &["x", "--controller-name", "it's me"])];
        let names = "SELECT COUNT(DISTINCT controller_name) FROM job_controller WHERE controller_finish IS NULL";
        wait_until("three names", SOON, async || {
            assert!(starts.iter_mut().all(Going::works), "{:#?}", starts.each_ref().map(Going::log));
            admin.number(names).await == 3
        })
        .await;
        let told = bad(&db, &bob, 75, &["start", "x", "--controller-name", "it's me"]).await;
        assert!(told.contains("a controller of that name lives on connection"), "{told}");
        for start in starts {
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
        }
        // A name is free again after its end, good or bad.
        for signal in ["KILL", "TERM"] {
            let again = start(&db, &bob, &["x", "--controller-name", "it's me"]);
            again.says("runner started", 1).await;
            again.signal(signal);
            again.ends().await;
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn controllers_that_look_alike_do_not_put_an_end_to_each_other() {
    each(|db| async move {
        let bob = db.account("bob").await;
        // As in two containers: the same name, the same host name, and each process is the first one.
        let (mut one, mut two) = (db.login(&bob).await, db.login(&bob).await);
        let begin = |more: &str| format!(r#"CALL job$controller('{{"name": "c", "host": "h", "pid": 1{more}}}')"#);
        let first = one.row(&begin("")).await;
        assert_eq!((first[0].as_str(), two.row(&begin("")).await[0].as_str()), ("c", "c/2"));
        let beat = format!(r#"CALL job$heartbeat('{{"name": "c", "life": {}}}')"#, first[1]);
        assert_eq!(two.one(&beat).await, "1", "the first one has not been written off");
        // Only one who knows its life is its former self, and ends what is left of that.
        let mut again = db.login(&bob).await;
        assert_eq!(again.row(&begin(&format!(r#", "former": {}"#, first[1]))).await[0], "c");
        one.attempt("DO 0").await.expect_err("its connection was given up");
        assert_eq!(two.one(&beat).await, "0");
    });
}
