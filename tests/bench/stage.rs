//! A server of the benchmark's own, with jobctl installed, and what the measures have in common.

use std::time::{Duration, Instant};

use crate::clock;
use crate::db::{Account, Db};
use crate::process::Process;
use crate::servers::Private;
use crate::session::{Session, literal, name};

/// What both sides run under: every commit is on disk before it is answered.
pub const DURABLE: [&str; 3] = ["--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--binlog-format=ROW"];
/// Room for 1,000 sessions and what they open.
const ROOM: [&str; 4] =
    ["--max-connections=3000", "--table-open-cache=4000", "--open-files-limit=16000", "--event-scheduler=OFF"];
/// How long anything may take that is waited for; a hang is a failure.
const SOON: Duration = Duration::from_mins(5);

/// One server, one schema of jobctl, one of job procedures.
pub struct Stage {
    /// jobctl's schema, and its accounts.
    pub db: Db,
    /// An administrator's session.
    pub admin: Session,
    /// The server's process.
    pub process: Process,
    /// How long `jobctl install` took on the empty server, in seconds.
    pub installed: f64,
    // Dropped last: the server is stopped and its data removed.
    _private: Private,
}

impl Stage {
    /// Starts a fresh server, and installs.
    pub async fn start(server: &str) -> Self {
        let private = Private::start(server, &[&DURABLE[..], &ROOM[..]].concat());
        let empty = Db::empty(&private.server, "empty").await;
        let begun = Instant::now();
        crate::install::install(&empty).await;
        let installed = begun.elapsed().as_secs_f64();
        let db = Db::installed(&private.server, "bench").await;
        let mut admin = db.admin().await;
        admin.run("SET time_zone = '+00:00'").await;
        // Beside the data, `tests/servers` keeps the id of the process.
        let file = admin.one("SELECT CONCAT(@@datadir, '/../pid')").await;
        let pid = std::fs::read_to_string(&file).expect("the server was started by `tests/servers`");
        let process = Process(pid.trim().parse().expect("a process id"));
        let mut stage = Self { db, admin, process, installed, _private: private };
        stage.bodies().await;
        stage
    }

    /// The tables of the work, a procedure that does nothing, and the numbers by which jobs are copied.
    async fn bodies(&mut self) {
        self.db.table("work", "(id BIGINT AUTO_INCREMENT PRIMARY KEY, job INT NOT NULL, at DATETIME(6) NOT NULL)").await;
        self.db.table("number", "(n INT PRIMARY KEY)").await;
        self.db.body("nothing", "BEGIN END").await;
        let numbers: Vec<_> = (1..=10_000).map(|n| format!("({n})")).collect();
        let number = self.own("number");
        self.admin.run(&format!("INSERT INTO {number} VALUES {}", numbers.join(", "))).await;
    }

    /// An object in the schema of the job procedures, quoted.
    pub fn own(&self, object: &str) -> String {
        format!("{}.{}", name(self.db.bodies()), name(object))
    }

    /// The settings that matter, as the server says them.
    pub async fn settings(&mut self) -> String {
        let sql = "SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, ' sync_binlog=', @@sync_binlog, \
                   ' log_bin=', @@log_bin, ' binlog_format=', @@binlog_format)";
        self.admin.one(sql).await
    }

    /// Its version, without what the packager added.
    pub async fn version(&mut self) -> String {
        self.admin.one("SELECT SUBSTRING_INDEX(VERSION(), '-', 1)").await
    }

    /// What only prepares a measure need not be on disk at once.
    pub async fn relax(&mut self, relaxed: bool) {
        let (flush, sync) = if relaxed { (0, 0) } else { (1, 1) };
        self.admin.run(&format!("SET GLOBAL innodb_flush_log_at_trx_commit = {flush}")).await;
        self.admin.run(&format!("SET GLOBAL sync_binlog = {sync}")).await;
    }

    /// Gives an account `count` jobs `j1`, `j2`...: the first is defined, the others are copies of its row. `every` and
    /// `start` as for `job$define`; `procedure` is the column's value for job `n`.
    pub async fn jobs(&mut self, account: &Account, count: u32, every: f64, start: i64, procedure: &str) {
        let more = format!(r#", "start": "{}""#, clock::text(start));
        self.db.define(account, "j1", "nothing", &every.to_string(), &more).await;
        let sql = "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'job' \
                   AND column_name NOT IN ('job_id', 'job_name', 'job_procedure_name') AND extra NOT LIKE '%GENERATED'";
        let columns: Vec<_> = self.admin.rows(sql).await.into_iter().map(|row| name(&row[0])).collect();
        let (columns, number, owner) = (columns.join(", "), self.own("number"), literal(&account.user));
        let copy = format!(
            "INSERT INTO job (job_name, job_procedure_name, {columns}) SELECT CONCAT('j', n), {procedure}, {columns} \
             FROM job JOIN {number} WHERE job_owner = {owner} AND job_name = 'j1' AND n BETWEEN 2 AND {count} ORDER BY n"
        );
        self.admin.run(&copy).await;
        let first = format!(
            "UPDATE job JOIN {number} ON n = 1 SET job_procedure_name = {procedure} WHERE job_owner = {owner} AND job_name = 'j1'"
        );
        self.admin.run(&first).await;
    }

    /// How many jobs of an account meet a condition.
    pub async fn count(&mut self, account: &Account, condition: &str) -> i64 {
        let owner = literal(&account.user);
        self.admin.number(&format!("SELECT COUNT(*) FROM job WHERE job_owner = {owner} AND {condition}")).await
    }

    /// Waits until so many jobs of an account meet a condition; gives `false` when they never do.
    pub async fn reach(&mut self, account: &Account, count: u32, condition: &str, patience: Duration) -> bool {
        let begun = Instant::now();
        while self.count(account, condition).await < i64::from(count) {
            if begun.elapsed() > patience {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        true
    }

    /// The same for what must come.
    pub async fn wait(&mut self, account: &Account, count: u32, condition: &str) {
        assert!(self.reach(account, count, condition, SOON).await, "not {count} jobs within {SOON:?}: {condition}");
    }

    /// How many bytes of binary log there are.
    pub async fn binlog(&mut self) -> i64 {
        let logs = self.admin.rows("SHOW BINARY LOGS").await;
        logs.iter().map(|row| row[1].parse::<i64>().expect("a size")).sum()
    }

    /// How many sessions there are besides the administrator's. Not by account: inside a routine MariaDB shows that of its definer.
    pub async fn sessions(&mut self) -> i64 {
        let sql =
            "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE command <> 'Daemon' AND user <> 'event_scheduler'";
        self.admin.number(sql).await
    }
}
