//! How long `jobctl status` takes, from its start to its end, with many jobs that have all run.

use std::time::Instant;

use crate::args::Args;
use crate::clock::{self, SECOND};
use crate::report::{Report, short};
use crate::session::{literal, name};
use crate::spread::Spread;
use crate::stage::Stage;

const PART: &str = "status, whole command, ms: median / p99 / worst";

/// Measures 1,000 and 10,000 jobs of one account.
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report) {
    for count in [1_000, 10_000] {
        let account = stage.db.account(&format!("status{count}")).await;
        stage.relax(true).await;
        stage.jobs(&account, count, 3600.0, clock::now() + 86_400 * SECOND, "'nothing'").await;
        runs(stage, &account.user).await;
        stage.relax(false).await;
        for (kind, more) in [("table", &[][..]), ("--output json", &["--output", "json"])] {
            let mut times = Vec::new();
            for _ in 0..args.count(20, 4) {
                let begun = Instant::now();
                let ran = stage.db.jobctl(&account, &[&["status"], more].concat()).await;
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
                assert_eq!(ran.code, 0, "{ran:#?}");
                assert!(ran.stdout.lines().count() >= usize::try_from(count).expect("a count"), "all jobs are shown");
            }
            let times = Spread::of(times);
            report.spread(PART, format!("{count} jobs, {kind}"), "ms", &times);
            if count == 10_000 && more.is_empty() {
                let measured = format!("{} ms", short(times.median()));
                report.target("status of 10,000 jobs: at most 300 ms (median)", times.median() <= 300.0, measured);
            }
        }
    }
}

/// Gives every job of an owner a run, as if all had run just now.
async fn runs(stage: &mut Stage, owner: &str) {
    let owner = literal(owner);
    let first = format!(
        "INSERT INTO job_run (job_id, run_no, outcome, job_owner, job_name, scheduled_for, attempt, started_at, finished_at) \
         SELECT job_id, 1, 'OK', job_owner, job_name, UTC_TIMESTAMP(6), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM job WHERE job_owner = {owner}"
    );
    stage.admin.run(&first).await;
    let counters = format!("UPDATE job SET job_run_counter = 1, job_run_last = 1 WHERE job_owner = {owner}");
    stage.admin.run(&counters).await;
    for table in ["job", "job_run"] {
        stage.admin.run(&format!("ANALYZE TABLE {}", name(table))).await;
    }
}
