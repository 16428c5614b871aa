//! Many jobs.

use std::time::Instant;

use super::{are_parked, due_in, end, hourly, parked, runs, sessions, start};
use crate::cli::starting::nothing_left;
use crate::cli::tool::SOON;
use crate::each::{each, wait_until};

#[test]
fn jobs_are_parked_by_themselves_when_there_are_more_than_twenty() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 21).await;
        let names: Vec<_> = (1..=20).map(|job| format!("j{job:03}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let few = start(&db, &bob, &names);
        few.says("runner started", 20).await;
        assert_eq!(parked(&mut admin).await, 0);
        end(few).await;
        let start = start(&db, &bob, &["--all"]);
        are_parked(&mut admin, 21).await;
        start.says("runner started, parked until ", 21).await;
        let taken = sessions(&mut admin, &bob).await;
        assert!(taken <= 4, "{taken}");
        let begun = Instant::now();
        end(start).await;
        eprintln!("{}: 21 parked jobs ended in {:?}", db.server().name, begun.elapsed());
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_hundred_jobs_of_one_instant_run_at_it() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 100).await;
        let start = start(&db, &bob, &["--all"]);
        are_parked(&mut admin, 100).await;
        due_in(&mut admin, 20, "TRUE").await;
        start.says("run ok", 100).await;
        are_parked(&mut admin, 100).await;
        assert_eq!(runs(&mut admin, &db).await, 100);
        let late = "SELECT MAX(TIMESTAMPDIFF(MICROSECOND, scheduled_for, started_at)), MIN(TIMESTAMPDIFF(MICROSECOND, scheduled_for, started_at)),
            COUNT(DISTINCT scheduled_for), COUNT(*) FROM job_run";
        let late = admin.row(late).await;
        eprintln!("{}: at most {} us late", db.server().name, late[0]);
        assert_eq!(late[2..], ["1", "100"]);
        assert!(late[0].parse::<i64>().unwrap() < 10_000_000 && late[1].parse::<i64>().unwrap() >= 0, "{late:?}");
        end(start).await;
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn two_controllers_share_nothing_twice() {
    each(|db| async move {
        let (bob, mut admin) = hourly(&db, 40).await;
        let starts = [start(&db, &bob, &["--all"]), start(&db, &bob, &["--all"])];
        are_parked(&mut admin, 40).await;
        for round in 1..=2 {
            due_in(&mut admin, 6, "TRUE").await;
            wait_until("all have run", SOON, async || runs(&mut admin, &db).await >= 40 * round).await;
            are_parked(&mut admin, 40).await;
        }
        assert_eq!(runs(&mut admin, &db).await, 80);
        assert_eq!(
            admin.row("SELECT COUNT(*), COUNT(DISTINCT job_id, scheduled_for) FROM job_run WHERE outcome = 'OK'").await,
            ["80", "80"]
        );
        assert_eq!(admin.number("SELECT COUNT(*) FROM job_run WHERE outcome <> 'OK'").await, 0);
        for start in starts {
            end(start).await;
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}
