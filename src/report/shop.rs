//! `jobctl demo`: what came of it.

use serde_json::Value;

use super::{Answer, Cell, Table, Tone};
use crate::db::Rows;

/// Shows how often each job of the shop ran and how that ended.
pub fn shop(rows: Rows) -> Answer {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(0);
    let line = |row: &serde_json::Map<String, Value>| {
        let name = row.get("job_name").and_then(Value::as_str).unwrap_or_default();
        let failed = number(row.get("failed"));
        let tone = if failed > 0 { Tone::Bad } else { Tone::Plain };
        vec![
            Cell::text(name),
            Cell::number(number(row.get("ok"))),
            Cell::number(failed).tone(tone),
            Cell::number(number(row.get("skipped"))),
        ]
    };
    let header = ["job", "runs ok", "failed", "skipped"].map(String::from).to_vec();
    let table = Table { header, rows: rows.iter().map(line).collect() };
    Answer::table(rows, table)
}
