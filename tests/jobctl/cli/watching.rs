//! `jobctl status --watch`: a screen that is redrawn in place, its keys, and a terminal that is left as it was.

use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::terminal::Terminal;
use super::tool::{SOON, Tool, bad, status};
use crate::db::{Account, Db};
use crate::each::{each, each_private, join, wait_until};
use crate::servers::Private;
use crate::session::{Session, literal};

const JOBCTL: &str = env!("CARGO_BIN_EXE_jobctl");
const SIZES: [(u16, u16); 3] = [(80, 24), (200, 50), (40, 12)];
const KEYS: &str = "q quit   ↑ ↓ choose   p pause or resume";
/// A frame ends with it: what was sent by then belongs together.
const END_OF_FRAME: &[u8] = b"\x1b[?2026l";
/// What would make a terminal obey.
const EVIL: &str = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{8}\r\u{7f}\u{9b}31m\nsecond line\tend";

/// `jobctl status --watch` on a terminal, and how that was set before.
struct Watching {
    terminal: Terminal,
    size: (u16, u16),
    device: String,
    before: String,
    /// How many bytes belong to a size that the terminal has no more.
    past: usize,
    /// How often the terminal has told where its cursor is; `None`: it never does.
    told: Option<usize>,
}

impl Watching {
    /// Starts it, and waits for the first screen.
    async fn start(db: &Db, account: &Account, size: (u16, u16), more: &[&str], env: &[(&str, &str)]) -> Self {
        let mut watching = Self::run(&db.url(account), size, more, env).await;
        watching.shows("a screen", |screen| screen.last() == KEYS).await;
        watching
    }

    /// Starts it; it leads the session, as the shell before it did.
    async fn run(url: &str, size: (u16, u16), more: &[&str], env: &[(&str, &str)]) -> Self {
        let first = ["-c", "tty; stty -g; exec \"$@\"", "sh", JOBCTL, "--url", url, "status", "--watch"];
        let terminal = Terminal::start(size.0, size.1, "sh", &[&first, more].concat(), env);
        wait_until("two lines of the shell", SOON, async || count(&terminal.raw(), b"\n") >= 2).await;
        let raw = terminal.raw();
        let mut lines = std::str::from_utf8(&raw).expect("UTF-8").lines().map(|line| line.trim().to_owned());
        let [device, before] = [lines.next(), lines.next()].map(|line| line.expect("two lines"));
        Self { terminal, size, device, before, past: 0, told: Some(0) }
    }

    /// What is to be seen after the last whole frame.
    fn screen(&self) -> Screen {
        let raw = self.terminal.raw();
        let end = raw.windows(END_OF_FRAME.len()).rposition(|bytes| bytes == END_OF_FRAME).unwrap_or(0);
        Screen::of(&raw[self.past.min(end)..end], self.size)
    }

    /// Waits until the screen is as it should be.
    async fn shows(&mut self, what: &str, condition: impl Fn(&Screen) -> bool) {
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

    async fn types(&mut self, keys: &str) {
        self.terminal.types(keys.as_bytes()).await;
    }

    /// Types keys, and waits until a job is the chosen one.
    async fn chooses(&mut self, keys: &str, job: &str) {
        self.types(keys).await;
        self.shows(&format!("`{job}` chosen after {keys:?}"), |screen| screen.chosen().starts_with(job)).await;
    }

    fn frames(&self) -> usize {
        count(&self.terminal.raw(), END_OF_FRAME)
    }

    /// What `stty` says of the terminal.
    fn settings(&self, how: &[&str]) -> String {
        let output = Command::new("stty").args(["-F", &self.device]).args(how).output().expect("stty can be run");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn resizes(&mut self, size: (u16, u16)) {
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

    async fn stops(&self) {
        wait_until("it is stopped", SOON, async || {
            assert!(self.lives(), "{}", self.terminal.screen());
            self.state() == 'T'
        })
        .await;
    }

    /// The other screen left, the cursor to be seen, keys for the shell.
    async fn gave_the_terminal_back(&self, settings: &str) {
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
    async fn ends(&mut self) -> i32 {
        let begun = std::time::Instant::now();
        while self.lives() {
            assert!(begun.elapsed() < SOON, "does not end:\n{}", self.terminal.screen());
            self.answers().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.terminal.ends().await
    }

    /// Ends it by a key.
    async fn quits(mut self) {
        self.types("q").await;
        assert_eq!(self.ends().await, 0, "{}", self.terminal.screen());
        let before = self.before.clone();
        self.gave_the_terminal_back(&before).await;
    }
}

/// What a terminal of some size makes of bytes.
struct Screen {
    lines: Vec<String>,
    /// Which lines are in reverse.
    reversed: Vec<usize>,
    alternate: bool,
    hidden: bool,
    shown: vt100::Screen,
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

    fn last(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }

    /// The one job that is chosen; the whole text where it is not exactly one.
    fn chosen(&self) -> &str {
        if let [row] = self.reversed[..] { &self.lines[row] } else { "" }
    }

    /// The rows of jobs.
    fn jobs(&self) -> &[String] {
        let end = self.lines.iter().skip(3).position(String::is_empty).map_or(self.lines.len(), |end| end + 3);
        &self.lines[3..end]
    }

    fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|bytes| *bytes == part).count()
}

/// Bob, with jobs that are not run.
async fn jobs(db: &Db, names: &[&str]) -> (Account, Session) {
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    let mut session = db.login(&bob).await;
    for job in names {
        session.define(db, job, "hello", "3600", "").await;
    }
    (bob, session)
}

async fn drop_job(session: &mut Session, job: &str) {
    session.row(&format!("CALL job$drop({}, NULL)", literal(job))).await;
}

#[test]
fn a_screen_of_any_size_has_its_parts_and_nothing_is_sent_twice_while_only_clocks_move() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["still"]).await;
        session.define(&db, "tick", "hello", "59", r#", "description": "for the clocks""#).await;
        let _runner = db.runner(&bob, "tick").await;
        status(&db, &bob, "tick", "SLEEPING").await;
        let check = async |size: (u16, u16)| {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.chooses("j", "tick").await;
            watching.shows("its details", |screen| screen.has("tick calls")).await;
            let screen = watching.screen();
            let (lines, title) = (&screen.lines, "jobctl status of `");
            assert_eq!(lines.len(), usize::from(size.1), "{lines:#?}");
            assert!(screen.alternate && screen.hidden && lines[0].starts_with(title), "{lines:#?}");
            assert!(lines[1].is_empty() && lines[2].starts_with("name ") && lines[2].contains("status"), "{lines:#?}");
            assert!(lines[3].starts_with("still ") && lines[4].starts_with("tick ") && lines[5].is_empty(), "{lines:#?}");
            assert!(lines[4].contains("SLEEPING") && lines[6].starts_with("tick calls"), "{lines:#?}");
            assert_eq!((screen.last(), &screen.reversed[..]), (KEYS, &[4][..]));
            for row in &lines[2..5] {
                assert_eq!(row.contains("owner") || row.contains("bob"), size.0 >= 80, "{lines:#?}");
            }

            let (sent, frames) = (watching.terminal.raw().len(), watching.frames());
            watching.shows("clocks that move", |now| now.lines[3..] != lines[3..]).await;
            wait_until("frames", SOON, async || watching.frames() >= frames + 8).await;
            let sent = watching.terminal.raw()[sent..].to_vec();
            let text = String::from_utf8_lossy(&sent);
            for unchanged in ["\u{1b}[2J", "\u{1b}[J", "jobctl", "name", "still", "tick", "SLEEP", "calls", "last", "quit"] {
                assert!(!text.contains(unchanged), "{size:?}: {unchanged} in {text:?}");
            }
            watching.quits().await;
        };
        join(SIZES.map(check).into()).await;
    });
}

#[test]
fn three_lines_tell_about_the_chosen_job_at_every_size() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b"]).await;
        for size in SIZES {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.chooses("j", "b").await;
            watching.shows("what it is", |screen| screen.lines[6].starts_with("b calls ")).await;
            let lines = watching.screen().lines;
            watching.quits().await;
            assert!(lines[7].starts_with("last run: none") && lines[8].starts_with("next run: "), "{size:?}: {lines:#?}");
        }
    });
}

#[test]
fn keys_move_through_a_hundred_jobs_and_the_chosen_one_is_always_to_be_seen() {
    each(|db| async move {
        let names: Vec<_> = (0..100).map(|job| format!("job {job:02}")).collect();
        let (bob, _) = jobs(&db, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        for size in [(80, 24), (40, 12)] {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            let rows = watching.screen().jobs().len();
            assert!(rows >= usize::from(size.1) / 3, "{rows} rows of {size:?}");
            let part = |first: usize| format!(" {first}-{} of 100", first + rows - 1);
            let page = |job: usize| format!("job {job:02}");
            for (keys, job, first) in [
                ("", page(0), 1),
                ("\x1b[B", page(1), 1),
                ("j", page(2), 1),
                ("\x1b[A", page(1), 1),
                ("k", page(0), 1),
                // There is nothing above the first, and nothing behind keys that mean nothing.
                ("k\x1b[A\x1b[5~", page(0), 1),
                ("xX9\t\r\x1b[C\x1b[D\x1b[15~ä🚀j", page(1), 1),
                ("k\x1b[6~", page(rows), 2),
                ("\x1b[6~", page(2 * rows), rows + 2),
                ("\x1b[5~", page(rows), rows + 1),
                ("\x1b[F", page(99), 101 - rows),
                ("j\x1b[B\x1b[6~", page(99), 101 - rows),
                ("\x1b[H", page(0), 1),
                ("\x1bOF", page(99), 101 - rows),
                ("\x1bOH", page(0), 1),
                ("\x1b[4~", page(99), 101 - rows),
                ("\x1b[1~", page(0), 1),
                ("G", page(99), 101 - rows),
                ("g", page(0), 1),
                (&"j".repeat(50), page(50), 52 - rows),
                (&"\x1b[A".repeat(20), page(30), 31.min(52 - rows)),
            ] {
                watching.types(keys).await;
                let there = |screen: &Screen| screen.chosen().starts_with(&job) && screen.lines[0].ends_with(&part(first));
                watching.shows(&format!("`{job}` in{} after {keys:?} at {size:?}", part(first)), there).await;
                watching.shows("what it is", |screen| screen.has(&format!("{job} calls "))).await;
            }
            watching.quits().await;
        }
    });
}

#[test]
fn p_pauses_and_resumes_the_chosen_job_or_says_why_not() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a", "b", "off"]).await;
        session.row("CALL job$disable('off', NULL)").await;
        let mut admin = db.admin().await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        watching.chooses("j", "b").await;
        for (key, word, message) in
            [("p", "PAUSED", "`b` is PAUSED, was ENABLED"), ("P", "ENABLED", "`b` is ENABLED, was PAUSED")]
        {
            watching.types(key).await;
            watching.shows(message, |screen| screen.last() == message).await;
            // The next look brings the row after the message; only then is the key about the new state.
            watching.shows(word, |screen| screen.lines[4].contains(word)).await;
            let states = admin.rows("SELECT job_name, status FROM job_overview ORDER BY job_name").await;
            assert_eq!(states, [["a", "ENABLED"], ["b", word], ["off", "DISABLED"]]);
        }
        watching.chooses("j", "off").await;
        watching.types("p").await;
        let refused = "`off` is DISABLED; only an ENABLED one can be paused";
        watching.shows(refused, |screen| screen.last() == refused).await;
        assert_eq!(admin.one("SELECT status FROM job_overview WHERE job_name = 'off'").await, "DISABLED");
        // A message goes, the keys come back.
        watching.shows("the keys again", |screen| screen.last() == KEYS).await;
        watching.quits().await;

        // The administrator sees everybody's jobs, and may not touch them.
        let mut watching = Watching::start(&db, &db.root(), (80, 24), &["a"], &[]).await;
        watching.types("p").await;
        watching.shows("whose it is not", |screen| screen.last() == "you own no job named `a`").await;
        watching.quits().await;
    });
}

#[test]
fn jobs_come_and_go_and_the_chosen_one_stays_chosen() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a", "c", "e"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        let mut named = Watching::start(&db, &bob, (200, 50), &["e", "c"], &[]).await;
        assert!(named.screen().jobs()[0].starts_with("e ") && named.screen().jobs()[1].starts_with("c "));
        watching.chooses("j", "c ").await;
        session.define(&db, "b", "hello", "3600", "").await;
        watching.shows("one more above it", |screen| screen.chosen().starts_with("c ") && screen.reversed == [5]).await;
        drop_job(&mut session, "a").await;
        watching.shows("one less above it", |screen| screen.chosen().starts_with("c ") && screen.reversed == [4]).await;
        named.chooses("j", "c ").await;
        drop_job(&mut session, "c").await;
        watching.shows("another chosen", |screen| screen.chosen().starts_with("e ") && screen.jobs().len() == 2).await;
        watching.shows("what that is", |screen| screen.has("e calls ")).await;
        // Of those named one is not there, for a while.
        named.shows("what is missing", |screen| screen.last().contains("no job named `c`")).await;
        session.define(&db, "c", "hello", "7200", "").await;
        named.shows("all of them", |screen| screen.last() == KEYS && screen.has("every 2h")).await;
        named.quits().await;
        for job in ["b", "c", "e"] {
            drop_job(&mut session, job).await;
        }
        watching.shows("no job", |screen| screen.jobs().is_empty() && screen.reversed.is_empty()).await;
        // Keys that need a job do nothing; then there is one again.
        watching.types("jkpGg\x1b[6~").await;
        session.define(&db, "z", "hello", "3600", "").await;
        watching.shows("the new one", |screen| screen.chosen().starts_with("z ")).await;
        watching.quits().await;
    });
}

#[test]
fn odd_names_and_texts_break_no_line_and_reach_no_terminal_as_control_characters() {
    each(|db| async move {
        let (letters, accents) = ("n".repeat(129), "é".repeat(128) + "🐬");
        let names = ["plain", "🚀 grüße", "日本語の仕事", "e\u{301}te\u{301}", "x\" `y` $z", &letters, &accents];
        let (bob, mut session) = jobs(&db, &names).await;
        let text = "CONCAT('a', CHAR(27), '[2J', CHAR(7), CHAR(13), CHAR(10), 'second line')";
        let body = format!("BEGIN DECLARE m VARCHAR(99) DEFAULT {text}; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = m; END");
        db.body("fails", &body).await;
        let more = format!(r#", "max_failures": 1, "description": {}"#, serde_json::json!(EVIL));
        session.define(&db, "evil", "fails", "0.1", &more).await;
        db.runner(&bob, "evil").await.message().await;
        for size in SIZES {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            let mut seen = Vec::new();
            for _ in 0..names.len() + 1 {
                let screen = watching.screen();
                // Nothing in the names before that column is of another width than the terminal has it.
                let column = screen.lines[2].find("status").and_then(|column| u16::try_from(column).ok()).expect("a column");
                let mut states = screen.shown.rows(column, size.0 - column).skip(3).take(screen.jobs().len());
                let good = |state: String| state.starts_with("ENABLED") || state.starts_with("ERROR");
                assert!(states.all(good), "{:#?}", screen.lines);
                assert_eq!(screen.last(), KEYS, "{:#?}", screen.lines);
                assert!(screen.lines[0].starts_with("jobctl status of `") && screen.lines[1].is_empty(), "{:#?}", screen.lines);
                seen.push(screen.chosen().to_owned());
                watching.types("j").await;
                let moved = |now: &Screen| now.chosen() != screen.chosen() || seen.len() > names.len();
                watching.shows("the next one", moved).await;
            }
            assert!(seen.iter().any(|row| row.starts_with("🚀 grüße ")), "{seen:#?}");
            watching.chooses("g", "evil").await;
            watching.shows("its error", |screen| screen.has("evil calls ") && screen.has("last run: error at ")).await;
            let raw = String::from_utf8(watching.terminal.raw()).expect("UTF-8");
            // Where there is room for it, it is there; the terminal of these tests leaves out what stands for a control character.
            assert!(size.0 < 80 || raw.contains("a\u{fffd}[2J"), "{raw:?}");
            assert!(size.0 < 200 || raw.contains("\u{fffd}]0;t\u{fffd}"), "{raw:?}");
            watching.quits().await;
            harmless(raw.splitn(3, '\n').last().expect("more than what the shell said"));
        }
    });
}

/// Nothing but text, and what moves the cursor, sets colours or switches modes; the screen is cleared at most once.
fn harmless(sent: &str) {
    assert!(sent.matches("\u{1b}[2J").count() <= 1, "{sent:?}");
    for (at, part) in sent.split('\u{1b}').enumerate() {
        let text = match part.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("a sequence ends");
                assert!("HmhlJ".contains(&sequence[end..=end]), "{sequence:?}");
                &sequence[end + 1..]
            }
            None => part,
        };
        assert!(at == 0 || part.starts_with('['), "{part:?}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

#[test]
fn names_of_characters_that_are_joined_are_cut() {
    each(|db| async move {
        let hearts = "❤\u{fe0f}".repeat(64);
        let family = "👩\u{200d}👩\u{200d}👧".repeat(25);
        let (shifted, flags) = (format!("a{hearts}"), "🇩🇪".repeat(64));
        let (bob, _) = jobs(&db, &[&hearts, &shifted, &family, &flags, "plain"]).await;
        for size in SIZES {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.shows("all of them", |screen| screen.jobs().len() == 5 && screen.has("plain")).await;
            watching.quits().await;
        }
    });
}

#[test]
fn a_terminal_that_changes_its_size_is_filled_anew() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b", "c"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        for size in [(40, 12), (200, 50), (20, 6), (1, 1), (2, 3), (80, 24)] {
            watching.resizes(size);
            if size.0 >= 20 {
                let keys: String = KEYS.chars().take(usize::from(size.0) - 2).collect();
                let whole = |screen: &Screen| {
                    let (title, rows) = (screen.lines[0].as_str(), screen.jobs());
                    let part = if size.1 < 12 { rows.len() == 1 && title.ends_with(" 1-1 of 3") } else { rows.len() == 3 };
                    part && title.starts_with("jobctl st") && screen.last().starts_with(&keys) && rows[0].starts_with("a ")
                };
                watching.shows(&format!("all of it at {size:?}"), whole).await;
            } else {
                let frames = watching.frames();
                wait_until("it goes on", SOON, async || watching.frames() > frames + 1).await;
            }
        }
        watching.chooses("j", "b").await;
        watching.quits().await;
    });
}

#[test]
fn every_end_leaves_the_terminal_as_it_was() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let ends = [("q", 0), ("Q", 0), ("\x1b", 0), ("\x03", 130), ("TERM", 143), ("INT", 130), ("HUP", 143), ("QUIT", 143)];
        let check = async |(how, code): (&str, i32)| {
            let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
            assert_ne!(watching.settings(&["-g"]), watching.before, "keys are for us");
            if how.len() > 1 {
                watching.terminal.signal(how);
            } else {
                watching.types(how).await;
            }
            assert_eq!(watching.ends().await, code, "{how:?}: {}", watching.terminal.screen());
            watching.gave_the_terminal_back(&watching.before).await;
            assert_eq!(
                watching.terminal.screen().contains("ended by SIG"),
                code != 0,
                "{how:?}: {}",
                watching.terminal.screen()
            );
        };
        join(ends.map(check).into()).await;
    });
}

#[test]
fn stopped_it_gives_the_terminal_back_and_continued_it_takes_it_again() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b", "c"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        let mut settings = watching.before.clone();
        for (how, job) in [("\x1a", "b"), ("TSTP", "c"), ("\x1a", "c")] {
            if how.len() > 1 {
                watching.terminal.signal(how);
            } else {
                watching.types(how).await;
            }
            watching.stops().await;
            watching.gave_the_terminal_back(&settings).await;
            // A shell may do what it likes; that is what the terminal is left at in the end.
            watching.settings(&[if how.len() > 1 { "ixon" } else { "-ixon" }]);
            settings = watching.settings(&["-g"]);
            watching.past = watching.terminal.raw().len();
            watching.terminal.signal("CONT");
            let whole =
                |screen: &Screen| screen.alternate && screen.hidden && screen.last() == KEYS && screen.jobs().len() == 3;
            watching.shows("all of it again", whole).await;
            assert!(watching.settings(&["-a"]).contains("-icanon"), "{}", watching.settings(&["-a"]));
            watching.chooses("j", job).await;
        }
        watching.types("q").await;
        assert_eq!(watching.ends().await, 0);
        watching.gave_the_terminal_back(&settings).await;
    });
}

#[test]
fn it_takes_the_terminal_again_without_an_answer_of_the_terminal() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        watching.told = None;
        // What another program has left on the screen goes by Ctrl-L.
        let spoil = std::fs::OpenOptions::new().write(true).open(&watching.device).expect("a terminal");
        std::io::Write::write_all(&mut &spoil, b"\x1b[Hsomebody else").expect("a terminal");
        drop(spoil);
        watching.shows("what is not its own", |screen| screen.lines[0].starts_with("somebody else")).await;
        watching.types("\x0c").await;
        watching.shows("its title again", |screen| screen.lines[0].starts_with("jobctl status")).await;
        watching.types("\x1a").await;
        watching.stops().await;
        watching.past = watching.terminal.raw().len();
        watching.terminal.signal("CONT");
        watching.shows("its title again", |screen| screen.lines[0].starts_with("jobctl status")).await;
        watching.chooses("j", "b").await;
        watching.quits().await;
    });
}

#[test]
fn a_server_that_was_killed_and_comes_back_is_watched_again() {
    each_private(|server| async move {
        let mut private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "watching").await;
        let (bob, session) = jobs(&db, &["a", "b"]).await;
        let mut watching = Watching::start(&db, &bob, (120, 24), &[], &[]).await;
        let printing = Printing::start(&db, &bob, &[]);
        printing.says("\na ", 1).await;
        private.stop(true);
        drop(session);
        watching.shows("what is wrong", |screen| screen.last().starts_with("trying again: ")).await;
        // What was seen last stays, and so do the keys.
        watching.chooses("j", "b").await;
        assert_eq!(watching.screen().jobs().len(), 2);
        watching.types("p").await;
        watching.shows("why not", |screen| screen.last().starts_with("cannot connect to ")).await;
        private.restart(&[]);
        watching.shows("the keys again", |screen| screen.last() == KEYS).await;
        db.login(&bob).await.define(&db, "c", "hello", "3600", "").await;
        watching.shows("the new job", |screen| screen.chosen().starts_with("b ") && screen.jobs().len() == 3).await;
        watching.quits().await;
        printing.says("\nc ", 1).await;
        let (code, stdout, stderr) = printing.ends("INT").await;
        assert_eq!((code, stdout.matches("name ").count()), (130, 2), "{stdout}{stderr}");
        assert_eq!(stderr.matches("trying again: ").count(), 1, "{stderr}");
    });
}

#[test]
fn colours_are_for_a_terminal_that_wants_them() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a"]).await;
        session.row("CALL job$pause('a', NULL)").await;
        session.define(&db, "b", "hello", "3600", "").await;
        session.row("CALL job$pause('b', NULL)").await;
        for (env, colours) in
            [(&[][..], true), (&[("NO_COLOR", "1")], false), (&[("NO_COLOR", "")], true), (&[("TERM", "dumb")], false)]
        {
            let mut watching = Watching::start(&db, &bob, (80, 24), &[], env).await;
            watching.types("p").await;
            watching.shows("a message", |screen| screen.last() == "`a` is ENABLED, was PAUSED").await;
            let raw = String::from_utf8(watching.terminal.raw()).expect("UTF-8");
            watching.quits().await;
            session.row("CALL job$pause('a', NULL)").await;
            let styles = raw.split("\u{1b}[").filter_map(|part| part.split_once('m').map(|(style, _)| style));
            let numbers = styles.flat_map(|style| style.split(';')).filter_map(|number| number.parse::<u8>().ok());
            let coloured = numbers.into_iter().any(|number| matches!(number, 30..=38 | 40..=48 | 90..=107));
            assert_eq!(coloured, colours, "{env:?}: {raw:?}");
        }
    });
}

/// `jobctl status --watch` without a terminal.
struct Printing {
    child: tokio::process::Child,
    stdout: Arc<Mutex<String>>,
}

impl Printing {
    fn start(db: &Db, account: &Account, more: &[&str]) -> Self {
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

    async fn says(&self, text: &str, times: usize) {
        let what = format!("{times} times `{text}`");
        wait_until(&what, SOON, async || self.text().matches(text).count() >= times).await;
    }

    /// Ends it by a signal; gives its exit status and all it has printed.
    async fn ends(mut self, signal: &str) -> (i32, String, String) {
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

#[test]
fn data_for_programs_is_never_drawn() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let mut watching = Watching::run(&db.url(&bob), (80, 24), &["--output", "json"], &[]).await;
        watching.terminal.says("\"job_name\":\"a\"").await;
        assert_eq!(watching.settings(&["-g"]), watching.before);
        // Keys are the system's: this one is a signal.
        watching.types("\x03").await;
        assert_eq!(watching.ends().await, 130);
        assert_eq!(count(&watching.terminal.raw(), b"\x1b["), 0, "{}", watching.terminal.screen());
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
    let ended = tokio::time::timeout(Duration::from_secs(10), child.wait_with_output()).await;
    let _ = Command::new("kill").args(["-s", "KILL", "--", &group]).stderr(Stdio::null()).status();
    let output = ended.expect("it ends within 10 s").expect("bash can be run");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn a_reader_that_leaves_ends_it_at_the_next_change() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a"]).await;
        for (format, first) in [("table", "name "), ("json", "["), ("csv", "job_id,")] {
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
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let (code, stdout, stderr) = into_head(&db, &bob, "table").await;
        assert_eq!((code, stderr.as_str(), stdout.starts_with("name ")), (0, "", true), "{stdout}");
    });
}

#[test]
fn what_the_first_look_says_is_the_end_and_no_terminal_is_taken_for_it() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let told = bad(&db, &bob, 3, &["status", "--watch", "a", "nope"]).await;
        assert!(told.starts_with("error: ") && told.contains("`nope`"), "{told}");
        assert_eq!(bad(&db, &bob, 3, &["status", "nope"]).await, bad(&db, &bob, 3, &["status", "--watch", "nope"]).await);
        // Nobody listens at port 1.
        let nowhere = "mysql://bob@127.0.0.1:1/jobs";
        assert_eq!(Tool::bare(&["--url", nowhere, "status", "--watch"]).run().await.code, 5);
        let url = db.url(&bob);
        for (url, more, code) in [(url.as_str(), &["nope"][..], 3), (nowhere, &[], 5)] {
            let mut watching = Watching::run(url, (80, 24), more, &[]).await;
            assert_eq!(watching.ends().await, code, "{}", watching.terminal.screen());
            assert!(watching.terminal.screen().contains("error: "), "{}", watching.terminal.screen());
            assert_eq!(count(&watching.terminal.raw(), b"\x1b["), 0, "{}", watching.terminal.screen());
            assert_eq!(watching.settings(&["-g"]), watching.before);
        }
    });
}
