//! A terminal with a program on it: what it shows, and keys to type.

use std::ffi::OsStr;
use std::num::NonZero;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pty_process::{Command, OwnedWritePty, Size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::task::JoinHandle;

use super::tool::SOON;
use crate::each::wait_until;

/// A program on a terminal of its own, which is its controlling one; killed when dropped.
///
/// The program leads its session, so the system ignores Ctrl-Z for it: to be stopped, it has to be run by a shell with job control.
pub struct Terminal {
    child: Child,
    pid: u32,
    keys: OwnedWritePty,
    shown: Arc<Mutex<Shown>>,
    reader: JoinHandle<()>,
}

/// What the terminal got, and what it made of that.
struct Shown {
    raw: Vec<u8>,
    parser: vt100::Parser,
}

impl Terminal {
    /// Starts a program, with nothing of the environment's own settings; call it where a runtime is.
    pub fn start(columns: u16, rows: u16, program: impl AsRef<OsStr>, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let (pty, pts) = pty_process::open().expect("the system has terminals");
        pty.resize(Size::new(rows, columns)).expect("a size");
        let mut command = Command::new(program).args(arguments).kill_on_drop(true);
        for variable in ["MYSQL_PWD", "JOBCTL_URL", "NO_COLOR", "COLUMNS", "LINES"] {
            command = command.env_remove(variable);
        }
        command = command.env("TZ", "UTC").env("TERM", "xterm").env("SHELL", "/bin/sh").envs(env.iter().copied());
        let child = command.spawn(pts).expect("the program can be run");
        let pid = child.id().expect("it has not ended");
        let (mut output, keys) = pty.into_split();
        let [height, width] = [rows, columns].map(|size| NonZero::new(size).expect("a size"));
        let shown = Arc::new(Mutex::new(Shown { raw: Vec::new(), parser: vt100::Parser::new(height, width, 0) }));
        let seen = shown.clone();
        let reader = tokio::spawn(async move {
            let mut bytes = [0; 4096];
            // A terminal that nobody has open any more ends in an error, after the last byte.
            while let Ok(count @ 1..) = output.read(&mut bytes).await {
                let mut shown = seen.lock().expect("no panic");
                shown.raw.extend_from_slice(&bytes[..count]);
                shown.parser.process(&bytes[..count]);
            }
        });
        Self { child, pid, keys, shown, reader }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What is to be seen now; a line that the terminal had to wrap is one line.
    pub fn screen(&self) -> String {
        self.shown.lock().expect("no panic").parser.screen().contents()
    }

    /// All that the terminal was ever sent.
    pub fn raw(&self) -> Vec<u8> {
        self.shown.lock().expect("no panic").raw.clone()
    }

    /// Waits until a text is to be seen.
    pub async fn says(&self, text: &str) {
        let begun = std::time::Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < SOON, "never showed `{text}`:\n{}", self.screen());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Types keys, as the bytes that a terminal makes of them.
    pub async fn types(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).await.expect("a terminal");
    }

    /// Sends the program a signal, by name.
    pub fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill").args(["-s", name, &self.pid.to_string()]).status();
        assert!(sent.expect("kill can be run").success());
    }

    /// Waits for the program's end and its last output; gives its exit status (negative: the signal that killed it).
    pub async fn ends(&mut self) -> i32 {
        let status = tokio::time::timeout(SOON, self.child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("does not end:\n{}", self.screen())).expect("it ends");
        wait_until("nobody has the terminal open", SOON, async || self.reader.is_finished()).await;
        status.code().or(status.signal().map(|signal| -signal)).expect("it has ended")
    }
}
