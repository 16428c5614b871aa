//! What one side did in its windows.

use crate::clock::{self, SECOND};
use crate::spread::Spread;
use crate::stage::Stage;

/// How long before the first planned instant of a window its costs begin to count.
const LEAD: i64 = 20_000;

/// Counts and costs of one or more windows.
#[derive(Default)]
pub struct Sample {
    /// In microseconds, of every occurrence done.
    pub late: Vec<i64>,
    /// Occurrences planned in the window.
    pub due: usize,
    /// Of those, the ones whose body ran.
    pub done: usize,
    /// Those that did not, and are recorded as skipped.
    pub skipped: usize,
    /// Bodies that ran while costs were counted.
    pub cycles: i64,
    cpu: f64,
    binlog: i64,
}

impl Sample {
    /// Counts what the server spends from just before `from`, for so many seconds.
    pub async fn costs(&mut self, stage: &mut Stage, from: i64, seconds: i64) {
        let (begin, end) = (from - LEAD, from + seconds * SECOND - LEAD);
        clock::until(begin).await;
        let (cpu, binlog) = (stage.process.cpu(), stage.binlog().await);
        clock::until(end).await;
        self.cpu += stage.process.cpu() - cpu;
        self.binlog += stage.binlog().await - binlog;
        let (work, begin, end) = (stage.own("work"), clock::literal(begin), clock::literal(end));
        self.cycles += stage.admin.number(&format!("SELECT COUNT(*) FROM {work} WHERE at >= {begin} AND at < {end}")).await;
    }

    /// Takes in another window.
    pub fn add(&mut self, other: Self) {
        self.late.extend(other.late);
        self.due += other.due;
        self.done += other.done;
        self.skipped += other.skipped;
        self.cycles += other.cycles;
        self.cpu += other.cpu;
        self.binlog += other.binlog;
    }

    /// Neither done nor recorded as skipped.
    pub fn lost(&self) -> usize {
        self.due.saturating_sub(self.done + self.skipped)
    }

    /// Milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "a lateness is far below 2^52 us")]
    pub fn lateness(&self) -> Spread {
        Spread::of(self.late.iter().map(|late| *late as f64 / 1000.0))
    }

    /// Processor time of the server, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    pub fn cpu_per_cycle(&self) -> f64 {
        self.cpu * 1000.0 / self.cycles as f64
    }

    /// Bytes.
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    pub fn binlog_per_cycle(&self) -> f64 {
        self.binlog as f64 / self.cycles as f64
    }
}

/// When each body ran: `(job, microseconds)`, by job, then in order.
pub async fn work(stage: &mut Stage) -> Vec<(u32, i64)> {
    let sql = format!("SELECT job, {} FROM {} ORDER BY job, id", clock::micros("at"), stage.own("work"));
    let rows = stage.admin.rows(&sql).await;
    rows.iter().map(|row| (row[0].parse().expect("a job"), row[1].parse().expect("an instant"))).collect()
}

/// Forgets what ran before.
pub async fn forget(stage: &mut Stage) {
    let work = stage.own("work");
    stage.admin.run(&format!("TRUNCATE TABLE {work}")).await;
}
