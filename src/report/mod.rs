//! Turns rows into what a person is shown.

mod defined;
mod findings;
mod installed;
mod job;
mod list;
mod requested;
mod shop;
mod status;
mod words;

pub use defined::{altered, defined, dropped};
pub use findings::{Finding, findings};
pub use installed::{installed, uninstalled};
pub use job::{details, job};
pub use list::list;
pub use requested::{cancelled, requested, switched};
pub use shop::shop;
pub use status::{status, status_table};

use crate::db::Rows;

/// What a command found out: rows for programs, blocks for people, notes for people beside either.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// For `--output json` and `csv`.
    pub rows: Rows,
    /// For `--output table`.
    pub blocks: Vec<Block>,
    /// For stderr, a line each.
    pub notes: Vec<String>,
    /// Why the command did not succeed although it has an answer.
    pub failure: Option<String>,
}

impl Answer {
    /// An answer without notes.
    pub fn new(rows: Rows, blocks: Vec<Block>) -> Self {
        Answer { rows, blocks, notes: Vec::new(), failure: None }
    }

    /// Rows, and the same as a table.
    pub fn table(rows: Rows, table: Table) -> Self {
        let block = Block::Table(table);
        if rows.is_empty() { Answer::new(rows, Vec::new()).note("no jobs") } else { Answer::new(rows, vec![block]) }
    }

    /// Adds another answer behind this one.
    pub fn extend(&mut self, other: Answer) {
        self.rows.append(other.rows);
        self.blocks.extend(other.blocks);
        self.notes.extend(other.notes);
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// A part of what a person is shown.
#[derive(Clone, Debug)]
pub enum Block {
    /// Lines of text.
    Text(String),
    /// A table.
    Table(Table),
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The names of the columns; none for a list of labels and values.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// Whether it is a number, aligned to the right.
    pub right: bool,
    /// How it strikes a person.
    pub tone: Tone,
}

/// How something strikes a person; a colour, where colours are welcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Nothing special.
    Plain,
    /// Somebody should know.
    Warn,
    /// Somebody should act.
    Bad,
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), right: false, tone: Tone::Plain }
    }

    /// A number.
    pub fn number(number: u64) -> Self {
        Cell { right: true, ..Cell::text(number.to_string()) }
    }

    /// The same cell in another tone.
    pub fn tone(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }
}
