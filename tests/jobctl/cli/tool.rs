//! The binary as a person starts it: with an environment, on a pipe or on a terminal, to its end or until a signal.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::db::{Account, Db, Ran};
use crate::each::wait_until;
use crate::session::literal;

/// How long anything may take; a hang is a failure.
pub const SOON: Duration = Duration::from_secs(60);

/// A command line that is about to be run.
pub struct Tool(Command, String);

impl Tool {
    /// With nothing of the environment's own settings, and with no server named.
    pub fn bare(arguments: &[&str]) -> Self {
        Self::of(env!("CARGO_BIN_EXE_jobctl"), arguments)
    }

    /// As `account`, by `--url`.
    pub fn new(db: &Db, account: &Account, arguments: &[&str]) -> Self {
        Self::bare(&[&["--url", &db.url(account)], arguments].concat())
    }

    /// The same on a terminal of its own, by way of `script`; what the terminal is sent is the standard output.
    pub fn on_terminal(db: &Db, account: &Account, arguments: &[&str]) -> Self {
        Self::bare_on_terminal(&[&["--url", &db.url(account)], arguments].concat())
    }

    /// On a terminal of its own, with no server named.
    pub fn bare_on_terminal(arguments: &[&str]) -> Self {
        let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
        let words = [&[env!("CARGO_BIN_EXE_jobctl")], arguments].concat();
        let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
        Self::of("script", &["-qec", &line, "/dev/null"])
    }

    /// By way of another program, which gets these arguments.
    pub fn of(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        for variable in ["MYSQL_PWD", "JOBCTL_URL", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command.env("COLUMNS", "80").env("TZ", "UTC").env("TERM", "xterm").env("SHELL", "/bin/sh");
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self(command, format!("jobctl {}", arguments.join(" ")))
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.0.arg(argument);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end, with nothing to read.
    pub async fn run(mut self) -> Ran {
        let output = tokio::time::timeout(SOON, self.0.output()).await;
        Ran::from(output.unwrap_or_else(|_| panic!("does not end: {}", self.1)).expect("the binary can be run"))
    }

    /// Runs it to its end; once it has asked `question`, `answer` is typed.
    pub async fn answering(mut self, question: &str, answer: &str) -> Ran {
        let mut child = self.0.stdin(Stdio::piped()).spawn().expect("the binary can be run");
        // Kept open to the end, as a terminal is.
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut pipe = child.stdout.take().expect("a pipe");
        let mut stdout = Vec::new();
        let talk = async {
            let mut asked = false;
            // A terminal that is gone ends in an error, after the last byte.
            while let Ok(1..) = pipe.read_buf(&mut stdout).await {
                if !asked && String::from_utf8_lossy(&stdout).contains(question) {
                    asked = true;
                    // As a person does: after the echo has been switched off.
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    stdin.write_all(answer.as_bytes()).await.expect("it reads");
                }
            }
            child.wait().await.expect("it ends")
        };
        let status = tokio::time::timeout(SOON, talk).await.unwrap_or_else(|_| panic!("does not end: {}", self.1));
        Ran::from(std::process::Output { status, stdout, stderr: Vec::new() })
    }

    /// Starts it and goes on.
    pub fn start(mut self) -> Going {
        let mut child = self.0.spawn().expect("the binary can be run");
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let heard = lines.clone();
        let reader = tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                heard.lock().expect("no panic").push(line);
            }
        });
        Going { child, lines, reader }
    }
}

/// A `jobctl start` that is under way; killed when dropped.
pub struct Going {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Going {
    /// What it has said so far.
    pub fn log(&self) -> Vec<String> {
        self.lines.lock().expect("no panic").clone()
    }

    /// How many lines of its log hold a text.
    pub fn count(&self, text: &str) -> usize {
        self.log().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until it has said something so many times.
    pub async fn says(&self, text: &str, times: usize) {
        let what = format!("{times} times `{text}`");
        let begun = std::time::Instant::now();
        while self.count(text) < times {
            assert!(begun.elapsed() < SOON, "never said {what}: {:#?}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends it a signal, by name.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it has not ended").to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().expect("kill can be run");
        assert!(sent.success());
    }

    /// Its resident memory, KiB.
    pub fn memory(&self) -> u64 {
        let pid = self.child.id().expect("it has not ended");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
        line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a number")
    }

    /// Whether it still works.
    pub fn works(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Waits for its end; gives its exit status (negative: the signal that killed it) and its log.
    pub async fn ends(mut self) -> (i32, Vec<String>) {
        use std::os::unix::process::ExitStatusExt;
        let status = tokio::time::timeout(SOON, self.child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("does not end: {:#?}", self.log())).expect("it ends");
        (&mut self.reader).await.expect("no panic");
        let code = status.code().or(status.signal().map(|signal| -signal)).expect("it has ended");
        (code, self.log())
    }
}

/// Runs `jobctl` as `account`.
pub async fn jobctl(db: &Db, account: &Account, arguments: &[&str]) -> Ran {
    Tool::new(db, account, arguments).run().await
}

/// Runs `jobctl` as `account`; it must succeed. Gives its standard output.
pub async fn good(db: &Db, account: &Account, arguments: &[&str]) -> String {
    let ran = jobctl(db, account, arguments).await;
    assert_eq!(ran.code, 0, "jobctl {arguments:?}: {ran:#?}");
    ran.stdout
}

/// Runs `jobctl` as `account`; it must fail with this exit code. Gives its standard error, one sentence and hints.
pub async fn bad(db: &Db, account: &Account, code: i32, arguments: &[&str]) -> String {
    let ran = jobctl(db, account, arguments).await;
    assert_eq!(ran.code, code, "jobctl {arguments:?}: {ran:#?}");
    assert_eq!(ran.stdout, "", "jobctl {arguments:?}: {ran:#?}");
    let mut lines = ran.stderr.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "jobctl {arguments:?}: {ran:#?}");
    assert!(lines.all(|line| line.starts_with("hint: ")), "jobctl {arguments:?}: {ran:#?}");
    ran.stderr
}

/// Runs `jobctl ... --output json` as `account`, and gives its rows.
pub async fn json(db: &Db, account: &Account, arguments: &[&str]) -> Vec<Value> {
    let text = good(db, account, &[&["--output", "json"], arguments].concat()).await;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}

/// Waits until this is the status word of a job of `account`; asks the view, since a process each time is slow.
pub async fn status(db: &Db, account: &Account, job: &str, word: &str) {
    let sql = format!(
        "SELECT COALESCE(MAX(status), 'none') FROM job_overview WHERE job_name = {} AND job_owner = {}",
        literal(job),
        literal(&account.user)
    );
    let mut admin = db.admin().await;
    wait_until(&format!("{job} is {word}"), SOON, async || admin.one(&sql).await == word).await;
}

/// `SCHEMA.PROCEDURE` for `--call`, of a procedure made by [`Db::body`].
pub fn call(db: &Db, procedure: &str) -> String {
    format!("{}.{procedure}", db.bodies())
}
