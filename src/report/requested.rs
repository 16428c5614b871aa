//! `jobctl pause` and its like.

use serde_json::Value;

use super::{Answer, Block};
use crate::db::{Record, Rows};
use crate::model::{JobName, Span};

/// Says what a job was and is.
pub fn requested(mut rows: Rows, name: &JobName) -> Answer {
    let mut blocks = Vec::new();
    for row in rows.iter_mut() {
        let text = |column: &str| row.get(column).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (from, to, message) = (text("status_from"), text("status_to"), text("message"));
        let sentence = if from == to { format!("`{name}` was {to} already") } else { format!("`{name}` is {to}, was {from}") };
        blocks.push(Block::Text(sentence));
        if !message.is_empty() && !message.ends_with(" already") {
            blocks.push(Block::Text(message));
        }
        row.insert("job_name".into(), name.as_str().into());
    }
    Answer::new(rows, blocks)
}

/// Says how a run ended that was to be stopped.
pub fn cancelled(row: Record, name: &JobName, outcome: &str, run_no: u64, took: Option<Span>) -> Answer {
    let took = took.map(|took| format!(" after {}", took.brief())).unwrap_or_default();
    let sentence = match outcome {
        "OK" => format!("`{name}`: run {run_no} completed{took}, before it could be stopped"),
        _ => format!("`{name}`: run {run_no} is {outcome}{took}"),
    };
    Answer::new(row.into(), vec![Block::Text(sentence)])
}

/// Says whether the switch of all jobs is on.
pub fn switched(rows: Rows, request: &str) -> Answer {
    let changed = rows.first().and_then(|row| row.get("changed")).and_then(Value::as_u64) == Some(1);
    let sentence = match (request, changed) {
        ("pause", true) => "all your jobs are paused",
        ("pause", false) => "all your jobs were paused already",
        (_, true) => "your jobs go on at their next occurrences; those paused singly stay paused",
        (_, false) => "your jobs were not paused all at once",
    };
    Answer::new(rows, vec![Block::Text(sentence.into())])
}
