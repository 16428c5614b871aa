//! Rows for programs: JSON and CSV.

use serde_json::Value;

use crate::db::{Record, Rows};

/// Writes rows as an array of objects, one a line.
pub fn json(rows: &[Record]) -> String {
    let lines: Vec<_> = rows.iter().map(|row| Value::Object(row.clone()).to_string()).collect();
    if lines.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

/// Writes rows as RFC 4180 has it: a header line, then a line per row; NULL is an empty field.
pub fn csv(rows: &Rows) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = rows.first().map_or(rows.columns.clone(), |row| row.keys().cloned().collect());
    let lines = rows.iter().map(|row| row.values().map(field).collect());
    for line in std::iter::once(header).filter(|header| !header.is_empty()).chain(lines) {
        // Writing to memory cannot fail, and every row has the columns of the first.
        let _ = writer.write_record(line);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Record {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn json_keeps_the_order_of_columns_and_the_digits_of_numbers() {
        let number: Value = "0.100000".parse().expect("a number");
        let text = json(&[row(json!({ "z": 1, "a": number, "n": null }))]);
        assert_eq!(text, "[\n{\"z\":1,\"a\":0.100000,\"n\":null}\n]\n");
        assert_eq!(json(&[]), "[]\n");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let text = csv(&row(json!({ "name": "a \"b\", c", "count": 2, "none": null })).into());
        assert_eq!(text, "name,count,none\n\"a \"\"b\"\", c\",2,\n");
    }

    #[test]
    fn csv_has_its_header_also_without_rows() {
        let none = Rows { columns: vec!["name".into(), "count".into()], records: Vec::new() };
        assert_eq!(csv(&none), "name,count\n");
        assert_eq!(csv(&Rows::default()), "");
    }
}
