//! Stopping a run: whatever its body is in the middle of, it is over when the answer comes, and its row says who and why.

use std::time::{Duration, Instant};

use super::starting::nothing_left;
use super::tool::{SOON, Tool, bad, call, good, json, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::{Session, name};

/// Longer than any kill takes, on a noisy machine too.
const BOUND: Duration = Duration::from_secs(25);

/// Bodies that do not want to end: a name, and what they do.
async fn bodies(db: &Db) -> Vec<(&'static str, String)> {
    db.table("t", "(id INT PRIMARY KEY)").await;
    db.table("many", "(id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100))").await;
    let mut admin = db.admin().await;
    admin.run(&format!("INSERT INTO {}.t VALUES (1)", db.bodies())).await;
    let eve = db.stranger("eve").await;
    admin.run(&format!("GRANT ALL ON {}.* TO {eve}", db.bodies())).await;
    admin
        .run(&format!(
            "CREATE DEFINER = {eve} PROCEDURE {}.of_eve() SQL SECURITY DEFINER BEGIN WHILE TRUE DO DO SLEEP(0.5); END WHILE; END",
            db.bodies()
        ))
        .await;
    let long = "WHILE TRUE DO DO SLEEP(0.5); END WHILE;";
    vec![
        ("loops over sleep", format!("BEGIN {long} END")),
        ("catches", format!("BEGIN DECLARE CONTINUE HANDLER FOR 1317 BEGIN END; {long} END")),
        ("waits for a row", "BEGIN SET innodb_lock_wait_timeout = 1000; UPDATE t SET id = 2 WHERE id = 1; END".into()),
        ("computes", "BEGIN DECLARE n BIGINT; WHILE TRUE DO SET n = BENCHMARK(2000000, SHA2('x', 512)); END WHILE; END".into()),
        (
            "rolls back",
            format!(
                "BEGIN DECLARE i INT DEFAULT 0; START TRANSACTION; INSERT INTO many (text) VALUES (REPEAT('x', 100)); \
                 WHILE i < 16 DO INSERT INTO many (text) SELECT text FROM many; SET i = i + 1; END WHILE; {long} END"
            ),
        ),
        ("of another", "CALL of_eve()".into()),
        (
            "catches all",
            "BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; SET innodb_lock_wait_timeout = 1000; \
             WHILE TRUE DO UPDATE t SET id = 2 WHERE id = 1; END WHILE; END"
                .into(),
        ),
        (
            "scans",
            "BEGIN DECLARE n BIGINT; SELECT COUNT(*) INTO n FROM information_schema.columns AS a, \
             information_schema.columns AS b, information_schema.columns AS c; END"
                .into(),
        ),
    ]
}

/// Defines a job for each body; a session holds the row that one of them waits for.
async fn define(db: &Db) -> (Account, Vec<&'static str>, Session) {
    let bob = db.account("bob").await;
    let mut names = Vec::new();
    for (name, body) in bodies(db).await {
        db.body(name, &body).await;
        db.define(&bob, name, name, "1", "").await;
        names.push(name);
    }
    let mut holder = db.admin().await;
    holder.run("START TRANSACTION").await;
    holder.run(&format!("UPDATE {}.t SET id = 3 WHERE id = 1", db.bodies())).await;
    (bob, names, holder)
}

fn run_of(name: &str) -> String {
    format!("SELECT MAX(run_no) FROM job_run WHERE job_name = '{name}' AND outcome = 'RUNNING'")
}

#[test]
fn cancel_ends_every_body_under_a_controller_and_the_next_occurrence_comes() {
    each(|db| async move {
        let (bob, names, _holder) = define(&db).await;
        let start = Tool::new(&db, &bob, &["start", "--all"]).start();
        let mut admin = db.admin().await;
        for name in &names {
            status(&db, &bob, name, "RUNNING").await;
        }
        // Until the one that rolls back has something to undo.
        tokio::time::sleep(Duration::from_secs(2)).await;
        for name in &names {
            let run = admin.one(&run_of(name)).await;
            let begun = Instant::now();
            let told = good(&db, &bob, &["cancel", name, "--reason", "too slow"]).await;
            assert!(begun.elapsed() < BOUND, "{name}: {:?}", begun.elapsed());
            assert!(told.starts_with(&format!("`{name}`: run {run} is KILLED after ")), "{told}");
            let row = admin
                .row(&format!(
                    "SELECT outcome, run_stop_by LIKE '{}@%', run_stop_reason, error_message LIKE '%too slow%' OR error_code IN (1317, 1927) \
                     FROM job_run WHERE job_name = '{name}' AND run_no = {run}",
                    bob.user
                ))
                .await;
            assert_eq!(row, ["KILLED", "1", "too slow", "1"], "{name}");
            let next =
                format!("SELECT COUNT(*) FROM job_run WHERE job_name = '{name}' AND outcome = 'RUNNING' AND run_no > {run}");
            wait_until("the next occurrence", SOON, async || admin.number(&next).await > 0).await;
            assert_eq!(
                admin.one(&format!("SELECT CONCAT(job_status, job_failures) FROM job WHERE job_name = '{name}'")).await,
                "ENABLED0"
            );
        }
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.t WHERE id = 2", db.bodies())).await, "0");
        for name in &names {
            good(&db, &bob, &["abort", "--now", name]).await;
        }
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
        nothing_left(&db, &bob, &mut admin).await;
        let open = "SELECT COUNT(*) FROM job_run WHERE outcome NOT IN ('KILLED', 'SKIPPED')";
        assert_eq!(admin.one(open).await, "0");
    });
}

#[test]
fn cancel_ends_every_body_of_a_plain_client() {
    each(|db| async move {
        let (bob, names, _holder) = define(&db).await;
        let mut admin = db.admin().await;
        let mut runners = Vec::new();
        for name in &names {
            runners.push(db.runner(&bob, name).await);
        }
        for name in &names {
            status(&db, &bob, name, "RUNNING").await;
            let rows = json(&db, &bob, &["cancel", name]).await;
            assert_eq!(rows[0]["outcome"], "KILLED", "{name}: {rows:?}");
        }
        for name in &names {
            good(&db, &bob, &["abort", "--now", name]).await;
        }
        drop(runners);
        let words = "SELECT DISTINCT outcome FROM job_run WHERE attempt > 0 AND finished_at IS NOT NULL";
        assert_eq!(admin.rows(words).await, [["KILLED"]]);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn cancel_says_that_the_definer_may_not_kill_and_the_run_goes_on() {
    each(|db| async move {
        let (bob, definer) = (db.account("bob").await, db.stranger("definer").await);
        let mut admin = db.admin().await;
        let schema = name(db.schema());
        admin.run(&format!("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {schema}.* TO {definer}")).await;
        good(&db, &db.root(), &["install", "--definer", &format!("{}@{}", definer.user, definer.host)]).await;
        db.body("slow", "BEGIN WHILE TRUE DO DO SLEEP(0.5); END WHILE; END").await;
        db.define(&bob, "x", "slow", "1", "").await;
        let runner = db.runner(&bob, "x").await;
        status(&db, &bob, "x", "RUNNING").await;
        // A second one is refused just so.
        for _ in 0..2 {
            let told = bad(&db, &bob, 4, &["cancel", "x", "--reason", "too slow"]).await;
            assert!(told.contains("the definer may not kill that session") && told.contains("hint: "), "{told}");
        }
        let run = "SELECT outcome, run_stop, run_stop_reason FROM job_run WHERE attempt > 0";
        // It is not marked as one that somebody stopped: should it fail by itself, that is a failure.
        assert_eq!(admin.rows(run).await, [["RUNNING", "NULL", "NULL"]]);
        assert!(!runner.ended());
        let right = if db.mariadb() { "CONNECTION ADMIN" } else { "CONNECTION_ADMIN" };
        admin.run(&format!("GRANT {right} ON *.* TO {definer}")).await;
        let told = good(&db, &bob, &["abort", "--now", "x"]).await;
        assert!(told.contains("is KILLED after"), "{told}");
        assert_eq!(admin.rows(run).await, [["KILLED", "KILLED", "NULL"]]);
        drop(runner);
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn cancel_shows_on_a_terminal_how_many_rows_are_still_to_be_rolled_back() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("many", "(id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100))").await;
        db.body(
            "fills",
            "BEGIN DECLARE i INT DEFAULT 0; START TRANSACTION; INSERT INTO many (text) VALUES (REPEAT('x', 100)); \
             WHILE i < 18 DO INSERT INTO many (text) SELECT text FROM many; SET i = i + 1; END WHILE; \
             WHILE TRUE DO DO SLEEP(0.5); END WHILE; END",
        )
        .await;
        db.define(&bob, "x", "fills", "1", "").await;
        let mut admin = db.admin().await;
        for terminal in [true, false] {
            let runner = db.runner(&bob, "x").await;
            let full = format!(
                "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {} AND trx_rows_modified >= 1 << 18",
                runner.id
            );
            wait_until("there is something to undo", SOON, async || {
                tokio::time::sleep(Duration::from_millis(200)).await;
                admin.number(&full).await == 1
            })
            .await;
            if terminal {
                let ran = Tool::on_terminal(&db, &bob, &["cancel", "x"]).run().await;
                let rows = ran.stdout.lines().filter_map(|line| line.strip_prefix("`x`: rolling back, "));
                let rows: Vec<u64> = rows
                    .map(|rest| rest.trim_end().strip_suffix(" rows to go").expect("so many").parse().expect("a number"))
                    .collect();
                assert!(!rows.is_empty() && rows.is_sorted_by(|one, next| one > next), "{rows:?} {ran:#?}");
                assert!(ran.code == 0 && ran.stdout.contains("is KILLED after"), "{ran:#?}");
            } else {
                let ran = Tool::new(&db, &bob, &["cancel", "x"]).run().await;
                assert!(ran.code == 0 && ran.stdout.contains("is KILLED after") && ran.stderr.is_empty(), "{ran:#?}");
            }
            // Its session was ended.
            assert!(runner.outcome().await.is_err());
        }
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.many", db.bodies())).await, "0");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_body_that_completes_all_the_same_is_ok_and_nothing_to_stop_is_said() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("done", "(id INT)").await;
        db.body("swallows", "BEGIN DO SLEEP(1000); INSERT INTO done VALUES (1); END").await;
        good(&db, &bob, &["define", "x", "--call", &call(&db, "swallows"), "--every", "1h", "--start", "2020-01-01"]).await;
        let told = bad(&db, &bob, 4, &["cancel", "x"]).await;
        assert!(told.contains("`x` has no run that could be stopped"), "{told}");
        bad(&db, &bob, 3, &["cancel", "nope"]).await;
        let mut admin = db.admin().await;
        admin.run("UPDATE job SET job_next = UTC_TIMESTAMP()").await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        status(&db, &bob, "x", "RUNNING").await;
        let told = good(&db, &bob, &["cancel", "x"]).await;
        assert!(told.contains("completed after") && told.contains("before it could be stopped"), "{told}");
        let row = admin.row("SELECT outcome, run_stop FROM job_run WHERE attempt > 0").await;
        assert_eq!(row, ["OK", "KILLED"]);
        start.signal("TERM");
        assert_eq!(start.ends().await.0, 0);
    });
}

#[test]
fn a_timeout_is_enforced_by_the_controller_and_counts_as_a_failure() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN WHILE TRUE DO DO SLEEP(0.5); END WHILE; END").await;
        let define = ["define", "x", "--call", &call(&db, "slow"), "--every", "1s", "--timeout", "1s", "--max-failures", "2"];
        good(&db, &bob, &define).await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        let (code, log) = start.ends().await;
        assert_eq!(code, 1, "{log:#?}");
        assert!(
            log.iter().filter(|line| line.contains("run stopped after its timeout, it is TIMEOUT")).count() >= 1,
            "{log:#?}"
        );
        let mut admin = db.admin().await;
        let runs = admin
            .rows(
                "SELECT outcome, run_stop_reason, finished_at - INTERVAL 1 SECOND >= started_at FROM job_run WHERE attempt > 0",
            )
            .await;
        assert_eq!(
            runs,
            [["TIMEOUT", "it took longer than its timeout", "1"], ["TIMEOUT", "it took longer than its timeout", "1"]]
        );
        assert_eq!(admin.one("SELECT job_status FROM job").await, "ERROR");
        good(&db, &bob, &["alter", "x", "--timeout", "none"]).await;
        assert_eq!(admin.one("SELECT COALESCE(job_timeout, 'none') FROM job").await, "none");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn without_a_controller_watch_enforces_timeouts() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("slow", "BEGIN WHILE TRUE DO DO SLEEP(0.5); END WHILE; END").await;
        db.body("quick", "DO 0").await;
        db.define(&bob, "slow", "slow", "1", r#", "timeout": 1"#).await;
        db.define(&bob, "quick", "quick", "1", r#", "timeout": 1"#).await;
        let runners = [db.runner(&bob, "slow").await, db.runner(&bob, "quick").await];
        status(&db, &bob, "slow", "RUNNING").await;
        let mut owner = db.login(&bob).await;
        let ended = "SELECT COUNT(*) FROM job_run WHERE job_name = 'slow' AND outcome = 'TIMEOUT'";
        let mut admin = db.admin().await;
        wait_until("the timeout is enforced", SOON, async || {
            owner.run("CALL job$watch()").await;
            admin.number(ended).await > 0
        })
        .await;
        // Nobody runs it any more, and the status says so.
        status(&db, &bob, "slow", "ENABLED").await;
        assert_eq!(
            admin
                .one("SELECT COUNT(*) FROM job_run WHERE job_name = 'quick' AND outcome NOT IN ('OK', 'SKIPPED', 'RUNNING')")
                .await,
            "0"
        );
        drop(runners);
        admin.run("UPDATE job SET job_status = 'DISABLED'").await;
    });
}
