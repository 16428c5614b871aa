//! What is typed wrong, names no job, or is not allowed as the job is: one sentence, a hint, the right exit code, nothing done.

use super::tool::{Tool, bad, call, good, jobctl, json};
use crate::db::{Account, Db, Ran};
use crate::each::each;
use crate::session::literal;

/// Every verb that works on the jobs there are, with a job called `job`.
pub(super) fn about(job: &str) -> Vec<Vec<String>> {
    let verbs = ["show", "status", "drop", "start", "pause", "resume", "abort", "enable", "disable"];
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let plain = verbs.iter().map(|verb| words(&[verb, "--", job]));
    plain.chain([words(&["alter", "--every", "5s", "--", job])]).collect()
}

pub(super) fn words(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

/// One sentence, then hints, at least one; nothing else.
pub(super) fn refused(code: i32, line: &[&str], ran: &Ran) {
    assert_eq!((ran.code, &*ran.stdout), (code, ""), "jobctl {line:?}: {ran:#?}");
    let mut lines = ran.stderr.lines();
    let sentence = lines.next().unwrap_or_default();
    let stop = sentence.ends_with('.') && !sentence.ends_with("<NAME>...");
    assert!(sentence.starts_with("error: ") && !stop, "jobctl {line:?}: {ran:#?}");
    let hints: Vec<_> = lines.collect();
    assert!(!hints.is_empty() && hints.iter().all(|line| line.starts_with("hint: ")), "jobctl {line:?}: {ran:#?}");
}

/// Definitions, requests and what is recorded: what must not change where something is refused.
pub(super) async fn everything(db: &Db) -> Vec<Vec<String>> {
    let mut admin = db.admin().await;
    let mut rows = admin.rows("SELECT * FROM job ORDER BY job_id").await;
    rows.extend(admin.rows("SELECT job_id, event_no FROM job_event ORDER BY job_id, event_no").await);
    rows.extend(admin.rows("SELECT job_id, run_no FROM job_run ORDER BY job_id, run_no").await);
    rows
}

pub(super) async fn hello(db: &Db) -> (Account, String) {
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
        assert!(told.contains("hint: `jobctl enable y`") && told.contains("leave them out: `x`"), "{told}");
        assert_eq!(json(&db, &bob, &["show", "x"]).await[0]["job_status"], "PAUSED");
        let told = bad(&db, &bob, 4, &["enable", "x"]).await;
        assert!(told.contains("`x` is PAUSED") && told.contains("hint: `jobctl resume x`"), "{told}");
    });
}
