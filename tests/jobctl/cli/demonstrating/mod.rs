//! `jobctl demo`: a shop on a server of its own, and nothing of it left, however it ended.

mod ends;
mod keeping;
mod kills;
mod programs;
mod surroundings;
mod terminals;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::terminal::Terminal;
use super::tool::{Going, SOON, Tool};
use crate::db::{Ran, stamp};
use crate::each::wait_until;
use crate::servers::{Server, startable};

pub(super) const JOBCTL: &str = env!("CARGO_BIN_EXE_jobctl");
/// How long it may take after a kill until nothing is left.
pub(super) const GONE: Duration = Duration::from_secs(15);
pub(super) const SUMMARY: &str = "The server is stopped, and nothing of it is left";

/// A TMPDIR of a demo's own, by which all that it starts is known.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new() -> Self {
        Self::named("")
    }

    /// One whose name ends so.
    pub(super) fn named(end: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("demo{}{end}", stamp()));
        fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }

    /// `jobctl demo` in here, without a terminal.
    pub(super) fn demo(&self, arguments: &[&str]) -> Tool {
        // A server that the environment names has nothing to do with it.
        let elsewhere = "mysql://nobody:wrong@127.0.0.1:1/none";
        Tool::bare(&[&["demo"], arguments].concat()).env("TMPDIR", self.path()).env("JOBCTL_URL", elsewhere)
    }

    /// `jobctl demo` in here, on a terminal.
    pub(super) fn on_terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(120, 30, JOBCTL, &[&["demo"], arguments].concat(), &[("TMPDIR", self.path())])
    }

    /// The numbers and command lines of all processes that were started with this TMPDIR, or name it.
    pub(super) fn processes(&self) -> Vec<Vec<String>> {
        let read = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let folders = fs::read_dir("/proc").expect("a Linux").flatten().map(|entry| entry.path());
        let ours = folders.filter_map(|folder| {
            let (line, environment) = (read(folder.join("cmdline")), read(folder.join("environ")));
            let number = folder.file_name()?.to_string_lossy().into_owned();
            (line.contains(self.path()) || environment.contains(self.path())).then_some(number + "\0" + &line)
        });
        ours.map(|line| line.split_terminator('\0').map(str::to_owned).collect()).collect()
    }

    /// The ports of its servers.
    pub(super) fn ports(&self) -> BTreeSet<u16> {
        let words = self.processes().into_iter().flatten();
        words.filter_map(|word| word.strip_prefix("--port=")?.parse().ok()).collect()
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).expect("our folder stays").map(|entry| entry.expect("a file").path()).collect()
    }

    /// Waits until a server of a demo that has been started makes its data, and gives its port.
    pub(super) async fn begins(&self) -> u16 {
        wait_until("a server begins", SOON, async || {
            self.files().iter().any(|folder| folder.join("initialise.log").exists()) && self.ports().len() == 1
        })
        .await;
        self.ports().pop_first().expect("one")
    }

    /// Waits until no process, no file and no listener is left.
    pub(super) async fn is_left(&self, ports: &[u16], deadline: Duration) {
        let left =
            || (self.processes(), self.files(), ports.iter().filter(|port| listens(**port).is_some()).collect::<Vec<_>>());
        let begun = std::time::Instant::now();
        loop {
            let left = left();
            if left == Default::default() {
                return;
            }
            assert!(begun.elapsed() < deadline, "after {deadline:?} this is left: {left:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Nothing is left now, without a wait.
    pub(super) async fn is_clean(&self, ports: &[u16]) {
        self.is_left(ports, Duration::ZERO).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // After a failure, what should have gone by itself.
        for process in self.processes() {
            let _ = std::process::Command::new("kill").args(["-KILL", &process[0]]).status();
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The address, as Linux writes it, on which somebody listens on a port.
pub(super) fn listens(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines());
    let mut found = lines.filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (address, state) = (words.next()?, words.nth(1)?);
        (state == "0A" && address.ends_with(&format!(":{port:04X}"))).then(|| address.to_owned())
    });
    found.next()
}

/// The folder that `tests/servers` unpacked a server into.
pub(super) fn root(server: &Server) -> String {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(target).join("servers").join(&server.name).join("root");
    root.to_str().expect("UTF-8").to_owned()
}

/// Runs a test on the server that starts fastest, if there is one that can be started.
pub(super) fn fast<F, T>(test: F)
where
    F: Fn(String) -> T,
    T: Future<Output = ()>,
{
    let Some(server) = startable().max_by_key(|server| &server.name == "mariadb-11.8") else {
        eprintln!("NOT RUN, it starts a server of its own, and JOBCTL_TEST_SERVERS names none that can be");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(test(root(server)));
}

/// Runs a command to its end.
pub(super) async fn run(command: &mut Command) -> Ran {
    let output = command.env_remove("JOBCTL_URL").stdin(Stdio::null()).kill_on_drop(true).output();
    Ran::from(tokio::time::timeout(SOON, output).await.expect("it ends").expect("it can be run"))
}

/// A program of this name, in a folder with what makes a server of it, that runs these lines of `sh`.
pub(super) fn pretend(place: &Place, lines: &str) -> String {
    let program = place.0.join("bin/mysqld");
    for folder in ["bin", "share/english"] {
        fs::create_dir_all(place.0.join(folder)).expect("a folder");
    }
    fs::write(place.0.join("share/english/errmsg.sys"), "").expect("a file");
    let version = "case $* in *--version) echo 'mysqld  Ver 9.9.9 for Linux'; exit;; esac";
    fs::write(&program, format!("#!/bin/sh\n{version}\n{lines}\n")).expect("a file");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a mode");
    program.to_str().expect("UTF-8").to_owned()
}

/// What a demo printed that has come to its end in good order.
pub(super) fn ended_well(code: i32, log: &str) {
    assert_eq!(code, 0, "{log}");
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(last, SUMMARY, "{log}");
}

/// What a demo printed on stderr that failed.
pub(super) fn failed(ran: &Ran, code: i32, told: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:#?}");
    let error = ran.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.contains(told) && ran.stderr.lines().any(|line| line.starts_with("hint: ")), "not `{told}`: {ran:#?}");
}

/// Waits until a job has run.
pub(super) async fn runs(demo: &Going) {
    demo.says("visits: run ok", 1).await;
}
