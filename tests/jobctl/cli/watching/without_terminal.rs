//! `jobctl status --watch` without a terminal: a table for every change, until it is ended or nobody reads on.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::{JOBCTL, jobs, on_one};
use crate::cli::tool::{SOON, status};
use crate::db::{Account, Db};
use crate::each::{each, wait_until};

/// `jobctl status --watch` without a terminal.
pub(super) struct Printing {
    child: tokio::process::Child,
    stdout: Arc<Mutex<String>>,
}

impl Printing {
    pub(super) fn start(db: &Db, account: &Account, more: &[&str]) -> Self {
        let mut command = tokio::process::Command::new(JOBCTL);
        for variable in ["MYSQL_PWD", "JOBCTL_URL", "NO_COLOR", "COLUMNS"] {
            command.env_remove(variable);
        }
        command.args(["--url", &db.url(account), "status", "--watch"]).args(more).env("TZ", "UTC");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the binary can be run");
        let mut pipe = child.stdout.take().expect("a pipe");
        let stdout = Arc::<Mutex<String>>::default();
        let heard = stdout.clone();
        tokio::spawn(async move {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(count @ 1..) = pipe.read(&mut bytes).await {
                heard.lock().expect("no panic").push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, stdout }
    }

    fn text(&self) -> String {
        self.stdout.lock().expect("no panic").clone()
    }

    pub(super) async fn says(&self, text: &str, times: usize) {
        let what = format!("{times} times `{text}`");
        wait_until(&what, SOON, async || self.text().matches(text).count() >= times).await;
    }

    /// Ends it by a signal; gives its exit status and all it has printed.
    pub(super) async fn ends(mut self, signal: &str) -> (i32, String, String) {
        let pid = self.child.id().expect("it has not ended").to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().expect("kill can be run").success());
        let mut stderr = String::new();
        let ends = async {
            self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).await.expect("UTF-8");
            self.child.wait().await.expect("it ends").code().expect("an exit status")
        };
        let code = tokio::time::timeout(SOON, ends).await.expect("it ends");
        (code, self.text(), stderr)
    }
}

#[test]
fn without_a_terminal_every_change_is_one_table_and_no_change_is_none() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a"]).await;
        session.define(&db, "tick", "hello", "3600", "").await;
        let _runner = db.runner(&bob, "tick").await;
        status(&db, &bob, "tick", "SLEEPING").await;
        let formats = [&[][..], &["--output", "json"], &["--output", "csv"]];
        let [table, json, csv] = formats.map(|format| Printing::start(&db, &bob, format));
        for printing in [&table, &json, &csv] {
            printing.says("SLEEPING", 1).await;
        }
        // Clocks move, and the runner says that it is there, as it does again and again; however long this is, nothing may come of it.
        db.admin()
            .await
            .run("UPDATE job SET job_runner_seen = UTC_TIMESTAMP(6), job_changed = job_changed WHERE job_name = 'tick'")
            .await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        session.row("CALL job$pause('a', NULL)").await;
        for printing in [&table, &json, &csv] {
            printing.says("PAUSED", 1).await;
        }
        let (code, text, stderr) = table.ends("TERM").await;
        assert_eq!((code, stderr.as_str()), (143, "error: ended by SIGTERM\n"), "{text}");
        let tables: Vec<_> = text.split("\n\n").collect();
        assert_eq!((tables.len(), text.matches("name ").count()), (2, 2), "{text}");
        for (table, word) in tables.iter().zip(["ENABLED", "PAUSED"]) {
            assert_eq!((table.trim_end().lines().count(), table.contains(word)), (3, true), "{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text:?}");

        let (code, text, _) = json.ends("INT").await;
        let answers: Vec<Vec<Value>> = serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
        let states: Vec<_> = answers.iter().map(|jobs| (jobs.len(), jobs[0]["status"].as_str().unwrap())).collect();
        assert_eq!((code, &states[..]), (130, &[(2, "ENABLED"), (2, "PAUSED")][..]), "{text}");

        let (_, text, _) = csv.ends("INT").await;
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.len() == 6 && lines[0] == lines[3] && lines[0].contains("job_name"), "{text}");
    });
}

/// Pipes it into a reader that leaves after a line; gives its exit status and what it said.
async fn into_head(db: &Db, account: &Account, format: &str) -> (i32, String, String) {
    let mut command = tokio::process::Command::new("bash");
    let line = format!("'{JOBCTL}' --url \"$URL\" status --watch --output {format} | head -1; exit ${{PIPESTATUS[0]}}");
    command.args(["-c", &line]).env("URL", db.url(account)).env_remove("MYSQL_PWD").env_remove("JOBCTL_URL");
    // Killed with its children: nobody else is in the group.
    command.stdin(Stdio::null()).kill_on_drop(true).process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("bash can be run");
    let group = format!("-{}", child.id().expect("it has not ended"));
    let ended = tokio::time::timeout(SOON, child.wait_with_output()).await;
    let _ = Command::new("kill").args(["-s", "KILL", "--", &group]).stderr(Stdio::null()).status();
    let output = ended.expect("it ends").expect("bash can be run");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn a_reader_that_leaves_ends_it_at_the_next_change() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        for (format, first) in [("table", "name "), ("json", "["), ("csv", "job_id,")] {
            // One of its own each time, as a call may be given up half-way.
            let mut session = db.login(&bob).await;
            let mut changing = std::pin::pin!(async {
                for every in 60.. {
                    session.row(&format!("CALL job$alter('a', '{{\"every\": {every}}}')")).await;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            });
            let (code, stdout, stderr) = tokio::select! {
                ended = into_head(&db, &bob, format) => ended,
                () = &mut changing => unreachable!("it goes on for ever"),
            };
            assert_eq!((code, stderr.as_str(), stdout.starts_with(first)), (0, "", true), "{format}: {stdout}");
        }
    });
}

#[test]
fn a_reader_that_leaves_ends_it_also_where_nothing_changes() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let (code, stdout, stderr) = into_head(&db, &bob, "table").await;
        assert_eq!((code, stderr.as_str(), stdout.starts_with("name ")), (0, "", true), "{stdout}");
    });
}
