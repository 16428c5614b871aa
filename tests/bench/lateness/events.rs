//! The Event Scheduler's side. Its events have the insert as their body, without a procedure around it: the cheapest they can have.

use std::time::Duration;

use super::sample::{self, Sample};
use super::soon;
use crate::clock::{self, SECOND};
use crate::session::name;
use crate::stage::Stage;

/// Creates events 1 to `n`, those that are not there yet; the scheduler is off.
pub async fn create(stage: &mut Stage, n: u32) {
    stage.relax(true).await;
    let schema = stage.db.bodies().to_owned();
    let sql = "SELECT COUNT(*) FROM information_schema.events WHERE event_schema = ";
    let there = stage.admin.number(&format!("{sql}{}", crate::session::literal(&schema))).await;
    // To the server a start in the past is a grid like any other.
    let starts = clock::text(clock::next_second(clock::now()));
    for event in there + 1..=i64::from(n) {
        let create = format!(
            "CREATE EVENT {}.e{event} ON SCHEDULE EVERY 1 SECOND STARTS '{starts}' DO INSERT INTO {} (job, at) VALUES ({event}, UTC_TIMESTAMP(6))",
            name(&schema),
            stage.own("work")
        );
        stage.admin.run(&create).await;
    }
    stage.relax(false).await;
}

/// Lets the scheduler work, and measures one window.
pub async fn window(stage: &mut Stage, n: u32, seconds: i64) -> Sample {
    sample::forget(stage).await;
    stage.admin.run("SET GLOBAL event_scheduler = ON").await;
    let begun = clock::now();
    let seen = format!("SELECT COUNT(DISTINCT job) FROM {}", stage.own("work"));
    while stage.admin.number(&seen).await < i64::from(n) && clock::now() < begun + 20 * SECOND {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let from = soon();
    let mut sample = Sample::default();
    sample.costs(stage, from, seconds).await;
    // What is late may still come.
    clock::until(from + seconds * SECOND + SECOND * 3 / 2).await;
    stage.admin.run("SET GLOBAL event_scheduler = OFF").await;
    sample.due = usize::try_from(i64::from(n) * seconds).expect("a count");
    let work = sample::work(stage).await;
    for job in work.chunk_by(|one, other| one.0 == other.0) {
        let at = job.iter().map(|(_, at)| *at).collect::<Vec<_>>();
        let window = from..from + seconds * SECOND;
        sample
            .late
            .extend(planned(&at).into_iter().filter(|(planned, _)| window.contains(planned)).map(|(planned, at)| at - planned));
    }
    sample.done = sample.late.len();
    sample
}

/// The planned instant of each run of one event. Nothing tells which it was, so it is the last whole second before the run, as the
/// scheduler would have it; where two runs fell into one second, the first is that of the second before, if that has none.
fn planned(at: &[i64]) -> Vec<(i64, i64)> {
    let mut planned: Vec<(i64, i64)> = Vec::new();
    for at in at {
        let second = at / SECOND * SECOND;
        let last = planned.len();
        if last > 0 && planned[last - 1].0 == second {
            let free = last == 1 || planned[last - 2].0 < second - SECOND;
            if free {
                planned[last - 1].0 = second - SECOND;
            }
        }
        planned.push((second, *at));
    }
    // A second run in a second whose neighbour is taken is no occurrence of its own.
    planned.dedup_by_key(|(planned, _)| *planned);
    planned
}
