//! The one room that prints: data to stdout, the rest to stderr.

mod data;
pub mod live;
pub mod log;
mod table;

use std::io::{self, BufRead, BufWriter, ErrorKind, Stdout, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cli::Format;
use crate::error::{Error, Kind};
use crate::report::{Answer, Block};
use crate::settings::{Screen, Settings};

/// Where everything is printed.
#[derive(Debug)]
pub struct Output {
    stdout: BufWriter<Stdout>,
    screen: Screen,
    format: Format,
    /// Whether the reader of stdout went away.
    closed: bool,
}

impl Output {
    /// Prints tables, until told otherwise.
    pub fn new(screen: Screen) -> Self {
        Output { stdout: BufWriter::new(io::stdout()), screen, format: Format::default(), closed: false }
    }

    /// Takes over what the settings say.
    pub fn configure(&mut self, settings: &Settings) {
        self.format = settings.output;
        self.screen = settings.screen;
    }

    /// Prints an answer in the format that was asked for.
    pub fn answer(&mut self, answer: &Answer) -> Result<(), Error> {
        match self.format {
            Format::Json => self.text(&data::json(&answer.rows)),
            Format::Csv => self.text(&data::csv(&answer.rows)),
            Format::Table => answer.blocks.iter().try_for_each(|block| self.block(block)),
        }?;
        self.flush()?;
        for note in &answer.notes {
            self.aside(&format!("{note}\n"));
        }
        Ok(())
    }

    /// Prints an answer that follows another: for people, after an empty line.
    pub fn next_answer(&mut self, answer: &Answer) -> Result<(), Error> {
        if self.format == Format::Table {
            self.text("\n")?;
        }
        self.answer(answer)
    }

    /// Prints to stderr how something goes on, where a person may look.
    pub fn progress(&self, text: &str) {
        if self.screen.error_terminal {
            self.aside(&format!("{text}\n"));
        }
    }

    /// Prints a note to stderr.
    pub fn note(&mut self, note: &str) {
        self.aside(&format!("{note}\n"));
    }

    /// What is printed on, if it may be drawn on: not where data for programs is asked for.
    pub fn screen(&self) -> Option<Screen> {
        (self.format == Format::Table).then_some(self.screen)
    }

    /// Whether the reader of stdout went away, as far as writing told, or the system does.
    pub fn closed(&self) -> bool {
        let stdout = self.stdout.get_ref();
        let mut stdout = [PollFd::new(&stdout, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let told = poll(&mut stdout, Some(&now)).is_ok() && stdout[0].revents().intersects(PollFlags::ERR);
        self.closed || told
    }

    /// Prints to stderr; where even that fails there is nobody to tell.
    fn aside(&self, text: &str) {
        let text = if self.screen.error_terminal { printable(text) } else { text.to_owned() };
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn block(&mut self, block: &Block) -> Result<(), Error> {
        match block {
            Block::Text(text) => self.text(&wrapped(text, self.screen)),
            Block::Table(table) => self.write(&table::render(table, self.screen)),
        }
    }

    /// Prints a text as it is, but for control characters on a terminal, and ends its last line.
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        self.write(&if self.screen.terminal { printable(text) } else { text.to_owned() })?;
        self.write(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" })
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        let written = self.stdout.write_all(text.as_bytes());
        self.quiet_end(written)
    }

    /// A reader that went away (`jobctl list | head -1`) has what it wanted; any other failure to write is an error.
    fn quiet_end(&mut self, written: io::Result<()>) -> Result<(), Error> {
        match written {
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => self.closed = true,
            written => written.map_err(|cause| Error::new(Kind::Failed, "cannot write to stdout").because(cause))?,
        }
        Ok(())
    }

    /// Writes out what is still in the buffer.
    pub fn flush(&mut self) -> Result<(), Error> {
        let written = self.stdout.flush();
        self.quiet_end(written)
    }

    /// Prints an error and its hints to stderr, after what came before it.
    pub fn error(&mut self, error: &Error) {
        let _ = self.stdout.flush();
        self.aside(&format!("error: {}\n", error.with_cause()));
        for hint in &error.hints {
            self.aside(&format!("hint: {hint}\n"));
        }
    }

    /// Asks a question on the terminal; anything but a yes is a no, and without a terminal nobody is asked.
    pub fn confirm(&mut self, question: &str) -> Result<bool, Error> {
        self.flush()?;
        if !self.screen.error_terminal || !io::IsTerminal::is_terminal(&io::stdin()) {
            return Ok(false);
        }
        self.aside(&format!("{question} [y/N] "));
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        read.map_err(|cause| Error::new(Kind::Failed, "cannot read the answer").because(cause))?;
        Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}

/// Asks for a password on the terminal, without an echo.
pub fn ask_password() -> Result<String, Error> {
    rpassword::prompt_password("Enter password: ").map_err(|cause| {
        Error::usage("cannot ask for a password without a terminal")
            .because(cause)
            .hint("set `MYSQL_PWD`, or attach it: `-pPASSWORD`")
    })
}

/// Wraps sentences at the blanks before the edge of a terminal; a script to be copied stays as it is.
fn wrapped(text: &str, screen: Screen) -> String {
    let width = screen.width.or_else(|| comfy_table::Table::new().width()).map_or(usize::MAX, usize::from);
    if !screen.terminal || text.lines().any(|line| line.ends_with(';')) {
        return text.to_owned();
    }
    let mut wrapped = String::new();
    for line in text.split_inclusive('\n') {
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let length = word.trim_end().chars().count();
            if column > 0 && column + length > width {
                wrapped.truncate(wrapped.trim_end_matches(' ').len());
                wrapped.push('\n');
                column = 0;
            }
            wrapped += word;
            column += word.chars().count();
        }
    }
    wrapped
}

/// Replaces control characters, which a terminal would obey, but for line ends.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_never_sent_control_characters() {
        assert_eq!(printable("a\u{1b}[31mb\u{9b}c\nd"), "a\u{fffd}[31mb\u{fffd}c\nd");
    }

    #[test]
    fn sentences_are_wrapped_on_a_terminal_and_scripts_are_not() {
        let screen = Screen { terminal: true, width: Some(10), ..Screen::default() };
        assert_eq!(wrapped("one two three\nfour\n", screen), "one two\nthree\nfour\n");
        assert_eq!(wrapped("averylongword is", screen), "averylongword\nis");
        assert_eq!(wrapped("GRANT this TO that;", screen), "GRANT this TO that;");
        assert_eq!(wrapped("one two three", Screen { terminal: false, ..screen }), "one two three");
    }

    #[test]
    fn a_closed_pipe_is_a_quiet_end_and_a_full_disk_is_not() {
        let mut output = Output::new(Screen::default());
        assert!(output.quiet_end(Err(ErrorKind::StorageFull.into())).is_err());
        assert!(!output.closed());
        assert!(output.quiet_end(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(output.closed());
    }
}
