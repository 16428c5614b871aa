//! `jobctl install --dry-run`: a script that does what it says.

use super::installing::contents;
use super::tool::{good, jobctl};
use crate::each::each;
use crate::session::name;

/// The statements of a script, as the plain client cuts them.
fn statements(script: &str) -> Vec<String> {
    let (mut delimiter, mut statements, mut text) = (";".to_owned(), Vec::new(), String::new());
    for line in script.lines() {
        if let Some(next) = line.strip_prefix("DELIMITER ") {
            delimiter = next.to_owned();
        } else if text.is_empty() && (line.is_empty() || line.starts_with("-- ")) {
        } else if let Some(end) = line.strip_suffix(&delimiter) {
            statements.push(std::mem::take(&mut text) + end);
        } else {
            text += line;
            text.push('\n');
        }
    }
    assert_eq!(text, "", "every statement ends");
    statements
}

#[test]
fn a_dry_run_changes_nothing_and_prints_what_the_plain_client_installs() {
    each(|db| async move {
        let root = db.root();
        let mut admin = db.admin().await;
        let whole: Vec<_> = contents(&mut admin, db.schema()).await.into_iter().map(|row| row[..2].to_vec()).collect();
        admin.run(&format!("DROP DATABASE {}", name(db.schema()))).await;
        let script = good(&db, &root, &["install", "--dry-run"]).await;
        let schemata = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '{}'", db.schema());
        assert_eq!(admin.number(&schemata).await, 0, "a dry run");
        let ran = db.client(&root, &[], &script).await;
        // The client itself warns of a login without a password.
        assert!(ran.code == 0 && ran.stdout.is_empty() && !ran.stderr.contains("ERROR"), "{ran:#?}");
        let now: Vec<_> = contents(&mut admin, db.schema()).await.into_iter().map(|row| row[..2].to_vec()).collect();
        assert_eq!(now, whole);
        let installed = good(&db, &root, &["install"]).await;
        assert!(installed.starts_with("nothing to do"), "{installed}");
        let script = good(&db, &root, &["install", "--dry-run"]).await;
        assert_eq!(statements(&script), [""; 0], "{script}");
        assert!(script.contains("-- nothing to do"), "{script}");
    });
}

#[test]
fn a_dry_run_touches_nothing_but_what_is_named_in_it() {
    each(|db| async move {
        let (root, bob) = (db.root(), db.account("bob").await);
        let mut admin = db.admin().await;
        admin.run("DROP PROCEDURE `job$_grid`").await;
        let repair = good(&db, &root, &["install", "--dry-run"]).await;
        admin.run(&format!("DROP DATABASE {}", name(db.schema()))).await;
        let fresh = good(&db, &root, &["install", "--dry-run"]).await;
        let definer = admin.one("SELECT CURRENT_USER()").await;
        let (user, host) = definer.rsplit_once('@').unwrap();
        let routine = |text: &str| text.starts_with("`job$") || text.starts_with("job$");
        for (kind, script) in [("repair", repair), ("fresh", fresh)] {
            let statements = statements(&script);
            assert!(statements.len() > 90, "{}", statements.len());
            for sql in &statements {
                let known = [
                    "SET NAMES utf8mb4 COLLATE utf8mb4_bin, ",
                    &format!("CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", name(db.schema())),
                    &format!("USE {}", name(db.schema())),
                    "CREATE TABLE IF NOT EXISTS job ",
                    "CREATE TABLE IF NOT EXISTS job_",
                    "ALTER TABLE job\n",
                    "ALTER TABLE job_run\n",
                    "ALTER TABLE job_controller\n",
                    "ALTER TABLE job_event\n",
                    "INSERT INTO job_schema_history ",
                    "INSERT IGNORE INTO job_setting ",
                    "INSERT IGNORE INTO job_ticket ",
                    "INSERT INTO job_server ",
                    "DELETE FROM job_ticket WHERE ticket_token <> ''",
                    "REPLACE INTO job_setting ",
                    "DROP PROCEDURE IF EXISTS `job$",
                    "DROP VIEW IF EXISTS `job_overview`",
                ];
                let created = sql
                    .split_once(&format!("CREATE DEFINER = `{user}`@`{host}` "))
                    .filter(|(comment, _)| comment.lines().all(|line| line.starts_with("--")))
                    .and_then(|(_, rest)| {
                        rest.strip_prefix("PROCEDURE ")
                            .map(routine)
                            .or(rest.strip_prefix("SQL SECURITY DEFINER VIEW job_overview").map(|_| true))
                    });
                let granted = sql.starts_with(&format!("GRANT EXECUTE ON PROCEDURE {}.`job$", name(db.schema())))
                    && sql.ends_with(&format!(" TO {bob}"))
                    && kind == "repair";
                let plain = known.iter().any(|known| sql.starts_with(known));
                assert!(plain || created == Some(true) || granted, "{kind}: {sql}");
            }
            assert_eq!(statements.iter().filter(|sql| sql.starts_with("GRANT ")).count() > 10, kind == "repair", "{kind}");
        }
        let ran = jobctl(&db, &root, &["install", "--dry-run", "--output", "json"]).await;
        let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(rows[0]["script"].as_str().is_some_and(|script| script.contains("DELIMITER")));
    });
}
