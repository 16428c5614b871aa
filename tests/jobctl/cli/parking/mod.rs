//! Jobs that are parked: they have no session, their controller holds their locks on one connection, and all is as if they had one.

mod breaking;
mod many;
mod resting;

use std::time::Duration;

use super::takeover::start;
use super::tool::{Going, SOON, good, status};
use crate::db::{Account, Db};
use crate::each::wait_until;
use crate::session::{Session, name};

/// With room for a noisy machine: the bound is one second.
const SECOND: Duration = Duration::from_secs(3);

/// Sessions of an account, in the eyes of the server.
async fn sessions(admin: &mut Session, account: &Account) -> i64 {
    admin.number(&format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}'", account.user)).await
}

/// Bob, who has so many jobs, a row in `ran` for each run, which are due every hour; and an administrator.
async fn hourly(db: &Db, jobs: usize) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.table("ran", "(id BIGINT)").await;
    db.body("run", "INSERT INTO ran VALUES (CONNECTION_ID())").await;
    let mut session = db.login(&bob).await;
    for job in 1..=jobs {
        let options = format!(r#"{{"schema": "{}", "procedure": "run", "every": 3600}}"#, db.bodies());
        session.run(&format!("CALL job$define('j{job:03}', '{options}')")).await;
    }
    (bob, db.admin().await)
}

/// Sets when jobs are due next: so many seconds from now, at the full second.
async fn due_in(admin: &mut Session, seconds: u32, which: &str) {
    let due = format!("UTC_TIMESTAMP() + INTERVAL {seconds} SECOND");
    admin.run(&format!("UPDATE job SET job_schedule_start = {due} WHERE {which}")).await;
}

/// How many jobs are parked.
async fn parked(admin: &mut Session) -> i64 {
    admin.number("SELECT COUNT(*) FROM job_overview WHERE job_runner_parked = 1").await
}

/// Waits until so many jobs are parked.
async fn are_parked(admin: &mut Session, jobs: i64) {
    wait_until(&format!("{jobs} parked"), SOON, async || parked(admin).await == jobs).await;
}

/// The connection that the parked job of that name waits on; and that it does hold the lock.
async fn lot(admin: &mut Session, job: &str) -> String {
    let lot = "SELECT o.job_runner_connection_id FROM job_overview AS o JOIN job AS j ON j.job_id = o.job_id
        WHERE o.job_runner_parked = 1 AND j.job_runner_lot = j.job_runner_connection_id AND o.job_name = ";
    admin.one(&format!("{lot}'{job}'")).await
}

async fn runs(admin: &mut Session, db: &Db) -> i64 {
    admin.number(&format!("SELECT COUNT(*) FROM {}.ran", name(db.bodies()))).await
}

/// Ends a controller in good order.
async fn end(start: Going) -> Vec<String> {
    start.signal("TERM");
    let (code, log) = start.ends().await;
    assert_eq!(code, 0, "{log:#?}");
    log
}
