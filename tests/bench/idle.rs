//! What jobs cost that only wait: processor time, memory, sessions.
//!
//! Memory is that of the server with all runners waiting, less that of the same server with as many bare connections, measured first
//! on the fresh server: what these leave behind is used again, so the difference is what a runner takes above a connection (and
//! rather too much than too little, as rows and pages that the runners write count too).

use std::time::Duration;

use mysql_async::Conn;
use serde_json::json;

use crate::args::Args;
use crate::clock::{self, SECOND};
use crate::controller::{Controller, Park};
use crate::db::Account;
use crate::report::{Report, short};
use crate::session::literal;
use crate::spread::Spread;
use crate::stage::Stage;

const PART: &str = "hourly jobs that wait for their hour";
/// After the last runner is there, until nothing moves any more.
const SETTLE: Duration = Duration::from_secs(2);
/// A day ahead: not due while it is measured.
const FAR: i64 = 86_400 * SECOND;
/// Jobs that become due while the others are parked, and the time between two of them.
const DUE: i64 = 20;
const APART: i64 = 110_000;

/// What waiting costs in one window.
struct Cost {
    server: f64,
    controller: f64,
    memory: f64,
    sessions: i64,
}

/// Measures `count` waiting runners, and with `more` what they take after a run, and what parked jobs cost.
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report, count: u32, more: bool) {
    let account = stage.db.account(&format!("idle{count}")).await;
    stage.relax(true).await;
    let procedure = format!("IF(n <= {}, CONCAT('w', n), 'nothing')", if more { DUE } else { 0 });
    stage.jobs(&account, count, 3600.0, clock::now() + FAR, &procedure).await;
    stage.relax(false).await;
    let server = stage.db.server().name.clone();
    let told = |part: &str| crate::told(&server, &format!("{count} waiting jobs: {part}"));
    told("bare connections");
    let bare = bare(stage, &account, count).await;

    told("runners");
    let begun = clock::now();
    let controller = Controller::start(&stage.db, &account, Park::Never);
    stage.wait(&account, count, "job_runner_status IN ('WAITING', 'SLEEPING') AND job_runner_token IS NOT NULL").await;
    #[expect(clippy::cast_precision_loss, reason = "a few seconds")]
    report.number(
        PART,
        format!("{count} runners: from their controller's start until all wait"),
        "s",
        (clock::now() - begun) as f64 / 1e6,
    );
    told("settling");
    tokio::time::sleep(SETTLE).await;
    told("CPU");
    let seconds = args.count(25, 4);
    let waiting = cost(stage, &controller, seconds).await;
    let above = (waiting.memory - bare) / f64::from(count);
    let label = format!("{count} waiting runners");
    tell(report, &format!("{label} ({seconds} s)"), &waiting);
    report.number(PART, format!("{label}: memory of each above a bare connection's"), "KiB", above);
    if more {
        let mariadb = stage.db.mariadb();
        let bound = if mariadb { 512.0 } else { 1024.0 };
        let target = format!("{label}: under 2 % of a core");
        report.target(target, waiting.server < 2.0, format!("{} %", short(waiting.server)));
        let target = format!("{label}: each at most 1 MiB (MariaDB 512 KiB)");
        report.target(target, above <= bound, format!("{} KiB", short(above)));
        if !args.quick {
            told("a run of each");
            let (after, ran) = after_a_run(stage, &account, count).await;
            let above = (after - bare) / f64::from(count);
            let cell = if ran == i64::from(count) { short(above) } else { format!("{} ({ran} ran)", short(above)) };
            report.put(
                PART,
                format!("{label}: the same after a run of each, KiB"),
                cell,
                json!({ "value": above, "ran": ran }),
            );
        }
    }
    told("stopping");
    controller.stop().await;
    if more {
        told("parked");
        parked(stage, args, report, &account, count).await;
    }
}

/// Writes down what waiting costs.
fn tell(report: &mut Report, label: &str, cost: &Cost) {
    let cell = format!("{}; {}", short(cost.server), short(cost.controller));
    let value = json!({ "server": cost.server, "controller": cost.controller });
    report.put(PART, format!("{label}: CPU of the server; of the controller, % of a core"), cell, value);
    let cell = format!("{}; {}", cost.sessions, short(cost.memory / 1024.0));
    let value = json!({ "sessions": cost.sessions, "memory_mib": cost.memory / 1024.0 });
    report.put(PART, format!("{label}: sessions; memory of the server, MiB"), cell, value);
}

/// Memory of the server with so many connections that do nothing.
async fn bare(stage: &Stage, account: &Account, count: u32) -> f64 {
    let mut connections = Vec::new();
    for _ in 0..count {
        connections.push(Conn::new(stage.db.options(account)).await.expect("the account may log in"));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let memory = stage.process.memory();
    for connection in connections {
        connection.disconnect().await.expect("a connection can be closed");
    }
    memory
}

/// What the server and the controller spend in so many seconds.
async fn cost(stage: &mut Stage, controller: &Controller, seconds: i64) -> Cost {
    let cpu = || (stage.process.cpu(), controller.process().cpu());
    let (before, begun) = (cpu(), clock::now());
    clock::until(begun + seconds * SECOND).await;
    let (after, ended) = (cpu(), clock::now());
    #[expect(clippy::cast_precision_loss, reason = "a few seconds")]
    let percent = |spent: f64| spent * 100.0 / ((ended - begun) as f64 / 1e6);
    let (server, controller) = (percent(after.0 - before.0), percent(after.1 - before.1));
    let memory = stage.process.memory();
    Cost { server, controller, memory, sessions: stage.sessions().await }
}

/// Lets every job run once, 2 ms apart, and gives the memory of the server afterwards, and how many jobs have run. One whose runner
/// sees the new start only when it has passed is next due an hour later, so they have time.
async fn after_a_run(stage: &mut Stage, account: &Account, count: u32) -> (f64, i64) {
    let ran = "job_run_counter >= 1 AND job_run_open IS NULL";
    set_out(stage, account, count, clock::now() + 10 * SECOND, 2_000).await;
    stage.reach(account, count, ran, Duration::from_mins(1)).await;
    tokio::time::sleep(SETTLE).await;
    (stage.process.memory(), stage.count(account, ran).await)
}

/// Gives jobs 1 to `count` new starts, so long after each other, by a plain UPDATE.
async fn set_out(stage: &mut Stage, account: &Account, count: u32, first: i64, apart: i64) {
    let (number, owner) = (stage.own("number"), literal(&account.user));
    let update = format!(
        "UPDATE job JOIN {number} ON job_name = CONCAT('j', n) SET job_schedule_start = {} + INTERVAL (n - 1) * {apart} MICROSECOND \
         WHERE job_owner = {owner} AND n <= {count}",
        clock::literal(first)
    );
    stage.admin.run(&update).await;
}

/// The same jobs under a controller that may park them; some become due while it is measured.
async fn parked(stage: &mut Stage, args: &Args, report: &mut Report, account: &Account, count: u32) {
    let (seconds, lead) = args.count((25, 10), (6, 2));
    let far = format!(
        "UPDATE job SET job_schedule_start = {} WHERE job_owner = {}",
        clock::literal(clock::now() + FAR),
        literal(&account.user)
    );
    stage.admin.run(&far).await;
    let work = stage.own("work");
    stage.admin.run(&format!("TRUNCATE TABLE {work}")).await;
    let controller = Controller::start(&stage.db, account, Park::Auto);
    tokio::time::sleep(SETTLE).await;
    let first = clock::now() + lead * SECOND;
    set_out(stage, account, u32::try_from(DUE).expect("a few"), first, APART).await;
    let cost = cost(stage, &controller, seconds).await;
    let sql = format!(
        "SELECT {} FROM {work} JOIN job ON job_name = CONCAT('j', job) WHERE job_owner = {}",
        "TIMESTAMPDIFF(MICROSECOND, job_schedule_anchor, at)",
        literal(&account.user)
    );
    let late = stage.admin.rows(&sql).await.into_iter().map(|row| row[0].parse::<f64>().expect("a number") / 1000.0);
    let late = Spread::of(late);
    controller.stop().await;
    let label = format!("{count} jobs, parked");
    tell(report, &format!("{label} ({seconds} s, {DUE} of them due)"), &cost);
    report.spread(PART, format!("{label}: lateness of {DUE} due {} ms apart", APART / 1000), "ms", &late);
    report.target(format!("{count} parked: at most 10 sessions"), cost.sessions <= 10, cost.sessions.to_string());
    report.target(format!("{count} parked: under 1 % of a core"), cost.server < 1.0, format!("{} %", short(cost.server)));
    let early = late.median() <= 1.0 && late.p99() <= 5.0 && late.count() == usize::try_from(DUE).expect("a few");
    let measured = format!("{}; {} ms; {} of {DUE}", short(late.median()), short(late.p99()), late.count());
    report.target(format!("{count} parked: median 1 ms, p99 5 ms, all ran"), early, measured);
}
