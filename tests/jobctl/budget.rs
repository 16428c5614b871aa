//! What a cycle costs: the statements that the session of a runner executes from one run to the next, by the server's own count.
//!
//! Each costs time between due and started, for each job, for ever; so one that is added is to be noticed, and wanted.

use crate::cli::tool::{SOON, Tool};
use crate::each::{each, wait_until};

/// How many runs are looked at: the session is searched for leaks after the first, and again after 10 s.
const RUNS: i64 = 26;

/// The most that a plain cycle may cost: a run, its record, the wait, and the step that claims the next one.
///
/// These are the numbers that were measured, so whoever adds a statement sees this test fail, and has to say here what it is good
/// for. Whoever takes one away lowers the number to what the test prints as the median. Servers count each statement of a routine,
/// CALL, COMMIT and PREPARE among them, but not SET of a variable of the routine, nor IF.
fn plain(mariadb: bool) -> i64 {
    if mariadb { 44 } else { 39 }
}

/// The most that any cycle may cost: one that searches the session, probes the client, and on a busy machine comes late too.
fn any(mariadb: bool) -> i64 {
    if mariadb { 74 } else { 70 }
}

#[test]
fn a_cycle_executes_no_more_statements_than_its_budget() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("counted", "(id INT AUTO_INCREMENT PRIMARY KEY, before_ BIGINT, after_ BIGINT)").await;
        let mut admin = db.admin().await;
        let count = match db.mariadb() {
            true => "SUM(variable_value) INTO v_%% FROM information_schema.session_status WHERE variable_name LIKE 'Com\\_%'",
            false => {
                let table = "performance_schema.events_statements_summary_by_thread_by_event_name";
                admin.run(&format!("GRANT SELECT ON {table} TO {bob}")).await;
                "SUM(count_star) INTO v_%% FROM performance_schema.events_statements_summary_by_thread_by_event_name \
                 WHERE thread_id = PS_CURRENT_THREAD_ID() AND event_name LIKE 'statement/s%'"
            }
        };
        // Asked twice, so that the price of asking is known.
        let body = format!(
            "BEGIN DECLARE v_before, v_after BIGINT; SELECT {}; SELECT {}; \
             INSERT INTO counted (before_, after_) VALUES (v_before, v_after); END",
            count.replace("%%", "before"),
            count.replace("%%", "after"),
        );
        db.body("counts", &body).await;
        db.define(&bob, "x", "counts", "0.5", "").await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        let runs = format!("SELECT COUNT(*) FROM {}.counted", db.bodies());
        wait_until("all runs", SOON, async || admin.number(&runs).await >= RUNS).await;
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert_eq!(log.iter().filter(|line| line.contains("runner started")).count(), 1, "{log:#?}");

        let rows = admin.rows(&format!("SELECT before_, after_ FROM {}.counted ORDER BY id", db.bodies())).await;
        let rows: Vec<[i64; 2]> = rows.iter().map(|row| [row[0].parse().unwrap(), row[1].parse().unwrap()]).collect();
        // From one question to the next lie the INSERT, the cycle, and that question.
        let ask = rows[1][1] - rows[1][0];
        let costs: Vec<_> = rows.windows(2).map(|pair| pair[1][0] - pair[0][1] - 1 - ask).collect();
        let mut sorted = costs.clone();
        sorted.sort_unstable();
        let (median, most) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
        eprintln!("{}: statements of a cycle: median {median}, most {most}: {costs:?}", db.server().name);
        assert!(median <= plain(db.mariadb()), "a plain cycle executes {median} statements: {costs:?}");
        assert!(most <= any(db.mariadb()), "a cycle executes {most} statements: {costs:?}");
    });
}
