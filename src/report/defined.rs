//! `jobctl define` and `jobctl drop`.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use super::words::time;
use super::{Answer, Block, Cell, Table};
use crate::db::Record;
use crate::model::{JobName, ProcedureName, Span};

/// Echoes what was defined, with its first occurrences in the person's zone and in UTC.
pub fn defined(row: Record, name: &JobName, procedure: &ProcedureName, every: Span, zone: &TimeZone) -> Answer {
    let action = row.get("action").and_then(Value::as_str).unwrap_or_default();
    let id = row.get("job_id").unwrap_or(&Value::Null);
    let sentence = match action {
        "UNCHANGED" => format!("job `{name}` exists and stays as it is (id {id})"),
        "REPLACED" => format!("redefined job `{name}` (id {id}): calls {procedure} every {every}"),
        _ => format!("defined job `{name}` (id {id}): calls {procedure} every {every}"),
    };
    let schedule = schedule(&row, zone, "first occurrences");
    Answer::new(row.into(), vec![Block::Text(sentence), schedule])
}

/// Says that a job was changed, with its next occurrences, and what it needs before they come.
pub fn altered(row: Record, name: &JobName, zone: &TimeZone) -> Answer {
    let status = row.get("job_status").and_then(Value::as_str).unwrap_or_default().to_owned();
    let blocks = vec![Block::Text(format!("changed job `{name}`")), schedule(&row, zone, "next occurrences")];
    let answer = Answer::new(row.into(), blocks);
    match status.as_str() {
        "ENABLED" | "RESUMED" => answer,
        "PAUSED" => answer.note(format!("hint: it is PAUSED: `jobctl resume {}`", name.word())),
        _ => answer.note(format!("hint: it is {status}, and nothing runs before `jobctl enable {}`", name.word())),
    }
}

/// The three instants of an answer, as a table.
fn schedule(row: &Record, zone: &TimeZone, title: &str) -> Block {
    let instants = ["next_1", "next_2", "next_3"].map(|column| row.get(column)?.as_str()?.parse::<Timestamp>().ok());
    let instants: Vec<_> = instants.into_iter().flatten().collect();
    if instants.is_empty() {
        return Block::Text("nothing is planned: the schedule is over".into());
    }
    Block::Table(occurrences(&instants, zone, title))
}

fn occurrences(instants: &[Timestamp], zone: &TimeZone, title: &str) -> Table {
    let mut header = vec![title.to_owned()];
    let mut zones = vec![zone.clone()];
    if instants.iter().any(|instant| zone.to_offset(*instant) != Offset::UTC) {
        header.push("UTC".into());
        zones.push(TimeZone::UTC);
    }
    let line = |instant: &Timestamp| zones.iter().map(|zone| Cell::text(time(*instant, zone))).collect();
    Table { header, rows: instants.iter().map(line).collect() }
}

/// Says what was dropped.
pub fn dropped(row: Record, name: &JobName, purged: bool) -> Answer {
    let runs = row.get("runs_purged").and_then(Value::as_u64).unwrap_or(0);
    let sentence = if purged {
        format!("dropped job `{name}` and its history ({runs} runs)")
    } else {
        format!("dropped job `{name}`; its history stays")
    };
    Answer::new(row.into(), vec![Block::Text(sentence)])
}
