//! jobctl's side: a controller of its own for every window, with the defaults of a service.

use std::collections::HashMap;
use std::time::Duration;

use super::sample::{self, Sample};
use super::{MOST, soon};
use crate::clock::{self, SECOND};
use crate::controller::{Controller, Park};
use crate::session::{literal, name};
use crate::stage::Stage;

/// How long late occurrences of a window are waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Creates the job procedures `w1`, `w2`...
pub async fn procedures(stage: &mut Stage) {
    stage.relax(true).await;
    for n in 1..=MOST {
        let (procedure, work) = (stage.own(&format!("w{n}")), stage.own("work"));
        let body = format!("INSERT INTO {work} (job, at) VALUES ({n}, UTC_TIMESTAMP(6))");
        stage.admin.run(&format!("CREATE PROCEDURE {procedure}() SQL SECURITY INVOKER {body}")).await;
    }
    stage.relax(false).await;
}

/// Runs `n` jobs every second, and measures one window.
pub async fn window(stage: &mut Stage, n: u32, staggered: bool, seconds: i64) -> Sample {
    sample::forget(stage).await;
    let account = stage.db.account(&format!("n{n}{}", if staggered { "s" } else { "i" })).await;
    stage.relax(true).await;
    let start = clock::next_second(clock::now());
    stage.jobs(&account, n, 1.0, start, "CONCAT('w', n)").await;
    let owner = literal(&account.user);
    if staggered {
        let shift = format!(
            "UPDATE job JOIN {} ON job_name = CONCAT('j', n) SET job_schedule_start = job_schedule_start + INTERVAL ((n - 1) * 1000000 DIV {n}) \
             MICROSECOND WHERE job_owner = {owner}",
            stage.own("number")
        );
        stage.admin.run(&shift).await;
    }
    stage.relax(false).await;
    let controller = Controller::start(&stage.db, &account, Park::Auto);
    // The first run of a session loads what the later ones have.
    stage.wait(&account, n, "job_runner_cycles >= 2").await;
    let from = soon();
    let to = from + seconds * SECOND;
    let mut sample = Sample::default();
    sample.costs(stage, from, seconds).await;
    // No more instants; what is late may still come, and what never comes is counted below.
    let finish = clock::literal(to - 1);
    stage.admin.run(&format!("UPDATE job SET job_schedule_finish = {finish} WHERE job_owner = {owner}")).await;
    stage.reach(&account, n, "job_status = 'FINISHED' AND job_runner_token IS NULL", PATIENCE).await;
    controller.stop().await;
    count(stage, &mut sample, &owner, from, to).await;
    sample
}

/// Compares what was planned in `from..to` with what is recorded, and what is recorded with what the bodies wrote.
async fn count(stage: &mut Stage, sample: &mut Sample, owner: &str, from: i64, to: i64) {
    // The i-th row that a job's body wrote is that of its i-th run.
    let work = sample::work(stage).await;
    let mut bodies =
        work.chunk_by(|one, other| one.0 == other.0).map(|rows| (rows[0].0, rows.iter())).collect::<HashMap<_, _>>();
    let number = stage.own("number");
    let sql = format!(
        "SELECT n, {}, outcome, {}, {} FROM job JOIN {number} ON job_name = CONCAT('j', n) LEFT JOIN job_run USING (job_id) \
         WHERE job.job_owner = {owner} ORDER BY n, run_no",
        clock::micros("job_schedule_anchor"),
        clock::micros("scheduled_for"),
        clock::micros("span_last")
    );
    let rows = stage.admin.rows(&sql).await;
    for job in rows.chunk_by(|one, other| one[0] == other[0]) {
        let n: u32 = job[0][0].parse().expect("a job");
        let anchor: i64 = job[0][1].parse().expect("a job that ran has an anchor");
        let first = anchor + (from - anchor + SECOND - 1).div_euclid(SECOND) * SECOND;
        let due: Vec<i64> = (first..to).step_by(1_000_000).collect();
        let (mut done, mut skipped) = (Vec::new(), Vec::new());
        for run in job {
            let instant = |at: usize| run[at].parse::<i64>();
            match run[2].as_str() {
                "OK" => {
                    let planned = instant(3).expect("a run has its instant");
                    let (_, at) = bodies.get_mut(&n).and_then(Iterator::next).expect("a run that is OK has written its row");
                    if (from..to).contains(&planned) {
                        done.push(planned);
                        sample.late.push(at - planned);
                    }
                }
                "SKIPPED" => skipped.push(instant(3).expect("a first instant")..=instant(4).expect("a last instant")),
                _ => {}
            }
        }
        sample.due += due.len();
        let left: Vec<_> = due.into_iter().filter(|due| !done.contains(due)).collect();
        sample.done += done.len();
        sample.skipped += left.iter().filter(|due| skipped.iter().any(|span| span.contains(due))).count();
    }
    let spare = bodies.values().map(ExactSizeIterator::len).sum::<usize>();
    assert_eq!(spare, 0, "bodies of {} ran more often than is recorded", name(owner));
}
