//! Fourteen jobs, of which two are parked between their runs, and whose bodies write into a ledger when they start, work and end.
//!
//! No rollback undoes the ledger: each row of it is a transaction of its own, as autocommit is on and a body begins its own
//! transaction, if any, later. Its order is that of an AUTO_INCREMENT, so it needs no clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::cli::tool::{call, good};
use crate::db::{Account, Db};
use crate::servers::Private;
use crate::session::{Session, name};

/// Of each job: interval, how many slices its body has, and how long each is, in milliseconds. 0 slices: one transaction.
const JOBS: [(i64, i64, i64); 14] = [
    (200, 1, 20),
    (300, 1, 40),
    (500, 2, 50),
    (500, 0, 100),
    (700, 2, 80),
    (1000, 4, 80),
    (1000, 0, 300),
    (1500, 5, 100),
    (2000, 8, 100),
    (3000, 0, 1200),
    (4000, 16, 100),
    (5000, 10, 200),
    (13_000, 2, 50),
    (17_000, 0, 100),
];

/// A job as it was defined.
pub struct Job {
    pub name: String,
    pub id: i64,
    /// Interval, microseconds.
    pub every: i64,
}

/// The jobs of one server, and what is to be known of them.
pub struct World {
    pub db: Db,
    pub bob: Account,
    pub jobs: Vec<Job>,
    /// First instant of all grids.
    pub anchor: i64,
    admin: Mutex<Option<Session>>,
}

/// A job's runner, as its row tells at this moment.
#[derive(Clone, Debug)]
pub struct Runner {
    /// Index of the job.
    pub job: usize,
    /// A body runs; else it waits.
    pub body: bool,
    pub connection: String,
    pub controller: String,
}

/// Microseconds since 1970, UTC; the server is on this machine, and has the same clock.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_micros()).expect("not so soon")
}

impl World {
    pub async fn new(private: &Private) -> Self {
        let db = Db::installed(&private.server, "chaos").await;
        let bob = db.account("bob").await;
        let mut admin = db.admin().await;
        db.table(
            "ledger",
            "(seq BIGINT AUTO_INCREMENT PRIMARY KEY, job INT, connection BIGINT, token CHAR(36), occurrence DATETIME(6), \
             what VARCHAR(5), at DATETIME(6)) ENGINE = InnoDB",
        )
        .await;
        db.table("work", "(job INT PRIMARY KEY, done INT) ENGINE = InnoDB").await;
        admin.run(&format!("GRANT SELECT ON {}.job_run TO {bob}", name(db.schema()))).await;
        let second = 1_000_000;
        let anchor = now() / second * second - 60 * second;
        let start =
            admin.one(&format!("SELECT '1970-01-01' + INTERVAL {} SECOND", anchor / second)).await.replace(' ', "T") + "Z";
        let mut jobs = Vec::new();
        for (index, (every, ..)) in JOBS.iter().enumerate() {
            let (job, body) = (format!("j{index}"), format!("body{index}"));
            db.body(&body, "DO 0").await;
            let define = ["define", &job, "--call", &call(&db, &body), "--every", &seconds(every * 1000), "--start", &start];
            good(&db, &bob, &define).await;
            let id = admin.number(&format!("SELECT job_id FROM job WHERE job_name = '{job}'")).await;
            admin.run(&format!("DROP PROCEDURE {}.{body}", name(db.bodies()))).await;
            admin.run(&format!("INSERT INTO {}.work VALUES ({index}, 0)", name(db.bodies()))).await;
            db.body(&body, &text(&db, index, id)).await;
            jobs.push(Job { name: job, id, every: every * 1000 });
        }
        Self { db, bob, jobs, anchor, admin: Mutex::new(Some(admin)) }
    }

    /// Asks the server as its administrator, past all proxies; `None`: it does not answer now.
    pub async fn ask(&self, sql: &str) -> Option<Vec<Vec<String>>> {
        let mut admin = self.admin.lock().await;
        let mut session = match admin.take() {
            Some(session) => session,
            None => {
                let options = self.db.server().options().db_name(Some(self.db.schema()));
                let opened = timeout(Duration::from_secs(10), mysql_async::Conn::new(options)).await;
                Session::new(opened.ok()?.ok()?)
            }
        };
        let sets = timeout(Duration::from_secs(10), session.attempt(sql)).await.ok()?.ok()?;
        *admin = Some(session);
        Some(sets.into_iter().next().unwrap_or_default())
    }

    /// The runners of this moment.
    pub async fn runners(&self) -> Vec<Runner> {
        let sql = "SELECT job_id, job_runner_status = 'RUNNING', job_runner_connection_id, COALESCE(job_runner_controller, '') \
             FROM job WHERE job_runner_token IS NOT NULL AND job_runner_status IS NOT NULL";
        let rows = self.ask(sql).await.unwrap_or_default();
        let runner = |row: Vec<String>| {
            let job = self.jobs.iter().position(|job| job.id.to_string() == row[0])?;
            Some(Runner { job, body: row[1] == "1", connection: row[2].clone(), controller: row[3].clone() })
        };
        rows.into_iter().filter_map(runner).collect()
    }
}

/// A span as the command line reads it.
pub fn seconds(micros: i64) -> String {
    format!("{}.{:06}s", micros / 1_000_000, micros % 1_000_000)
}

/// The body of job number `index`.
fn text(db: &Db, index: usize, id: i64) -> String {
    let (_, slices, millis) = JOBS[index];
    let row = |what| {
        format!(
            "INSERT INTO ledger (job, connection, token, occurrence, what, at) \
             VALUES ({index}, CONNECTION_ID(), v_token, v_occurrence, '{what}', UTC_TIMESTAMP(6));"
        )
    };
    // A sleep that is interrupted ends the body of every other job, and is no matter to the rest.
    let sleep = format!("SLEEP({}.{:03})", millis / 1000, millis % 1000);
    let pause = match index % 2 {
        0 => format!("DO {sleep};"),
        _ => format!("IF {sleep} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'interrupted'; END IF;"),
    };
    let work = match slices {
        // Half of these are rolled back.
        0 => format!(
            "START TRANSACTION; UPDATE work SET done = done + 1 WHERE job = {index}; {pause} \
             IF CONNECTION_ID() % 2 THEN ROLLBACK; ELSE COMMIT; END IF;"
        ),
        _ => format!("WHILE n < {slices} DO {pause} {} SET n = n + 1; END WHILE;", row("tick")),
    };
    format!(
        "BEGIN \
           DECLARE n INT DEFAULT 0; \
           DECLARE v_token CHAR(36) DEFAULT UUID(); \
           DECLARE v_occurrence DATETIME(6) DEFAULT ( \
             SELECT MAX(scheduled_for) FROM {}.job_run \
             WHERE job_id = {id} AND run_no = (SELECT MAX(run_no) FROM {0}.job_run WHERE job_id = {id} AND attempt > 0) \
               AND run_connection_id = CONNECTION_ID()); \
           {} {work} {} \
         END",
        name(db.schema()),
        row("start"),
        row("end")
    )
}
