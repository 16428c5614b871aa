//! What was asked of a job, and what must therefore be so: known from the answers alone.
//!
//! An answer that was lost leaves two possibilities, until the next one that was not.

use std::collections::BTreeSet;

/// How a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Refused,
    /// It was killed, or its server died: it may have had its effect, or not.
    Lost,
}

/// A time with one grid: of its instants in `from..=to` nobody can doubt that they were planned.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub from: i64,
    pub to: i64,
    pub every: i64,
}

/// The book of one job; times are microseconds since 1970, UTC.
#[derive(Clone, Debug)]
pub struct Book {
    /// The states that it can be in.
    pub states: BTreeSet<&'static str>,
    /// When it was ENABLED beyond doubt.
    pub enabled: Vec<(i64, i64)>,
    enabled_since: Option<i64>,
    /// Which instants were planned beyond doubt.
    pub grids: Vec<Grid>,
    grid_since: Option<(i64, i64)>,
}

impl Book {
    /// A job that is ENABLED, with this interval, since now.
    pub fn new(now: i64, every: i64) -> Self {
        let (enabled_since, grid_since) = (Some(now), Some((now, every)));
        Self { states: ["ENABLED"].into(), enabled: Vec::new(), enabled_since, grids: Vec::new(), grid_since }
    }

    /// A request was sent at `sent` and answered at `heard`; what cannot be is told.
    pub fn request(&mut self, request: &str, answer: Answer, sent: i64, heard: i64) -> Result<(), String> {
        let before = self.states.clone();
        let to: BTreeSet<_> = before.iter().filter_map(|from| leads_to(request, from)).collect();
        self.states = match answer {
            Answer::Done => to,
            Answer::Refused => before.iter().filter(|from| leads_to(request, from).is_none()).copied().collect(),
            Answer::Lost => before.union(&to).copied().collect(),
        };
        if self.states.is_empty() {
            self.states = before.clone();
            return Err(format!("{request} in {before:?} was {answer:?}"));
        }
        if self.states != before {
            if let Some(since) = self.enabled_since.take() {
                self.enabled.push((since, sent));
            }
            if self.states == ["ENABLED"].into() {
                self.enabled_since = Some(heard);
            }
        }
        Ok(())
    }

    /// From `sent` on the grid may be another.
    pub fn grid_changes(&mut self, sent: i64) {
        if let Some((from, every)) = self.grid_since.take() {
            self.grids.push(Grid { from, to: sent, every });
        }
    }

    /// From `heard` on it is this one.
    pub fn grid_is(&mut self, heard: i64, every: i64) {
        self.grid_since = Some((heard, every));
    }

    /// Nothing is asked any more.
    pub fn close(&mut self, now: i64) {
        self.grid_changes(now);
        if let Some(since) = self.enabled_since.take() {
            self.enabled.push((since, now));
        }
    }
}

/// The table of states.
fn leads_to(request: &str, from: &str) -> Option<&'static str> {
    match (request, from) {
        ("pause", "ENABLED" | "PAUSED") => Some("PAUSED"),
        ("resume", "PAUSED" | "ENABLED") => Some("ENABLED"),
        ("abort" | "abort --now", "ENABLED" | "PAUSED" | "ABORTED") => Some("ABORTED"),
        ("enable", "ABORTED" | "DISABLED" | "ENABLED") => Some("ENABLED"),
        ("disable", _) => Some("DISABLED"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_answer_leaves_both_states_until_the_next_one() {
        let mut book = Book::new(0, 1);
        book.request("pause", Answer::Lost, 10, 20).unwrap();
        assert_eq!(book.states, ["ENABLED", "PAUSED"].into());
        book.request("enable", Answer::Refused, 30, 40).unwrap();
        assert_eq!(book.states, ["PAUSED"].into());
        book.request("resume", Answer::Done, 50, 60).unwrap();
        book.close(100);
        assert_eq!(book.enabled, [(0, 10), (60, 100)]);
    }

    #[test]
    fn an_answer_that_cannot_be_is_told() {
        assert!(Book::new(0, 1).request("pause", Answer::Refused, 10, 20).is_err());
    }
}
