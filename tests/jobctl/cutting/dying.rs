//! A plain client that dies: its call ends in time, and the next runner goes on.

use std::time::{Duration, Instant};

use mysql_async::{Conn, Opts};

use super::cutter::{Close, Cutter};
use crate::db::Db;
use crate::each::{each, wait_until};
use crate::runner::Runner;
use crate::session::{Session, literal, name};

const SOON: Duration = Duration::from_secs(60);
/// A call ends within this time after the death of its client, as the README says.
const BOUND: Duration = Duration::from_secs(15);

/// One job is run by a client whose socket is closed, the other by a process that is killed.
const DEATHS: [&str; 2] = ["cut", "killed"];

async fn status(admin: &mut Session, job: &str) -> String {
    admin.one(&format!("SELECT status FROM job_overview WHERE job_name = '{job}'")).await
}

async fn ran(admin: &mut Session, job: &str) -> i64 {
    admin.number(&format!("SELECT COUNT(*) FROM job_run WHERE job_name = '{job}' AND finished_at > started_at")).await
}

/// The job sleeps, or does `body` again and again, when its client dies.
fn ends_in_time(every: &'static str, body: &'static str) {
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.body("body", body).await;
        for death in DEATHS {
            db.define(&bob, death, "body", every, "").await;
        }
        let mut admin = db.admin().await;
        let call = |job| format!("CALL {}.job$run({})", name(db.schema()), literal(job));
        let server = Opts::from(db.server().options()).tcp_port();
        let cutter = Cutter::new(server, usize::MAX, Close::Fin).await;
        let conn = Conn::new(db.options(&bob).tcp_port(cutter.port)).await.expect("the account may log in");
        let listening = Runner::call(Session::new(conn), call("cut"));
        let mut process = db.doomed(&bob, &call("killed"));
        for job in DEATHS {
            wait_until("it works", SOON, async || {
                every == "3600" && status(&mut admin, job).await == "SLEEPING" || ran(&mut admin, job).await > 1
            })
            .await;
        }
        cutter.cut();
        process.kill().await.expect("it lives");
        let begun = Instant::now();
        for job in DEATHS {
            let free = async || status(&mut admin, job).await == "ENABLED";
            wait_until(&format!("{job}: the call has ended"), BOUND.saturating_sub(begun.elapsed()), free).await;
            eprintln!("{}: {job}: ended {:?} after its client", db.server().name, begun.elapsed());
        }
        assert!(listening.outcome().await.is_err(), "its client was cut off");
        in_order(&db, &mut admin).await;
        for job in DEATHS {
            let before = ran(&mut admin, job).await;
            let next = db.runner(&bob, job).await;
            wait_until("the next runner works", SOON, async || {
                every == "3600" && status(&mut admin, job).await == "SLEEPING" || ran(&mut admin, job).await > before
            })
            .await;
            assert!(!next.ended());
        }
    });
}

/// Nothing is left open, and the runners said why they ended; only a result set that nobody took makes a run fail.
async fn in_order(db: &Db, admin: &mut Session) {
    let open = "SELECT job_name FROM job WHERE job_run_open IS NOT NULL OR job_runner_status IS NOT NULL OR job_runner_token IS NOT NULL \
                UNION SELECT job_name FROM job_run WHERE outcome NOT IN ('OK', 'SKIPPED') AND NOT error_code IN (1158, 1159, 1160, 1161)";
    assert_eq!(admin.rows(open).await, Vec::<Vec<String>>::new(), "{}", db.server().name);
    let messages = admin.rows("SELECT DISTINCT job_runner_message FROM job").await;
    assert_eq!(messages, [["Ended because its client is gone"]]);
}

#[test]
fn a_call_that_sleeps_ends_within_15_seconds_of_its_client() {
    ends_in_time("3600", "DO 0");
}

#[test]
fn a_call_that_works_ends_within_15_seconds_of_its_client() {
    ends_in_time("0.5", "DO 0");
}

#[test]
fn a_body_that_fails_by_the_death_of_the_client_does_not_hide_it() {
    ends_in_time("0.5", "SELECT 1");
}

#[test]
fn a_body_that_catches_all_errors_does_not_hide_the_death_of_the_client() {
    ends_in_time("0.5", "BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; SELECT 1; END");
}
