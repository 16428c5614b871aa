//! The log on stderr: one line per event, for a person or as JSON.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Write as _};
use std::io::{self, Write};
use std::sync::Mutex;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt as subscriber;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

use super::printable;
use crate::cli::LogFormat;
use crate::settings::Screen;

/// Starts logging, with times in this zone; a second start in one process changes nothing.
pub fn start(format: LogFormat, screen: Screen, zone: TimeZone) {
    // Where stderr is gone there is nobody to tell, and the runners go on.
    let log = subscriber().with_writer(|| Sink).with_max_level(Level::INFO).log_internal_errors(false);
    let _ = match format {
        LogFormat::Human => log.event_format(Human { zone, terminal: screen.error_terminal }).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_target(false).try_init(),
    };
}

/// Lines that are kept for a live screen.
const KEPT: usize = 200;

/// The latest lines, while they are kept and not printed.
static LINES: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

/// Keeps the log from now on, for a live screen that would be spoilt by it; or prints it again.
pub fn keep(keep: bool) {
    *lines_now() = keep.then(VecDeque::new);
}

/// The latest lines that were kept.
pub fn lines() -> Vec<String> {
    lines_now().iter().flatten().cloned().collect()
}

fn lines_now() -> std::sync::MutexGuard<'static, Option<VecDeque<String>>> {
    // Whatever happened while somebody held it, it is a list of lines.
    LINES.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Where a line goes: to stderr, or to those that are kept.
struct Sink;

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match lines_now().as_mut() {
            Some(lines) => {
                lines.push_back(String::from_utf8_lossy(line).trim_end().to_owned());
                if lines.len() > KEPT {
                    lines.pop_front();
                }
                Ok(line.len())
            }
            None => io::stderr().write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// `2026-11-30 13:22:57 +00:00 carts: run ok in 12ms (run_no 3)`: when, which job, what, and what else is known.
struct Human {
    zone: TimeZone,
    terminal: bool,
}

impl<S, N> FormatEvent<S, N> for Human
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = Line::default();
        event.record(&mut line);
        // A live screen shows seconds ago, a log may be read years later.
        let format = if lines_now().is_some() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S %:z" };
        let now = Timestamp::now().to_zoned_datetime(self.zone.clone()).strftime(format).to_string();
        let text = line.text(*event.metadata().level());
        writeln!(writer, "{now} {}", if self.terminal { printable(&text) } else { text })
    }
}

/// The fields of one event.
#[derive(Default)]
struct Line {
    job: String,
    message: String,
    rest: String,
}

impl Line {
    fn text(&self, level: Level) -> String {
        let mut text = String::new();
        if level <= Level::WARN {
            text += if level == Level::WARN { "warning: " } else { "error: " };
        }
        if !self.job.is_empty() {
            text += &format!("{}: ", self.job);
        }
        text += &self.message.replace('\n', " ");
        if !self.rest.is_empty() {
            text += &format!(" ({})", self.rest);
        }
        text
    }

    fn add(&mut self, field: &Field, value: String) {
        match field.name() {
            "job" => self.job = value,
            "message" => self.message = value,
            name => {
                let comma = if self.rest.is_empty() { "" } else { ", " };
                // Writing into a string cannot fail.
                let _ = write!(self.rest, "{comma}{} {value}", name.replace("run_no", "run"));
            }
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_which_job_and_what() {
        let line = Line { job: "a b".into(), message: "run failed: x\ny".into(), rest: "run 3".into() };
        assert_eq!(line.text(Level::WARN), "warning: a b: run failed: x y (run 3)");
        assert_eq!(Line { message: "gone".into(), ..Line::default() }.text(Level::INFO), "gone");
    }
}
