//! What jobctl's bookkeeping costs, against the floor that no bookkeeping on this server can be below.
//!
//! The floor is a procedure that loops: one INSERT, one UPDATE of that row, each a transaction of its own, as a claim and a record
//! are. Bookkeeping is `CALL job$run` of a job with an empty body, back to back: wall time between the starts of two runs, by the
//! server's clock. Back to back without waiting takes an interval just below what a cycle takes, which the rounds find by
//! themselves: too long, and the runner sleeps (no instant is skipped); too short, and each run begins with a skip. Such rounds do not count. In those that do, an instant is skipped now and
//! then, in the transaction that claims; the share of such cycles is told.

use crate::args::Args;
use crate::clock;
use crate::db::Account;
use crate::report::{Report, short};
use crate::session::{Session, literal};
use crate::spread::Spread;
use crate::stage::Stage;

const PART: &str = "bookkeeping per cycle, one runner back to back";
/// Above this share of cycles with a skip the interval is still far from what a cycle takes.
const SKIPS: f64 = 0.4;

/// Cycles of one round: how many, how many of them with a skip, and the microseconds they took.
struct Round {
    cycles: i64,
    skips: i64,
    micros: i64,
}

/// Measures both in turns.
#[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report) {
    let seconds = args.count(1.5, 0.3);
    floor_procedure(stage, seconds).await;
    let account = stage.db.account("cycle").await;
    let mut runner = stage.db.login(&account).await;
    let (mut floors, mut cycles, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    let mut interval = None;
    let count = args.count(12, 8);
    for round in 0..count {
        let floor = format!("CALL {}", stage.own("floor_loop"));
        floors.push(stage.admin.one(&floor).await.parse::<f64>().expect("a number") / 1000.0);
        let now = interval.unwrap_or(floors[0] * 3.0);
        let Round { cycles: done, skips, micros } = back(stage, &account, &mut runner, round, now / 1000.0, seconds).await;
        let (cycle, share) = (micros as f64 / done as f64 / 1000.0, skips as f64 / done as f64);
        interval = Some(match share {
            0.0 => now * 0.75,
            share if share < SKIPS => cycle * 0.9,
            _ => now * 1.2,
        });
        if share > 0.0 && share < SKIPS {
            cycles.push(cycle);
            shares.push(share);
        }
    }
    let share = shares.iter().sum::<f64>() / shares.len() as f64 * 100.0;
    let (floor, cycle) = (Spread::of(floors), Spread::of(cycles));
    report.spread(PART, "floor: INSERT and UPDATE, each committed", "ms", &floor);
    report.spread(PART, "jobctl: job$run, empty body", "ms", &cycle);
    let times = cycle.median() / floor.median();
    let of = format!("{} of {count}; {share:.0} %", cycle.count());
    report.put(
        PART,
        "rounds that were back to back; cycles with a skip".into(),
        of,
        serde_json::json!({ "rounds": cycle.count(), "skips_percent": share }),
    );
    report.target("bookkeeping per cycle at most 2.5 x the floor", times <= 2.5, format!("{} x", short(times)));
}

/// Creates a loop that runs for so many seconds, and answers with the microseconds that one turn takes.
async fn floor_procedure(stage: &mut Stage, seconds: f64) {
    stage.db.table("floor", "(id BIGINT AUTO_INCREMENT PRIMARY KEY, begun DATETIME(6) NOT NULL, done DATETIME(6) NULL)").await;
    let (procedure, table) = (stage.own("floor_loop"), stage.own("floor"));
    let body = format!(
        "BEGIN
            DECLARE v_begun DATETIME(6) DEFAULT UTC_TIMESTAMP(6);
            DECLARE v_turns INT DEFAULT 0;
            WHILE UTC_TIMESTAMP(6) < v_begun + INTERVAL {seconds} SECOND DO
                INSERT INTO {table} (begun) VALUES (UTC_TIMESTAMP(6));
                UPDATE {table} SET done = UTC_TIMESTAMP(6) WHERE id = LAST_INSERT_ID();
                SET v_turns = v_turns + 1;
            END WHILE;
            SELECT TIMESTAMPDIFF(MICROSECOND, v_begun, UTC_TIMESTAMP(6)) / v_turns;
        END"
    );
    stage.admin.run(&format!("CREATE PROCEDURE {procedure}() {body}")).await;
}

/// Runs one job back to back for so many seconds.
async fn back(stage: &mut Stage, account: &Account, runner: &mut Session, round: usize, interval: f64, seconds: f64) -> Round {
    let job = format!("round{round}");
    stage.db.define(account, &job, "nothing", "1", "").await;
    let id = format!("job_owner = {} AND job_name = {}", literal(&account.user), literal(&job));
    let start = clock::now();
    #[expect(clippy::cast_possible_truncation, reason = "a few seconds")]
    let finish = start + (seconds * 1e6) as i64;
    let window = format!(
        "UPDATE job SET job_schedule_interval = {interval:.6}, job_schedule_start = {}, job_schedule_finish = {} WHERE {id}",
        clock::literal(start),
        clock::literal(finish)
    );
    stage.admin.run(&window).await;
    runner.run(&format!("CALL job$run({})", literal(&job))).await;
    let sql = format!(
        "SELECT CAST(COUNT(started_at) AS SIGNED) - 1, COUNT(*) - COUNT(started_at), TIMESTAMPDIFF(MICROSECOND, MIN(started_at), MAX(started_at)) \
         FROM job_run JOIN job USING (job_id) WHERE job.{}",
        id.replace("AND ", "AND job.")
    );
    let row = stage.admin.row(&sql).await;
    let number = |at: usize| row[at].parse::<i64>().expect("a number");
    Round { cycles: number(0).max(0), skips: number(1), micros: if row[2] == "NULL" { 0 } else { number(2) } }
}
