//! What bodies send: passed through to a plain client, drained and counted by jobctl; and what they warn of.

use std::time::Duration;

use super::starting::nothing_left;
use super::tool::Tool;
use crate::db::Db;
use crate::each::{each, full, wait_until};
use crate::session::name;

const RAN: &str = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK'";

/// A body that sends so many rows, a multiple of 10,000, in one set.
async fn many_rows(db: &Db, rows: usize) {
    db.table("d", "(i INT)").await;
    db.admin().await.run(&format!("INSERT INTO {}.d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)", db.bodies())).await;
    db.table("e", "(i INT)").await;
    let values: Vec<_> = (0..rows / 10_000).map(|i| format!("({i})")).collect();
    db.admin().await.run(&format!("INSERT INTO {}.e VALUES {}", db.bodies(), values.join(","))).await;
    db.body("many", "SELECT 'row', e.i, REPEAT('x', 50) FROM e, d a, d b, d c, d f").await;
}

#[test]
fn a_million_rows_reach_a_plain_client() {
    let rows = full(1_000_000, 200_000);
    each(move |db| async move {
        let bob = db.account("bob").await;
        many_rows(&db, rows).await;
        db.define(&bob, "x", "many", "1", "").await;
        let call = format!("CALL {}.job$run('x');\n", name(db.schema()));
        let ending = async {
            let mut admin = db.admin().await;
            wait_until("two runs", Duration::from_secs(60), async || admin.number(RAN).await >= 2).await;
            admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        };
        let ended = tokio::spawn({
            let (db, bob) = (db.clone(), bob.clone());
            async move { db.client(&bob, &["-N", "--quick"], &call).await }
        });
        ending.await;
        let ran = ended.await.unwrap();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut admin = db.admin().await;
        let runs = usize::try_from(admin.number(RAN).await).unwrap();
        assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("row\t")).count(), rows * runs);
        assert_eq!(ran.stdout.lines().last(), Some("x\tAborted at request"));
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_million_rows_are_counted_and_not_kept() {
    let rows = full(1_000_000, 200_000);
    each(move |db| async move {
        let bob = db.account("bob").await;
        many_rows(&db, rows).await;
        db.define(&bob, "x", "many", "1", "").await;
        let start = Tool::new(&db, &bob, &["start", "x"]).start();
        start.says("runner started", 1).await;
        let before = start.memory();
        let mut most = before;
        while start.count("run ok in") < 3 {
            most = most.max(start.memory());
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!(start.count("run failed") == 0, "{:#?}", start.log());
        }
        // The rows alone would be tens of MiB.
        assert!(most < before + 8 * 1024, "{before} KiB, then {most} KiB");
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        let said = log.iter().filter(|line| line.contains("run ok in")).collect::<Vec<_>>();
        assert!(
            said.iter().all(|line| line.contains(&format!("rows {rows}")) || line.contains(&format!("rows={rows}"))),
            "{said:#?}"
        );
        nothing_left(&db, &bob, &mut db.admin().await).await;
    });
}

#[test]
fn no_set_and_many_sets_pass_and_are_counted() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("none", "DO 0").await;
        db.body("empty", "SELECT 1 FROM DUAL WHERE FALSE").await;
        db.body("sets", "BEGIN DECLARE i INT DEFAULT 0; WHILE i < 300 DO SELECT 'set', i; SET i = i + 1; END WHILE; END").await;
        // A body that speaks as the runner does is not believed, and cannot end the call.
        db.body("forger", "BEGIN SELECT 'sly' AS job_name, 'Aborted at request' AS message; SELECT 5 AS `job$notice`; END")
            .await;
        for job in ["none", "empty", "sets", "forger"] {
            db.define(&bob, job, job, "0.5", "").await;
        }
        let mut admin = db.admin().await;
        let sessions = [db.login(&bob).await, db.login(&bob).await, db.login(&bob).await];
        let mut tasks = Vec::new();
        for (mut session, job) in sessions.into_iter().zip(["none", "empty", "sets"]) {
            tasks.push((job, tokio::spawn(async move { session.attempt(&format!("CALL job$run('{job}')")).await })));
        }
        let ran = "SELECT COUNT(*) FROM job_run WHERE outcome = 'OK' AND job_name = ";
        for (job, _) in &tasks {
            wait_until("two runs", Duration::from_secs(30), async || admin.number(&format!("{ran}'{job}'")).await >= 2).await;
        }
        admin.run("UPDATE job SET job_status = 'ABORTED'").await;
        for (job, task) in tasks {
            let sets = task.await.unwrap().unwrap();
            let runs = usize::try_from(admin.number(&format!("{ran}'{job}'")).await).unwrap();
            let rows = sets.iter().filter(|set| set.first().is_some_and(|row| row[0] == "set")).count();
            assert_eq!(rows, if job == "sets" { 300 * runs } else { 0 }, "{job}");
            assert_eq!(sets.last().unwrap()[0], [job, "Aborted at request"]);
        }
        nothing_left(&db, &bob, &mut admin).await;
        admin.run("UPDATE job SET job_status = 'ENABLED'").await;
        let start = Tool::new(&db, &bob, &["start", "--all"]).start();
        for job in ["none", "empty", "sets", "forger"] {
            start.says(&format!("{job}: run ok in"), 2).await;
        }
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        for line in log.iter().filter(|line| line.contains("run ok in")) {
            let counted = line.contains("rows 300") || line.contains("rows=300");
            assert_eq!(counted, line.contains("sets: "), "{line}");
            assert!(
                line.contains("rows") == (line.contains("sets: ") || line.contains("forger: ")) || line.contains("forger: "),
                "{line}"
            );
        }
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn warnings_of_the_last_statement_are_kept() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.table("narrow", "(i INT, s VARCHAR(2))").await;
        let twelve = format!("INSERT IGNORE INTO narrow VALUES {}", ["(1, 'long')"; 12].join(", "));
        let ten: Vec<_> = (1..=10).map(|row| format!("1265: Data truncated for column 's' at row {row}")).collect();
        let ten = ten.join("\n");
        let cases = [
            ("quiet", "DO 0", "NULL"),
            ("many", &twelve, &ten),
            ("signal", "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'low on ink', MYSQL_ERRNO = 1642", "1642: low on ink"),
            ("earlier", "BEGIN DROP TABLE IF EXISTS no_such_table; SET @x = (SELECT COUNT(*) FROM narrow); END", "NULL"),
            ("drop", "DROP TABLE IF EXISTS no_such_table", "1051: Unknown table '{}.no_such_table'"),
            (
                "insert",
                "INSERT IGNORE INTO narrow VALUES (1, 'long'), (2, 'long'), (3, 'longer')",
                "1265: Data truncated for column 's' at row 1\n1265: Data truncated for column 's' at row 2\n\
                 1265: Data truncated for column 's' at row 3",
            ),
        ];
        for (job, body, _) in cases {
            db.body(job, body).await;
            db.define(&bob, job, job, "0.5", "").await;
        }
        let start = Tool::new(&db, &bob, &["start", "--all"]).start();
        for (job, ..) in cases {
            start.says(&format!("{job}: run ok in"), 2).await;
        }
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        let mut admin = db.admin().await;
        let mut wrong = Vec::new();
        for (job, _, warning) in cases {
            let kept = admin
                .rows(&format!(
                    "SELECT DISTINCT COALESCE(run_warnings, 'NULL') FROM job_run \
                     WHERE job_name = '{job}' AND outcome = 'OK'"
                ))
                .await;
            // A MariaDB numbers and words some of them otherwise.
            let expected = [[warning.replace("{}", db.bodies())]];
            let near = job == "drop" && kept.len() == 1 && kept[0][0].contains("no_such_table");
            if kept != expected && !near {
                wrong.push(format!("{job}: {kept:?} for {expected:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        nothing_left(&db, &bob, &mut admin).await;
    });
}
