//! How long jobs are without a runner when their controller is killed and another one stands by: from the kill until the new runner
//! has taken its job over, by the row of the job; the server's clock is that of this machine.

use std::time::Duration;

use crate::args::Args;
use crate::clock::{self, SECOND};
use crate::controller::{Controller, Park};
use crate::report::Report;
use crate::session::literal;
use crate::spread::Spread;
use crate::stage::Stage;

const JOBS: u32 = 10;

/// Kills controllers.
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report) {
    let account = stage.db.account("taken").await;
    stage.jobs(&account, JOBS, 3600.0, clock::now() + 86_400 * SECOND, "'nothing'").await;
    let mut times = Vec::new();
    let mut works = Controller::start(&stage.db, &account, Park::Never);
    stage.wait(&account, JOBS, "job_runner_token IS NOT NULL").await;
    for _ in 0..args.count(10, 2) {
        let stands_by = Controller::start(&stage.db, &account, Park::Never);
        let lives = format!("SELECT COUNT(*) FROM job_controller WHERE controller_pid = {}", stands_by.process().0);
        while stage.admin.number(&lives).await < 1 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // It has looked at the jobs, and found them taken.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let killed = works.kill().await;
        let taken = format!("job_runner_token IS NOT NULL AND job_runner_start > {}", clock::literal(killed));
        stage.wait(&account, JOBS, &taken).await;
        let starts =
            format!("SELECT {} FROM job WHERE job_owner = {}", clock::micros("job_runner_start"), literal(&account.user));
        let starts = stage.admin.rows(&starts).await;
        times.extend(starts.iter().map(|row| (row[0].parse::<i64>().expect("an instant") - killed) as f64 / 1000.0));
        works = stands_by;
    }
    works.stop().await;
    let label = format!("controller killed, another stands by, {JOBS} jobs");
    report.spread("takeover, ms: median / p99 / worst", label, "ms", &Spread::of(times));
}
