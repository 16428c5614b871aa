//! `jobctl status --watch`: a screen that is redrawn in place, its keys, and a terminal that is left as it was.

mod giving_back;
mod keys;
mod layout;
mod lost_server;
mod odd_names;
mod without_terminal;

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::time::Duration;

use tokio::runtime::Builder;

use super::terminal::Terminal;
use super::tool::SOON;
use crate::db::{Account, Db};
use crate::each::wait_until;
use crate::servers;
use crate::session::Session;

pub(super) const JOBCTL: &str = env!("CARGO_BIN_EXE_jobctl");
pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (200, 50), (40, 12)];
pub(super) const KEYS: &str = "q quit   ↑ ↓ choose   p pause or resume";
/// A frame ends with it: what was sent by then belongs together.
const END_OF_FRAME: &[u8] = b"\x1b[?2026l";

/// `jobctl status --watch` on a terminal, and how that was set before.
pub(super) struct Watching {
    pub(super) terminal: Terminal,
    size: (u16, u16),
    pub(super) device: String,
    pub(super) before: String,
    /// How many bytes belong to a size that the terminal has no more.
    pub(super) past: usize,
    /// How often the terminal has told where its cursor is; `None`: it never does.
    pub(super) told: Option<usize>,
}

impl Watching {
    /// Starts it, and waits for the first screen.
    pub(super) async fn start(db: &Db, account: &Account, size: (u16, u16), more: &[&str], env: &[(&str, &str)]) -> Self {
        let mut watching = Self::run(&db.url(account), size, more, env).await;
        watching.shows("a screen", |screen| screen.last() == KEYS).await;
        watching
    }

    /// Starts it; it leads the session, as the shell before it did.
    pub(super) async fn run(url: &str, size: (u16, u16), more: &[&str], env: &[(&str, &str)]) -> Self {
        let first = ["-c", "tty; stty -g; exec \"$@\"", "sh", JOBCTL, "--url", url, "status", "--watch"];
        let terminal = Terminal::start(size.0, size.1, "sh", &[&first, more].concat(), env);
        wait_until("two lines of the shell", SOON, async || count(&terminal.raw(), b"\n") >= 2).await;
        let raw = terminal.raw();
        let mut lines = std::str::from_utf8(&raw).expect("UTF-8").lines().map(|line| line.trim().to_owned());
        let [device, before] = [lines.next(), lines.next()].map(|line| line.expect("two lines"));
        Self { terminal, size, device, before, past: 0, told: Some(0) }
    }

    /// What is to be seen after the last whole frame.
    pub(super) fn screen(&self) -> Screen {
        let raw = self.terminal.raw();
        let end = raw.windows(END_OF_FRAME.len()).rposition(|bytes| bytes == END_OF_FRAME).unwrap_or(0);
        Screen::of(&raw[self.past.min(end)..end], self.size)
    }

    /// Waits until the screen is as it should be.
    pub(super) async fn shows(&mut self, what: &str, condition: impl Fn(&Screen) -> bool) {
        let begun = std::time::Instant::now();
        loop {
            self.answers().await;
            let screen = self.screen();
            if condition(&screen) {
                return;
            }
            assert!(
                self.lives() && begun.elapsed() < SOON,
                "never shows {what}: {:#?}\n{}",
                screen.lines,
                self.terminal.screen()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(super) async fn types(&mut self, keys: &str) {
        self.terminal.types(keys.as_bytes()).await;
    }

    /// Types keys, and waits until a job is the chosen one.
    pub(super) async fn chooses(&mut self, keys: &str, job: &str) {
        self.types(keys).await;
        self.shows(&format!("`{job}` chosen after {keys:?}"), |screen| screen.chosen().starts_with(job)).await;
    }

    pub(super) fn frames(&self) -> usize {
        count(&self.terminal.raw(), END_OF_FRAME)
    }

    /// What `stty` says of the terminal.
    pub(super) fn settings(&self, how: &[&str]) -> String {
        let output = Command::new("stty").args(["-F", &self.device]).args(how).output().expect("stty can be run");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(super) fn resizes(&mut self, size: (u16, u16)) {
        (self.past, self.size) = (self.terminal.raw().len(), size);
        self.settings(&["cols", &size.0.to_string(), "rows", &size.1.to_string()]);
    }

    /// Tells where the cursor is, as most terminals do, if that was asked.
    async fn answers(&mut self) {
        while let Some(told) = self.told.filter(|told| *told < count(&self.terminal.raw(), b"\x1b[6n")) {
            self.types("\x1b[1;1R").await;
            self.told = Some(told + 1);
        }
    }

    /// Its state, as the system has it: `Z` is the end of it.
    fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.terminal.pid())).unwrap_or_default();
        stat.rsplit_once(") ").and_then(|(_, state)| state.chars().next()).unwrap_or('Z')
    }

    fn lives(&self) -> bool {
        self.state() != 'Z'
    }

    pub(super) async fn stops(&self) {
        wait_until("it is stopped", SOON, async || {
            assert!(self.lives(), "{}", self.terminal.screen());
            self.state() == 'T'
        })
        .await;
    }

    /// The other screen left, the cursor to be seen, keys for the shell.
    pub(super) async fn gave_the_terminal_back(&self, settings: &str) {
        assert!(count(&self.terminal.raw(), b"\x1b[?1049h") > 0, "it had a screen of its own");
        // The last bytes of a process that is stopped may be on their way.
        wait_until("the screen of the shell, with a cursor", SOON / 4, async || {
            let screen = Screen::of(&self.terminal.raw(), self.size);
            !screen.alternate && !screen.hidden
        })
        .await;
        assert_eq!(self.settings(&["-g"]), settings);
    }

    /// Waits for its end; gives its exit status.
    pub(super) async fn ends(&mut self) -> i32 {
        let begun = std::time::Instant::now();
        while self.lives() {
            assert!(begun.elapsed() < SOON, "does not end:\n{}", self.terminal.screen());
            self.answers().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.terminal.ends().await
    }

    /// Ends it by a key.
    pub(super) async fn quits(mut self) {
        self.types("q").await;
        assert_eq!(self.ends().await, 0, "{}", self.terminal.screen());
        let before = self.before.clone();
        self.gave_the_terminal_back(&before).await;
    }
}

/// What a terminal of some size makes of bytes.
pub(super) struct Screen {
    pub(super) lines: Vec<String>,
    /// Which lines are in reverse.
    pub(super) reversed: Vec<usize>,
    pub(super) alternate: bool,
    pub(super) hidden: bool,
    pub(super) shown: vt100::Screen,
}

impl Screen {
    fn of(bytes: &[u8], (columns, rows): (u16, u16)) -> Self {
        let some = |count| NonZeroU16::new(count).expect("a size");
        let mut parser = vt100::Parser::new(some(rows), some(columns), 0);
        parser.process(bytes);
        let screen = parser.screen();
        let reversed = (0..rows).filter(|row| screen.cell(*row, 0).is_some_and(vt100::Cell::inverse));
        Self {
            lines: screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect(),
            reversed: reversed.map(usize::from).collect(),
            alternate: screen.alternate_screen(),
            hidden: screen.hide_cursor(),
            shown: screen.clone(),
        }
    }

    pub(super) fn last(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }

    /// The one job that is chosen; the whole text where it is not exactly one.
    pub(super) fn chosen(&self) -> &str {
        if let [row] = self.reversed[..] { &self.lines[row] } else { "" }
    }

    /// The rows of jobs.
    pub(super) fn jobs(&self) -> &[String] {
        let end = self.lines.iter().skip(3).position(String::is_empty).map_or(self.lines.len(), |end| end + 3);
        &self.lines[3..end]
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

pub(super) fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|bytes| *bytes == part).count()
}

/// Bob, with jobs that are not run.
pub(super) async fn jobs(db: &Db, names: &[&str]) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    let mut session = db.login(&bob).await;
    for job in names {
        session.define(db, job, "hello", "3600", "").await;
    }
    (bob, session)
}

/// Runs a test of what is only drawn, typed or set at the terminal, on one server: the answers of each are the same, and what
/// differs between them is the matter of the other tests. It is the fastest one, MariaDB 11.8, where that is among them.
pub(super) fn on_one<F, T>(test: F)
where
    F: FnOnce(Db) -> T,
    T: Future<Output = ()>,
{
    let server = servers::all().iter().max_by_key(|server| server.name == "mariadb-11.8").expect("there is one");
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let name = std::thread::current().name().unwrap_or("watching").to_owned();
    let db = runtime.block_on(Db::installed(server, &name));
    let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(test(db.clone()))));
    if ended.is_ok() || std::env::var_os("JOBCTL_TEST_KEEP").is_none() {
        runtime.block_on(db.remove());
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended.unwrap_or_else(|panic| resume_unwind(panic));
}
