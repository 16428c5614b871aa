//! What jobctl or a job depends on and does not find: a server that lets it in, a schema that is whole, a definer, a procedure
//! that can be called. It is told with a way out, and nothing is changed.

use super::tool::{SOON, Tool, good, jobctl};
use super::wrong_input::{about, everything, hello, refused, words};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::session::{Session, literal, name};

/// Every verb but `install`, in a form that is right.
fn all_verbs(procedure: &str) -> Vec<Vec<String>> {
    let more = [
        &["list"][..],
        &["status"],
        &["start", "--all"],
        &["pause", "--all"],
        &["resume", "--all"],
        &["pause", "x", "y"],
        &["define", "z", "--call", procedure, "--every", "1h"],
        &["alter", "x", "--rename", "z"],
    ];
    let more = more.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    about("x").into_iter().chain(more).collect()
}

#[test]
fn without_a_server_or_the_right_password_every_verb_says_so() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let wrong = Account { password: "hunter2".into(), ..bob.clone() };
        let url = db.url(&wrong);
        let mut lines = all_verbs("a.b");
        lines.extend([vec!["install".to_owned()], vec!["uninstall".to_owned(), "--yes".to_owned()]]);
        let attempts = lines.iter().map(|line| async {
            let line = words(line);
            let ran = Tool::bare(&[&["--url", "mysql://bob@127.0.0.1:1/x"][..], &line].concat()).run().await;
            refused(5, &line, &ran);
            assert!(ran.stderr.contains("cannot connect to `127.0.0.1:1` as `bob`"), "{ran:#?}");
            let ran = Tool::bare(&[&["--url", &url][..], &line].concat()).run().await;
            refused(5, &line, &ran);
            assert!(ran.stderr.contains("Access denied") && !ran.stderr.contains("hunter2"), "{ran:#?}");
        });
        for attempt in attempts {
            attempt.await;
        }
    });
}

#[test]
fn a_schema_that_is_not_installed_is_told_by_every_verb() {
    each(|db| async move {
        let root = db.root();
        for schema in ["no_such_schema", db.bodies()] {
            for line in all_verbs("a.b") {
                let ran = Tool::new(&db, &root, &[&["-D", schema][..], &words(&line)].concat()).run().await;
                refused(3, &words(&line), &ran);
                assert!(ran.stderr.contains("hint: install it with `jobctl install`"), "{line:?}: {ran:#?}");
            }
        }
    });
}

/// Drops all routines and the view, as where only the tables of a dump are restored.
pub(super) async fn without_routines(db: &Db, admin: &mut Session) {
    let sql = format!("SELECT routine_name FROM information_schema.routines WHERE routine_schema = {}", literal(db.schema()));
    for row in admin.rows(&sql).await {
        admin.run(&format!("DROP PROCEDURE {}", name(&row[0]))).await;
    }
    admin.run("DROP VIEW job_overview").await;
}

#[test]
fn tables_restored_without_routines_are_told_by_every_verb_and_install_puts_them_right() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let root = db.root();
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        good(&db, &root, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let before = everything(&db).await;
        let mut admin = db.admin().await;
        without_routines(&db, &mut admin).await;
        for line in all_verbs(&procedure) {
            let ran = jobctl(&db, &root, &words(&line)).await;
            refused(3, &words(&line), &ran);
            assert!(ran.stderr.contains("`jobctl install"), "{line:?}: {ran:#?}");
            // The rights went with the routines, so the server tells an owner no more than that.
            let ran = jobctl(&db, &bob, &words(&line)).await;
            refused(if ran.code == 3 { 3 } else { 4 }, &words(&line), &ran);
            assert!(ran.stderr.contains("`jobctl install"), "{line:?}: {ran:#?}");
        }
        assert_eq!(everything(&db).await, before);
        good(&db, &root, &["install"]).await;
        db.own(&bob).await;
        assert_eq!(everything(&db).await, before);
        good(&db, &bob, &["pause", "x"]).await;
        // And they can be dropped as they are.
        without_routines(&db, &mut admin).await;
        good(&db, &root, &["uninstall", "--yes"]).await;
    });
}

#[test]
fn a_half_installed_schema_is_told_whatever_is_missing() {
    each(|db| async move {
        let (_, procedure) = hello(&db).await;
        let root = db.root();
        good(&db, &root, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let mut admin = db.admin().await;
        let status = &["status"][..];
        let define = &["define", "y", "--call", &procedure, "--every", "1h"][..];
        let alter = &["alter", "x", "--every", "5s"][..];
        for (broken, lines) in [
            ("DROP VIEW job_overview", &[status, &["start", "x"]][..]),
            ("DROP PROCEDURE job$_find", &[&["pause", "x"], alter, &["drop", "x"]]),
            ("DROP PROCEDURE job$_caller", &[define, &["pause", "--all"], &["start", "x"]]),
            ("DROP PROCEDURE job$_callable", &[define]),
            ("DROP PROCEDURE job$ticket", &[define, alter, &["resume", "x"]]),
            ("DROP PROCEDURE job$_write", &[define, alter]),
            ("DROP PROCEDURE job$_transition", &[&["abort", "x"]]),
        ] {
            let before = everything(&db).await;
            admin.run(broken).await;
            for line in lines {
                let ran = jobctl(&db, &root, line).await;
                refused(3, line, &ran);
                assert!(ran.stderr.contains("`jobctl install"), "{broken}, {line:?}: {ran:#?}");
            }
            assert_eq!(everything(&db).await, before, "{broken}");
            good(&db, &root, &["install"]).await;
        }
        // A table that is gone holds what no install can bring back; nobody acts as if it did not matter.
        admin.run("DROP TABLE job_event").await;
        for line in [&["pause", "x"][..], define, &["pause", "--all"]] {
            let ran = jobctl(&db, &root, line).await;
            refused(3, line, &ran);
        }
        assert_eq!(admin.one("SELECT GROUP_CONCAT(job_name, job_status) FROM job").await, "xENABLED");
    });
}

#[test]
fn a_definer_that_was_dropped_is_told_by_every_verb() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let mut admin = db.admin().await;
        let definer = db.stranger("definer").await;
        admin.run(&format!("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {}.* TO {definer}", name(db.schema()))).await;
        good(&db, &db.root(), &["install", "--definer", &format!("{}@{}", definer.user, definer.host)]).await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let before = everything(&db).await;
        admin.run(&format!("DROP USER {definer}")).await;
        for account in [&bob, &db.root()] {
            for line in all_verbs(&procedure) {
                let ran = jobctl(&db, account, &words(&line)).await;
                refused(4, &words(&line), &ran);
                assert!(ran.stderr.contains("hint: jobctl's definer is gone"), "{line:?}: {ran:#?}");
            }
        }
        assert_eq!(everything(&db).await, before);
    });
}

#[test]
fn a_procedure_that_cannot_be_called_is_refused_by_alter_and_the_job_stays() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let mut admin = db.admin().await;
        let shop = db.extra("shop").await;
        admin.run(&format!("CREATE PROCEDURE {}.secret() DO 0", name(&shop))).await;
        let bodies = db.bodies();
        admin.run(&format!("CREATE PROCEDURE {}.needs(IN a INT) DO a", name(bodies))).await;
        admin.run(&format!("CREATE FUNCTION {}.fun() RETURNS INT DETERMINISTIC NO SQL RETURN 1", name(bodies))).await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let before = everything(&db).await;
        let long = "p".repeat(64);
        for wrong in ["needs", "nothing", "fun", &long].map(|routine| format!("{bodies}.{routine}")).iter().chain(&[
            format!("{shop}.secret"),
            "no_such_schema.hello".to_owned(),
            "`a``b`.`c.d`".to_owned(),
        ]) {
            let line = ["alter", "x", "--call", wrong];
            let ran = jobctl(&db, &bob, &line).await;
            refused(2, &line, &ran);
            assert!(ran.stderr.contains("hint: `--call` takes a procedure without arguments"), "{ran:#?}");
            let line = ["define", "y", "--call", wrong, "--every", "1h"];
            refused(2, &line, &jobctl(&db, &bob, &line).await);
        }
        assert_eq!(everything(&db).await, before);
    });
}

#[test]
fn a_procedure_that_is_taken_away_later_fails_its_runs_and_the_job_goes_on() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let mut admin = db.admin().await;
        let shop = db.extra("shop").await;
        let procedure = format!("{}.roll_up", name(&shop));
        let create = format!("CREATE PROCEDURE {procedure}() SQL SECURITY INVOKER DO 0");
        let grant = format!("GRANT EXECUTE ON PROCEDURE {procedure} TO {bob}");
        for sql in [&create, &grant] {
            admin.run(sql).await;
        }
        good(&db, &bob, &["define", "x", "--call", &format!("{shop}.roll_up"), "--every", "0.2s"]).await;
        let runner = db.runner(&bob, "x").await;
        let outcome = async |what: &str, code: Option<&str>| {
            let mut admin = db.admin().await;
            let after = admin.one("SELECT COALESCE(MAX(run_no), 0) FROM job_run").await;
            let code = code.map_or("outcome = 'OK'".into(), |code| format!("outcome = 'ERROR' AND error_code IN ({code})"));
            let sql = format!("SELECT COUNT(*) FROM job_run WHERE run_no > {after} + 1 AND {code}");
            wait_until(what, SOON, async || admin.number(&sql).await > 0).await;
        };
        outcome("it runs", None).await;
        admin.run(&format!("REVOKE EXECUTE ON PROCEDURE {procedure} FROM {bob}")).await;
        outcome("it may not be executed any more", Some("1370")).await;
        let shown = good(&db, &bob, &["show", "x"]).await;
        assert!(shown.contains("denied") && shown.contains("(1370)"), "{shown}");
        admin.run(&grant).await;
        outcome("it may again", None).await;
        admin.run(&format!("DROP PROCEDURE {procedure}")).await;
        // To who had just the right to execute it, it is not there or not allowed.
        outcome("it was dropped", Some("1305, 1370")).await;
        // Inside one long CALL, MariaDB keeps to the body it has once read: only a new session sees another.
        if !db.mariadb() {
            admin.run(&format!("CREATE PROCEDURE {procedure}(IN a INT) SQL SECURITY INVOKER DO a")).await;
            admin.run(&grant).await;
            outcome("it needs an argument now", Some("1318")).await;
            admin.run(&format!("DROP PROCEDURE {procedure}")).await;
        }
        admin.run(&create).await;
        admin.run(&grant).await;
        outcome("it is there again", None).await;
        assert!(!runner.ended());
        let columns = "GROUP_CONCAT(DISTINCT error_sqlstate ORDER BY error_sqlstate)";
        assert_eq!(admin.one(&format!("SELECT {columns} FROM job_run WHERE outcome = 'ERROR'")).await, "42000");
        assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'ERROR' AND error_message IS NULL").await, "0");
    });
}
