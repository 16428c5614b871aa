//! An occurrence whose run was lost: it is not run again, unless the job says "at least once".

use super::starting::nothing_left;
use super::tool::{SOON, Tool, call, good, status};
use crate::db::Db;
use crate::each::{each, wait_until};
use crate::session::Session;

/// A job whose first run hangs, and later ones do not; its first run is under way.
async fn hangs_once(db: &Db, on_lost: &[&str]) -> (crate::db::Account, Session, super::tool::Going) {
    let bob = db.account("bob").await;
    db.table("n", "(id INT AUTO_INCREMENT PRIMARY KEY)").await;
    #[rustfmt::skip]
    let body = "BEGIN DECLARE x INT; INSERT INTO n VALUES (NULL); COMMIT; IF (SELECT COUNT(*) FROM n) = 1 THEN SET x = SLEEP(1000); END IF; END";
    db.body("hangs", body).await;
    let define = ["define", "x", "--call", &call(db, "hangs"), "--every", "2s"];
    good(db, &bob, &[&define, on_lost].concat()).await;
    let start = Tool::new(db, &bob, &["start", "x"]).start();
    status(db, &bob, "x", "RUNNING").await;
    let mut admin = db.admin().await;
    let inside = format!("SELECT COUNT(*) FROM {}.n", db.bodies());
    wait_until("it hangs", SOON, async || admin.number(&inside).await == 1).await;
    (bob, admin, start)
}

/// Kills the session of the runner.
async fn kill_runner(admin: &mut Session) {
    let id = admin.one("SELECT job_runner_connection_id FROM job").await;
    admin.run(&format!("KILL {id}")).await;
}

#[test]
fn a_lost_occurrence_is_run_again_at_once_where_the_job_says_so() {
    each(|db| async move {
        let (bob, mut admin, start) = hangs_once(&db, &["--on-lost", "retry"]).await;
        kill_runner(&mut admin).await;
        let later = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        wait_until("the retry and the next occurrence", SOON, async || admin.number(later).await > 2).await;
        let first = "SELECT attempt, outcome, scheduled_for = (SELECT MIN(scheduled_for) FROM job_run) FROM job_run \
                     WHERE attempt > 0 ORDER BY run_no LIMIT 3";
        assert_eq!(admin.rows(first).await, [["1", "LOST", "1"], ["2", "OK", "1"], ["1", "OK", "0"]]);
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        assert_eq!(admin.one("SELECT COUNT(*) FROM job WHERE job_retry_for IS NOT NULL").await, "0");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn else_a_lost_occurrence_is_never_run_again_nor_one_that_was_stopped() {
    each(|db| async move {
        let (bob, mut admin, start) = hangs_once(&db, &[]).await;
        kill_runner(&mut admin).await;
        let later = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";
        wait_until("later occurrences", SOON, async || admin.number(later).await > 1).await;
        // One that was stopped was not lost.
        good(&db, &bob, &["alter", "x", "--on-lost", "retry"]).await;
        admin.run(&format!("DELETE FROM {}.n", db.bodies())).await;
        let inside = format!("SELECT COUNT(*) FROM {}.n", db.bodies());
        wait_until("it hangs again", SOON, async || admin.number(&inside).await == 1).await;
        status(&db, &bob, "x", "RUNNING").await;
        good(&db, &bob, &["cancel", "x"]).await;
        let ran = admin.number(later).await;
        wait_until("later occurrences", SOON, async || admin.number(later).await > ran + 1).await;
        let outcomes =
            "SELECT DISTINCT outcome, attempt FROM job_run WHERE outcome IN ('LOST', 'KILLED') OR attempt > 1 ORDER BY 1";
        assert_eq!(admin.rows(outcomes).await, [["KILLED", "1"], ["LOST", "1"]]);
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
    });
}
