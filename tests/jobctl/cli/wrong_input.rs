//! What is typed wrong, or meets a server that is not as it should be: one sentence, a hint, the right exit code, nothing done.

use super::tool::{Tool, bad, call, good, jobctl, json};
use crate::db::{Account, Db, Ran};
use crate::each::{each, join};
use crate::session::{Session, literal, name};

/// Every verb that works on the jobs there are, with a job called `job`.
fn about(job: &str) -> Vec<Vec<String>> {
    let verbs = ["show", "status", "drop", "start", "pause", "resume", "abort", "enable", "disable"];
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let plain = verbs.iter().map(|verb| words(&[verb, "--", job]));
    plain.chain([words(&["alter", "--every", "5s", "--", job])]).collect()
}

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

fn words(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

/// One sentence, then hints, at least one; nothing else.
fn refused(code: i32, line: &[&str], ran: &Ran) {
    assert_eq!((ran.code, &*ran.stdout), (code, ""), "jobctl {line:?}: {ran:#?}");
    let mut lines = ran.stderr.lines();
    let sentence = lines.next().unwrap_or_default();
    let stop = sentence.ends_with('.') && !sentence.ends_with("<NAME>...");
    assert!(sentence.starts_with("error: ") && !stop, "jobctl {line:?}: {ran:#?}");
    let hints: Vec<_> = lines.collect();
    assert!(!hints.is_empty() && hints.iter().all(|line| line.starts_with("hint: ")), "jobctl {line:?}: {ran:#?}");
}

/// Definitions, requests and what is recorded: what must not change where something is refused.
async fn everything(db: &Db) -> Vec<Vec<String>> {
    let mut admin = db.admin().await;
    let mut rows = admin.rows("SELECT * FROM job ORDER BY job_id").await;
    rows.extend(admin.rows("SELECT job_id, event_no FROM job_event ORDER BY job_id, event_no").await);
    rows.extend(admin.rows("SELECT job_id, run_no FROM job_run ORDER BY job_id, run_no").await);
    rows
}

async fn hello(db: &Db) -> (Account, String) {
    db.body("hello", "DO 0").await;
    (db.account("bob").await, call(db, "hello"))
}

#[test]
fn a_verb_without_what_it_needs_is_wrong_usage_with_a_hint() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for line in [
        &[][..],
        &["define"],
        &["define", "x"],
        &["define", "x", "--call", "a.b"],
        &["define", "x", "--every", "1h"],
        &["define", "x", "--call", "--every", "1h"],
        &["define", "x", "--call", "hello", "--every", "1h"],
        &["alter"],
        &["alter", "x"],
        &["alter", "x", "--rename"],
        &["show"],
        &["drop"],
        &["start"],
        &["pause"],
        &["resume"],
        &["abort"],
        &["enable"],
        &["disable"],
        &["pause", "--reason", "lunch"],
        &["abort", "x", "--reason"],
        &["pause", "x", "--all"],
        &["resume", "x", "--all"],
        &["start", "x", "--all"],
        &["abort", "--all"],
        &["enable", "--all"],
        &["disable", "--all"],
        &["install", "x"],
        &["uninstall", "x"],
        &["list", "x"],
        &["list", "--output", "yaml"],
        &["list", "--output"],
        &["list", "-P", "99999"],
        &["list", "-P", "many"],
        &["list", "-D", ""],
        &["list", "-D", &"d".repeat(65)],
        &["lost"],
        &["--lost"],
    ] {
        refused(2, line, &runtime.block_on(Tool::bare(line).run()));
    }
}

#[test]
fn a_name_that_no_job_can_have_is_refused_by_every_verb_before_it_looks_for_a_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in ["", " ", " a", "a ", "a\tb", "a\n", "a\u{1b}[2Jb", "\u{a0}a", "a\u{3000}", &"ä".repeat(130)] {
        let mut lines = about(name);
        lines.push(["define", "--call", "a.b", "--every", "1h", "--", name].map(String::from).to_vec());
        lines.push(["alter", "x", &format!("--rename={name}")].map(String::from).to_vec());
        for line in &lines {
            let ran = runtime.block_on(Tool::bare(&words(line)).run());
            refused(2, &words(line), &ran);
            assert!(ran.stderr.contains("the name of a job"), "{line:?}: {ran:#?}");
        }
    }
}

#[test]
fn a_new_name_is_checked_by_the_sql_twin_too() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        for job in ["x", "y"] {
            good(&db, &bob, &["define", job, "--call", &procedure, "--every", "1h"]).await;
        }
        let before = everything(&db).await;
        let mut session = db.login(&bob).await;
        for name in ["", " ", " a", "a ", "a\tb", "a\n", "a\u{1b}b", "\u{a0}a", "a\u{3000}", &"ä".repeat(130)] {
            let options = serde_json::json!({ "rename": name }).to_string();
            let (code, message) = session.error(&format!("CALL job$alter('x', {})", literal(&options))).await;
            assert_eq!(code, 45002, "{name:?}: {message}");
        }
        let (code, message) = session.error(r#"CALL job$alter('x', '{"rename": "y"}')"#).await;
        assert_eq!(code, 45004, "{message}");
        let taken = bad(&db, &bob, 4, &["alter", "x", "--rename", "y"]).await;
        assert!(taken.contains("already") && taken.contains("hint: `jobctl list`"), "{taken}");
        assert_eq!(everything(&db).await, before);
        // The longest name there may be, and back.
        let long = "ä".repeat(129);
        good(&db, &bob, &["alter", "x", "--rename", &long]).await;
        good(&db, &bob, &["pause", &long]).await;
        good(&db, &bob, &["alter", &long, "--rename", "x"]).await;
    });
}

#[test]
fn a_job_that_is_not_there_is_named_by_every_verb_and_no_other_is_touched() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        let eve = db.account("eve").await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        let before = everything(&db).await;
        for (account, job) in [(&bob, "it's not `there`"), (&db.root(), "nope"), (&eve, "x")] {
            for line in about(job) {
                let ran = jobctl(&db, account, &words(&line)).await;
                refused(3, &words(&line), &ran);
                let sentence = ran.stderr.lines().next().unwrap();
                assert_eq!(sentence.matches(job).count(), 1, "{line:?}: {ran:#?}");
                assert!(sentence.contains(&format!("`{job}`")), "{line:?}: {ran:#?}");
                assert!(ran.stderr.contains("hint: `jobctl list`"), "{line:?}: {ran:#?}");
            }
        }
        // One that is there beside one that is not: none is touched.
        for verb in ["status", "start", "pause", "resume", "abort", "enable", "disable"] {
            let told = bad(&db, &bob, 3, &[verb, "x", "nope"]).await;
            assert!(told.contains("`nope`"), "{verb}: {told}");
        }
        let mut session = db.login(&bob).await;
        for request in ["pause", "resume", "abort", "enable", "disable", "drop", "stop"] {
            for name in ["'nope'", "''", "NULL"] {
                let (code, message) = session.error(&format!("CALL job${request}({name}, NULL)")).await;
                assert_eq!(code, 45003, "{request} {name}: {message}");
            }
        }
        assert_eq!(session.error(r#"CALL job$alter('nope', '{"every": 5}')"#).await.0, 45003);
        assert_eq!(session.error("CALL job$overview('nope')").await.0, 45003);
        assert_eq!(everything(&db).await, before);
    });
}

#[test]
fn a_request_refused_says_how_it_can_be_had_and_what_was_done_before_it() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        for job in ["x", "y"] {
            good(&db, &bob, &["define", job, "--call", &procedure, "--every", "1h"]).await;
        }
        good(&db, &bob, &["abort", "y"]).await;
        let told = bad(&db, &bob, 4, &["pause", "x", "y"]).await;
        assert!(told.starts_with("error: `y` is ABORTED; only an ENABLED one can be paused\n"), "{told}");
        assert!(told.contains("hint: `jobctl enable 'y'`") && told.contains("leave them out: `x`"), "{told}");
        assert_eq!(json(&db, &bob, &["show", "x"]).await[0]["job_status"], "PAUSED");
        let told = bad(&db, &bob, 4, &["enable", "x"]).await;
        assert!(told.contains("`x` is PAUSED") && told.contains("hint: `jobctl resume 'x'`"), "{told}");
    });
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
async fn without_routines(db: &Db, admin: &mut Session) {
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
            assert!(ran.stderr.contains("`jobctl install`"), "{line:?}: {ran:#?}");
            // The rights went with the routines, so the server tells an owner no more than that.
            let ran = jobctl(&db, &bob, &words(&line)).await;
            refused(if ran.code == 3 { 3 } else { 4 }, &words(&line), &ran);
            assert!(ran.stderr.contains("`jobctl install`"), "{line:?}: {ran:#?}");
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
                assert!(ran.stderr.contains("`jobctl install`"), "{broken}, {line:?}: {ran:#?}");
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
fn intervals_and_times_that_cannot_be_are_refused_by_define_alter_and_their_twins() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h", "--start", "2031-01-01"]).await;
        let before = everything(&db).await;
        let lines = [
            &["--every=0s"][..],
            &["--every=0"],
            &["--every=-5m"],
            &["--every=0.05s"],
            &["--every=50ms"],
            &["--every=36525.1d"],
            &["--every=101y"],
            &["--every=3155760001s"],
            &["--start=2026-02-30"],
            &["--start=2027-02-29 04:00"],
            &["--start=2031-04-31T00:00:00Z"],
            &["--start=2031-00-10"],
            &["--start=2031-01-01 24:01"],
            &["--start=0000-01-01"],
            &["--start=-0001-01-01"],
            &["--start=1969-12-31 23:59:59"],
            &["--start=9000-01-01"],
            &["--start=9999-12-31 23:59:59"],
            &["--start=10000-01-01"],
            &["--start="],
            &["--start=now"],
            &["--finish=2026-02-30"],
            &["--finish=0000-00-00"],
            &["--finish=9999-12-31"],
            &["--finish=2001-01-01"],
            &["--start=2031-01-02", "--finish=2031-01-01"],
            &["--start=2031-01-02T00:00:00+01:00", "--finish=2031-01-01T22:59:59Z"],
            &["--max-failures=0"],
            &["--max-failures=-1"],
            &["--max-failures=1000000000000"],
            &["--max-failures=often"],
            &["--tz=Mars/Olympus", "--start=2031-01-01"],
            &["--call=nothing"],
            &["--call=a.b.c"],
        ];
        for more in lines {
            let line = [&["alter", "x"][..], more].concat();
            refused(2, &line, &jobctl(&db, &bob, &line).await);
            let start = more.iter().any(|word| word.starts_with("--every") || word.starts_with("--call"));
            let rest: &[&str] = if start { &[] } else { &["--every", "1h"] };
            let call = more.iter().any(|word| word.starts_with("--call"));
            let (every, procedure) = (["--every", "1h"], ["--call", &procedure]);
            let rest = [rest, if call { &every } else { &procedure }].concat();
            let line = [&["define", "y"][..], &rest, more].concat();
            refused(2, &line, &jobctl(&db, &bob, &line).await);
        }
        let told = bad(&db, &bob, 2, &["alter", "x", "--start", "9999-12-31"]).await;
        assert!(told.contains("9999-12-31"), "{told}");
        // A finish before the start that is there already; a start after the finish.
        refused(2, &[], &jobctl(&db, &bob, &["alter", "x", "--finish", "2030-12-31"]).await);
        let mut session = db.login(&bob).await;
        for options in [
            r#""every": 0"#,
            r#""every": -1"#,
            r#""every": 0.05"#,
            r#""every": 3155760000.000001"#,
            r#""every": 1e300"#,
            r#""start": "2026-02-30 00:00:00""#,
            r#""start": "0000-00-00 00:00:00""#,
            r#""start": "0000-01-01 00:00:00""#,
            r#""start": "1969-12-31 23:59:59""#,
            r#""start": "9999-12-31 23:59:59""#,
            r#""start": "2031-01-01 24:00:00""#,
            r#""start": "2031-01-01 23:59:60""#,
            r#""start": """#,
            r#""start": 20310101"#,
            r#""start": true"#,
            r#""finish": "2026-02-30 00:00:00""#,
            r#""finish": "9999-12-31 23:59:59""#,
            r#""finish": "2001-01-01 00:00:00""#,
            r#""start": "2031-01-02 00:00:00", "finish": "2031-01-01 00:00:00""#,
            r#""max_failures": 0"#,
            r#""max_failures": -1"#,
        ] {
            let alter = format!("CALL job$alter('x', {})", literal(&format!("{{{options}}}")));
            let (code, message) = session.error(&alter).await;
            assert_eq!(code, 45002, "{alter}: {message}");
            let every = if options.contains("every") { "" } else { r#", "every": 60"# };
            let options = format!(r#"{{"schema": "{}", "procedure": "hello", {options}{every}}}"#, db.bodies());
            let define = format!("CALL job$define('y', {})", literal(&options));
            let (code, message) = session.error(&define).await;
            assert_eq!(code, 45002, "{define}: {message}");
        }
        assert_eq!(everything(&db).await, before);
        // The ends of what may be.
        for more in [["--every", "0.1s"], ["--every", "36525d"], ["--start", "1970-01-01"], ["--finish", "8999-12-31 23:59:59"]]
        {
            good(&db, &bob, &[&["alter", "x"][..], &more].concat()).await;
        }
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
            crate::each::wait_until(what, super::tool::SOON, async || admin.number(&sql).await > 0).await;
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

#[test]
fn schemas_of_64_characters_and_of_odd_names_work_from_install_to_uninstall() {
    each(|db| async move {
        db.body("hello", "DO 0").await;
        let (root, procedure) = (db.root(), call(&db, "hello"));
        let stamp = crate::db::stamp();
        let prefixes =
            ["l".repeat(64 - stamp.len()), "a_b%c".into(), "a`b``c".into(), "two  blanks".into(), "it's \"ü\"".into()];
        let schemas = prefixes.map(|prefix| format!("{prefix}{stamp}"));
        let work = schemas.iter().map(|schema| {
            let (db, root, procedure) = (db.clone(), root.clone(), procedure.clone());
            async move {
                let jobctl = async |code: i32, line: &[&str]| {
                    let ran = Tool::new(&db, &root, &[&["-D", schema][..], line].concat()).run().await;
                    assert_eq!(ran.code, code, "`{schema}`: jobctl {line:?}: {ran:#?}");
                    ran
                };
                jobctl(0, &["install"]).await;
                let again = jobctl(0, &["install", "--owner", "bob@%"]).await;
                assert!(again.stdout.contains("nothing to do"), "{again:#?}");
                let define = ["define", "x", "--call", &procedure, "--every", "0.1s", "--max-failures", "3"];
                jobctl(0, &define).await;
                let start = Tool::new(&db, &root, &["-D", schema, "start", "x"]).start();
                start.says("run ok", 2).await;
                jobctl(0, &["pause", "x"]).await;
                jobctl(0, &["resume", "x"]).await;
                assert!(jobctl(0, &["status"]).await.stdout.contains('x'));
                jobctl(0, &["show", "x"]).await;
                jobctl(4, &["uninstall", "--yes"]).await;
                jobctl(0, &["abort", "x"]).await;
                assert_eq!(start.ends().await.0, 1, "aborted is not finished");
                jobctl(0, &["uninstall", "--yes"]).await;
            }
        });
        join(work.collect()).await;
        let mut admin = db.admin().await;
        let like = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE '%{stamp}'");
        let left = admin.one(&like).await;
        for schema in &schemas {
            admin.run(&format!("DROP DATABASE IF EXISTS {}", name(schema))).await;
        }
        assert_eq!(left, "0", "each schema goes with what it was made for");
    });
}
