//! The table "What a body can leak", line by line: the row names the leak, and the runs after it are unharmed.

use std::time::Duration;

use super::starting::nothing_left;
use super::tool::Tool;
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::ledger::complete_of;
use crate::session::{Session, literal};

/// One line of the table.
pub struct Line {
    pub job: &'static str,
    /// Statements, without the last semicolon.
    pub leak: String,
    pub outcome: &'static str,
    /// What `run_leaked` says of the first run.
    pub leaked: String,
    /// Whether only SETs of a privileged account get there.
    pub privileged: bool,
}

pub fn line(job: &'static str, leak: &str, leaked: &str) -> Line {
    Line { job, leak: leak.into(), outcome: "OK", leaked: leaked.into(), privileged: false }
}

/// Changes a table, and nothing in it.
const WRITE: &str = "INSERT INTO w VALUES (CONNECTION_ID()); DELETE FROM w WHERE id = CONNECTION_ID()";

/// An owner who may set whatever can be set.
pub async fn privileged(db: &Db) -> Account {
    let account = db.account("powerful").await;
    let rights = if db.mariadb() {
        "SUPER, RELOAD, BINLOG ADMIN, BINLOG REPLAY"
    } else {
        "SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, BINLOG_ADMIN, REPLICATION_APPLIER, RELOAD"
    };
    db.admin().await.run(&format!("GRANT {} ON *.* TO {account}", rights)).await;
    account
}

async fn lines(db: &Db) -> Vec<Line> {
    let mysql = !db.mariadb();
    let new = db.admin().await.attempt("SELECT @@transaction_read_only").await.is_ok();
    let (read_only, isolation) =
        if new { ("transaction_read_only", "transaction_isolation") } else { ("tx_read_only", "tx_isolation") };
    let mut lines = vec![
        line("nothing", "DO 0", "NULL"),
        Line { outcome: "ERROR", ..line("open", "START TRANSACTION; INSERT INTO t VALUES (99)", "NULL") },
        Line {
            outcome: "ERROR",
            ..line("autocommit and a write", "SET autocommit = 0; INSERT INTO t VALUES (99)", "autocommit")
        },
        line("autocommit", "SET autocommit = 0", "autocommit"),
        line("read only", &format!("SET SESSION {read_only} = 1"), read_only),
        line("isolation", &format!("SET SESSION {isolation} = 'SERIALIZABLE'"), isolation),
        line("release", "SET completion_type = 'RELEASE'", "completion_type"),
        line("chain", "SET completion_type = 'CHAIN'", "completion_type"),
        line("chained commit", &format!("SET completion_type = 'CHAIN'; {WRITE}; COMMIT"), "completion_type"),
        Line {
            outcome: "ERROR",
            ..line("open and chained", &format!("SET completion_type = 'CHAIN'; COMMIT; {WRITE}"), "completion_type")
        },
        line("time zone", "SET time_zone = '-11:00'", "time_zone"),
        line("timestamp", "SET timestamp = 1000000000", "timestamp"),
        line("group_concat", "SET group_concat_max_len = 4", "group_concat_max_len"),
        line("join size", "SET max_join_size = 1, sql_big_selects = 0", "max_join_size, sql_big_selects"),
        line("select limit", "SET sql_select_limit = 0, sql_safe_updates = 1", "sql_safe_updates"),
        line("variables", "SET @a = NULL, @`b c` = 'x', @d = 0", "@b c, @d"),
        line("temporary", "CREATE TEMPORARY TABLE tmp (i INT); INSERT INTO tmp VALUES (1)", "temporary tables!"),
        line(
            "temporary and a vain drop",
            "CREATE TEMPORARY TABLE tmp (i INT); DROP TEMPORARY TABLE IF EXISTS another",
            "temporary tables!",
        ),
        Line {
            outcome: "ERROR",
            privileged: mysql,
            ..line("diagnostics", "SET max_error_count = 0; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'", "max_error_count")
        },
        Line { privileged: true, ..line("thread", "SET pseudo_thread_id = 4711", "pseudo_thread_id") },
        Line { privileged: true, ..line("insert id", "SET insert_id = 4711", "insert_id!") },
        Line { privileged: true, ..line("log", "SET sql_log_bin = 0", "sql_log_bin") },
    ];
    // MySQL tells temporary tables of InnoDB alone from others.
    let other = if mysql { "MEMORY or MyISAM tables!" } else { "temporary tables!" };
    for (job, engine) in [("memory", "MEMORY"), ("myisam", "MyISAM"), ("csv", "CSV"), ("merge", "MRG_MyISAM")] {
        lines.push(line(job, &format!("CREATE TEMPORARY TABLE tmp (i INT NOT NULL) ENGINE = {engine}"), other));
    }
    if !mysql {
        lines.push(line("tables", "EXECUTE IMMEDIATE 'LOCK TABLES t WRITE'", "table locks"));
    }
    lines
}

/// Defines one job a line; its first run leaks, or each.
pub async fn define(db: &Db, lines: &[Line], each_run: bool, every: &str) -> [Account; 2] {
    let owners = [db.account("bob").await, privileged(db).await];
    db.table("n", "(job VARCHAR(64))").await;
    db.table("t", "(id INT)").await;
    // A row of each session's own: bodies of several jobs are not to deadlock.
    db.table("w", "(id BIGINT PRIMARY KEY)").await;
    for Line { job, leak, privileged, .. } in lines {
        let body = if each_run {
            format!("BEGIN {leak}; END")
        } else {
            format!(
                "BEGIN IF (SELECT COUNT(*) FROM n WHERE job = '{job}') = 0 THEN INSERT INTO n VALUES ('{job}'); COMMIT; \
                 {leak}; END IF; END"
            )
        };
        db.body(job, &body).await;
        db.define(&owners[usize::from(*privileged)], job, job, every, r#", "max_failures": 1000"#).await;
    }
    owners
}

/// `(outcome, run_leaked, error)` of the first three runs, or fewer; times are true.
pub async fn runs(admin: &mut Session, job: &str) -> Vec<Vec<String>> {
    admin
        .rows(&format!(
            "SELECT outcome, COALESCE(run_leaked, 'NULL'), COALESCE(CONCAT_WS(' ', error_code, error_message), ''), \
             scheduled_for <= started_at AND started_at <= finished_at AND finished_at < started_at + INTERVAL 30 SECOND \
             FROM job_run WHERE job_name = '{job}' AND outcome NOT IN ('SKIPPED', 'RUNNING') \
             ORDER BY scheduled_for LIMIT 3"
        ))
        .await
}

/// What is wrong with the first three runs of a line; empty: nothing.
pub async fn wrong(admin: &mut Session, line: &Line, each_run: bool) -> Option<String> {
    let runs = runs(admin, line.job).await;
    let outcome = |run: &Vec<String>, expected: &str| run[0] == expected && run[3] == "1";
    let sorted = |names: &str| {
        let mut names: Vec<_> = names.split(", ").map(str::to_owned).collect();
        names.sort();
        names
    };
    let first = |run: &Vec<String>| outcome(run, line.outcome) && sorted(&run[1]) == sorted(&line.leaked);
    let right = runs.len() == 3
        && first(&runs[0])
        && runs[1..].iter().all(|run| if each_run { first(run) } else { outcome(run, "OK") });
    (!right).then(|| format!("{} (expected {} {}): {runs:?}", line.job, line.outcome, line.leaked))
}

pub async fn all_wrong(admin: &mut Session, lines: &[Line], each_run: bool) {
    let mut all = Vec::new();
    for line in lines {
        all.extend(wrong(admin, line, each_run).await);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Waits until each job has three runs, but not for ever.
pub async fn three_each(admin: &mut Session) {
    let few = "SELECT COUNT(*) FROM job WHERE (SELECT COUNT(*) FROM job_run r WHERE r.job_id = job.job_id AND \
               outcome NOT IN ('SKIPPED', 'RUNNING')) < 3";
    let begun = std::time::Instant::now();
    while admin.number(few).await > 0 && begun.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[test]
fn each_line_is_named_and_mended_for_a_plain_client() {
    each(|db| async move {
        let lines = lines(&db).await;
        let owners = define(&db, &lines, false, "0.5").await;
        let mut runners = Vec::new();
        for line in &lines {
            runners.push(db.runner(&owners[usize::from(line.privileged)], line.job).await);
        }
        let mut admin = db.admin().await;
        three_each(&mut admin).await;
        all_wrong(&mut admin, &lines, false).await;
        assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM {}.t", db.bodies())).await, "0");
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        for (runner, line) in runners.into_iter().zip(&lines) {
            assert_eq!(runner.message().await, "Aborted at request", "{}", line.job);
        }
        for owner in &owners {
            nothing_left(&db, owner, &mut admin).await;
        }
    });
}

#[test]
fn each_line_in_each_run_loses_no_occurrence_under_jobctl_start() {
    each(|db| async move {
        let lines = lines(&db).await;
        let owners = define(&db, &lines, true, "4").await;
        let starts: Vec<_> = owners.iter().map(|owner| Tool::new(&db, owner, &["start", "--all"]).start()).collect();
        let mut admin = db.admin().await;
        three_each(&mut admin).await;
        for start in &starts {
            start.signal("TERM");
        }
        let mut log = Vec::new();
        for start in starts {
            let (code, lines) = start.ends().await;
            assert_eq!(code, 0, "{lines:#?}");
            log.extend(lines);
        }
        all_wrong(&mut admin, &lines, true).await;
        // What cannot be mended renews the session, what can does not.
        for line in &lines {
            let renewed =
                log.iter().filter(|text| text.contains(&format!("{}: ", line.job)) && text.contains("session renewed")).count();
            if line.leaked.contains('!') {
                assert!(renewed >= 2, "{} {renewed}: {log:#?}", line.job);
            } else {
                assert_eq!(renewed, 0, "{}: {log:#?}", line.job);
            }
        }
        // Every instant from the first run to the last is a run, or in a span. A busy machine may come too late for one, here and
        // there; an occurrence lost by what a body left, or by the new session, would be one after each run.
        for renews in [false, true] {
            let (mut ran, mut skipped) = (0, 0);
            for line in lines.iter().filter(|line| line.leaked.contains('!') == renews) {
                let entries = complete_of(&mut admin, line.job, 4_000_000).await;
                let after = entries.iter().skip_while(|entry| !entry.ran()).skip(1);
                for entry in after {
                    *(if entry.ran() { &mut ran } else { &mut skipped }) += entry.span_count.unwrap_or(1);
                }
            }
            eprintln!("{}: {ran} more runs, {skipped} skipped occurrences, renewed: {renews}", db.server().name);
            assert!(skipped * 3 < ran, "{skipped} skipped, {ran} ran: {log:#?}");
        }
        for owner in &owners {
            nothing_left(&db, owner, &mut admin).await;
        }
    });
}

#[test]
fn locks_that_a_body_keeps_are_freed_and_named_under_jobctl_start() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let (one, two) = (format!("{} one", db.schema()), format!("{} two", db.schema()));
        let (one, two) = (literal(&one[one.len().saturating_sub(60)..]), literal(&two[two.len().saturating_sub(60)..]));
        db.body("keeper", &format!("BEGIN DO GET_LOCK({one}, 0); DO GET_LOCK({one}, 0); DO GET_LOCK({two}, 0); END")).await;
        db.define(&bob, "keeper", "keeper", "0.5", "").await;
        let mut admin = db.admin().await;
        let runs = "SELECT COUNT(*) FROM job_run WHERE job_name = 'keeper' AND outcome = 'OK'";
        // The session of a plain client is its own, and so are the locks in it.
        let runner = db.runner(&bob, "keeper").await;
        wait_until("a run", Duration::from_secs(20), async || admin.number(runs).await > 0).await;
        assert_eq!(admin.number(&format!("SELECT IS_USED_LOCK({one})")).await, runner.id as i64);
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        runner.message().await;
        admin.run("DELETE FROM job_run").await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
        let start = Tool::new(&db, &bob, &["start", "keeper"]).start();
        wait_until("two runs", Duration::from_secs(20), async || admin.number(runs).await > 1).await;
        assert_eq!(admin.row(&format!("SELECT IS_FREE_LOCK({one}), IS_FREE_LOCK({two})")).await, ["1", "1"]);
        let leaked = "SELECT DISTINCT run_leaked FROM job_run WHERE outcome = 'OK'";
        assert_eq!(admin.rows(leaked).await, [["user-level locks"]]);
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert!(!log.iter().any(|line| line.contains("session renewed")), "{log:#?}");
        nothing_left(&db, &bob, &mut admin).await;
    });
}
