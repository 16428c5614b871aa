//! Rows with the names of their columns, which are there even when no row is.

use std::ops::{Deref, DerefMut};

use super::Record;

/// What a query or a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns, in order; empty where it is not known.
    pub columns: Vec<String>,
    /// The rows.
    pub records: Vec<Record>,
}

impl Rows {
    /// Adds rows behind these.
    pub fn append(&mut self, other: Rows) {
        self.columns = if self.columns.is_empty() { other.columns } else { std::mem::take(&mut self.columns) };
        self.records.extend(other.records);
    }

    /// The first row, if there is one.
    pub fn into_first(self) -> Option<Record> {
        self.records.into_iter().next()
    }
}

impl From<Record> for Rows {
    fn from(record: Record) -> Self {
        Rows { columns: record.keys().cloned().collect(), records: vec![record] }
    }
}

impl Deref for Rows {
    type Target = Vec<Record>;

    fn deref(&self) -> &Vec<Record> {
        &self.records
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut Vec<Record> {
        &mut self.records
    }
}
