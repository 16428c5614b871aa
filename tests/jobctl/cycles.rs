//! Thousands of short cycles: no instant off the grid, none twice, none forgotten, and no memory that grows.

use std::time::Duration;

use crate::cli::tool::Tool;
use crate::each::{each, full, wait_until};
use crate::ledger::complete;
use crate::session::Session;

#[test]
fn thousands_of_cycles_stay_on_the_grid_and_need_no_more_memory() {
    let count = i64::try_from(full(20_000, 1_000)).unwrap();
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.body("nothing", "BEGIN END").await;
        let mut session = db.login(&bob).await;
        let start = session.one("SELECT UTC_TIMESTAMP(6) + INTERVAL 6 SECOND").await;
        session.define(&db, "x", "nothing", "0.1", &format!(r#", "start": "{start}""#)).await;
        let mut admin = db.admin().await;
        // 0.1 s is the floor of define, not of the runner.
        admin.run("UPDATE job SET job_schedule_interval = 0.02").await;
        let runner = db.runner(&bob, "x").await;
        let cycles = "SELECT COALESCE(job_runner_cycles, 0) FROM job";
        let patience = Duration::from_secs(60 + u64::try_from(count).unwrap() / 5);
        wait_until("a tenth", patience, async || admin.number(cycles).await >= count / 10).await;
        let early = memory(&mut admin, runner.id, db.mariadb()).await;
        wait_until("all", patience, async || admin.number(cycles).await >= count).await;
        let late = memory(&mut admin, runner.id, db.mariadb()).await;
        assert!(!runner.ended());
        admin.run(&format!("KILL {}", runner.id)).await;
        eprintln!("{}: {count} cycles, memory of the session after a tenth {early}, at the end {late} bytes", db.server().name);
        // A path that is taken for the first time keeps a few pages; a few bytes kept for each cycle would be far more.
        assert!(late <= early + 65_536, "{early} bytes after a tenth, {late} at the end");
        let entries = complete(&mut admin, 20_000).await;
        let runs: Vec<_> = entries.iter().filter(|entry| entry.ran()).collect();
        assert!(runs.len() >= usize::try_from(count).unwrap());
        assert!(
            runs.iter()
                .all(|run| run.outcome == "OK" || (run.outcome == "RUNNING" && run.run_no == runs[runs.len() - 1].run_no))
        );
        eprintln!("{}: {} runs, {} spans", db.server().name, runs.len(), entries.len() - runs.len());
    });
}

#[test]
fn a_controller_needs_no_more_memory_after_thousands_of_cycles() {
    let count = i64::try_from(full(20_000, 1_000)).unwrap();
    each(move |db| async move {
        let bob = db.account("bob").await;
        db.body("nothing", "SELECT 1").await;
        db.define(&bob, "x", "nothing", "0.1", "").await;
        let mut admin = db.admin().await;
        admin.run("UPDATE job SET job_schedule_interval = 0.02").await;
        let mut going = Tool::new(&db, &bob, &["start", "x"]).start();
        let cycles = "SELECT COALESCE(job_runner_cycles, 0) FROM job";
        let patience = Duration::from_secs(60 + u64::try_from(count).unwrap() / 5);
        wait_until("a tenth", patience, async || admin.number(cycles).await >= count / 10).await;
        let early = going.memory();
        wait_until("all", patience, async || admin.number(cycles).await >= count).await;
        let late = going.memory();
        assert!(going.works());
        going.signal("TERM");
        going.ends().await;
        eprintln!(
            "{}: {count} cycles, resident memory of jobctl after a tenth {early}, at the end {late} KiB",
            db.server().name
        );
        // A page here and there is no growth; a few bytes kept for each cycle would be.
        assert!(late <= early + 512, "{early} KiB after a tenth, {late} at the end");
    });
}

/// What the session needs between two statements: the least of some looks, as a look may fall into a run. MySQL counts what
/// belongs to the whole server (undo logs, identities of transactions) to the session that made it: that is left out. So are
/// the parsed bodies of routines, each loaded when it is called first, which for skipping may be late.
async fn memory(admin: &mut Session, id: u32, mariadb: bool) -> i64 {
    let sql = if mariadb {
        format!("SELECT memory_used FROM information_schema.processlist WHERE id = {id}")
    } else {
        format!(
            "SELECT SUM(current_number_of_bytes_used) FROM performance_schema.memory_summary_by_thread_by_event_name \
             JOIN performance_schema.threads USING (thread_id) WHERE processlist_id = {id} AND event_name LIKE 'memory/sql/%' \
             AND event_name NOT LIKE '%gtid%' AND event_name NOT LIKE '%Tsid%' \
             AND event_name <> 'memory/sql/sp_head::main_mem_root'"
        )
    };
    let mut least = i64::MAX;
    for _ in 0..40 {
        least = least.min(admin.number(&sql).await);
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    least
}
