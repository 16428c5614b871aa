//! Whatever dies: the controller, the connection that holds the locks, the session in the middle of the hand-over.

use std::time::{Duration, Instant};

use super::{SECOND, are_parked, due_in, end, hourly, lot, parked, runs, start, status};
use crate::cli::bells::bell;
use crate::cli::starting::nothing_left;
use crate::cli::tool::SOON;
use crate::each::{each, full, wait_until};

#[test]
fn the_death_of_a_controller_frees_all_its_parked_jobs_and_another_takes_them_over() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 30).await;
        let first = start(&db, &bob, &["--all"]);
        are_parked(&mut admin, 30).await;
        let before = lot(&mut admin, "j001").await;
        let second = start(&db, &bob, &["--all"]);
        second.says("standing by", 30).await;
        first.signal("KILL");
        let begun = Instant::now();
        let elsewhere =
            format!("SELECT COUNT(*) FROM job_overview WHERE job_runner_parked = 1 AND job_runner_connection_id <> {before}");
        wait_until("taken over", SOON, async || admin.number(&elsewhere).await == 30).await;
        eprintln!("{}: 30 parked jobs taken over after {:?}", db.server().name, begun.elapsed());
        assert!(begun.elapsed() < 2 * SECOND, "{:?}", begun.elapsed());
        end(second).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_frozen_controller_loses_its_parked_jobs_and_thawed_it_stands_by() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 3).await;
        let first = start(&db, &bob, &["--all", "--park", "10s", "--ttl", "3s"]);
        are_parked(&mut admin, 3).await;
        let before = lot(&mut admin, "j001").await;
        let second = start(&db, &bob, &["--all", "--park", "10s", "--ttl", "3s"]);
        second.says("standing by", 3).await;
        tokio::time::sleep(Duration::from_millis(3500)).await;
        first.signal("STOP");
        let elsewhere =
            format!("SELECT COUNT(*) FROM job_overview WHERE job_runner_parked = 1 AND job_runner_connection_id <> {before}");
        wait_until("taken over", SOON, async || admin.number(&elsewhere).await == 3).await;
        first.signal("CONT");
        first.says("the bell is back", 1).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(admin.number(&elsewhere).await, 3);
        for start in [second, first] {
            end(start).await;
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_lot_that_is_killed_is_replaced_and_nothing_is_lost() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 5).await;
        due_in(&mut admin, 12, "job_name = 'j001'").await;
        let start = start(&db, &bob, &["--all", "--park", "10s"]);
        are_parked(&mut admin, 5).await;
        for _ in 0..3 {
            let before = lot(&mut admin, "j002").await;
            admin.run(&format!("KILL {before}")).await;
            let begun = Instant::now();
            wait_until("another one", SOON, async || !["NULL", &before].contains(&lot_or_none(&mut admin).await.as_str()))
                .await;
            assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
        }
        // With the bell all begins anew.
        let id = bell(&mut admin).await;
        let before = lot(&mut admin, "j002").await;
        admin.run(&format!("KILL {id}")).await;
        wait_until("another one", SOON, async || !["NULL", &before].contains(&lot_or_none(&mut admin).await.as_str())).await;
        start.says("j001: run ok", 1).await;
        are_parked(&mut admin, 5).await;
        assert_eq!(runs(&mut admin, &db).await, 1);
        assert_eq!(admin.one("SELECT GROUP_CONCAT(outcome) FROM job_run").await, "OK");
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

async fn lot_or_none(admin: &mut crate::session::Session) -> String {
    admin.one("SELECT MAX(job_runner_connection_id) FROM job_overview WHERE job_runner_parked = 1 AND job_name = 'j002'").await
}

#[test]
fn sessions_that_are_killed_while_they_take_their_jobs_over_lose_nothing() {
    let rounds = full(20, 4);
    each(move |db| async move {
        let (bob, mut admin) = hourly(&db, 30).await;
        let start = start(&db, &bob, &["--all", "--park", "10s"]);
        let mut killer = db.admin().await;
        let mut killed = 0;
        for round in 1..=rounds {
            are_parked(&mut admin, 30).await;
            let ran = runs(&mut admin, &db).await;
            due_in(&mut admin, 4, "TRUE").await;
            let until = Instant::now() + Duration::from_secs(4);
            // Whoever has just come is killed, be it before, in, or after the hand-over.
            while Instant::now() < until {
                let opened = "SELECT job_runner_connection_id FROM job
                    WHERE job_runner_connection_id <> job_runner_lot AND job_runner_token IS NOT NULL ORDER BY RAND() LIMIT 1";
                for row in killer.rows(opened).await {
                    killed += i32::from(killer.attempt(&format!("KILL {}", row[0])).await.is_ok());
                }
                tokio::time::sleep(Duration::from_millis(7)).await;
            }
            let done = "SELECT COUNT(*) FROM job WHERE job_next < UTC_TIMESTAMP()";
            let begun = Instant::now();
            while admin.number(done).await > 0 || parked(&mut admin).await < 30 {
                let rows = "SELECT job_name, status, status_detail, job_next, job_runner_connection_id, job_runner_message FROM job_overview WHERE job_runner_parked = 0";
                assert!(begun.elapsed() < SOON, "round {round}: {:?} {:#?}", admin.rows(rows).await, start.log());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let ran = runs(&mut admin, &db).await - ran;
            assert!((1..=30).contains(&ran), "round {round}: {ran}");
        }
        eprintln!("{}: {killed} killed", db.server().name);
        let twice = "SELECT COUNT(*) FROM (SELECT job_id FROM job_run WHERE attempt > 0 GROUP BY job_id, scheduled_for HAVING COUNT(*) > 1) AS t";
        assert_eq!(admin.number(twice).await, 0);
        status(&db, &bob, "j030", "SLEEPING").await;
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}
