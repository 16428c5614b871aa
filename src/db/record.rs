//! Rows as ordered maps from column name to JSON value: what `--output json` prints, and what structs are read from.

use mysql_async::consts::ColumnType;
use mysql_async::{Row, Value};
use serde_json::{Map, Number, Value as Json};

/// A row; times are RFC 3339 with Z, a DECIMAL is a number with all its digits but no zeros at its end.
pub type Record = Map<String, Json>;

/// Reads a row.
pub fn record(row: Row) -> Record {
    let columns = row.columns();
    let values = row.unwrap();
    let pairs = columns.iter().zip(values);
    pairs.map(|(column, value)| (column.name_str().into_owned(), json(column.column_type(), value))).collect()
}

fn json(kind: ColumnType, value: Value) -> Json {
    match value {
        Value::NULL => Json::Null,
        Value::Int(number) => number.into(),
        Value::UInt(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Double(number) => number.into(),
        Value::Bytes(bytes) => text(kind, String::from_utf8_lossy(&bytes).into_owned()),
        Value::Date(year, month, day, hour, minute, second, micros) => {
            time(&format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"))
        }
        Value::Time(..) => value.as_sql(true).trim_matches('\'').into(),
    }
}

/// Reads a value that came as text.
fn text(kind: ColumnType, text: String) -> Json {
    use ColumnType::*;
    match kind {
        MYSQL_TYPE_DECIMAL | MYSQL_TYPE_NEWDECIMAL => {
            let digits = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            number(digits)
        }
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_LONG | MYSQL_TYPE_LONGLONG | MYSQL_TYPE_INT24 | MYSQL_TYPE_YEAR
        | MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => number(&text),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => time(&text),
        _ => text.into(),
    }
}

fn number(digits: &str) -> Json {
    digits.parse::<Number>().map_or_else(|_| digits.into(), Json::Number)
}

/// Writes `2026-01-31 04:00:00.500000` as `2026-01-31T04:00:00.5Z`.
fn time(text: &str) -> Json {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    format!("{}Z", text.replacen(' ', "T", 1)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: ColumnType, value: &str) -> String {
        json(kind, Value::Bytes(value.into())).to_string()
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(read(ColumnType::MYSQL_TYPE_NEWDECIMAL, "3155760000.000001"), "3155760000.000001");
        assert_eq!(read(ColumnType::MYSQL_TYPE_NEWDECIMAL, "60.000000"), "60");
        assert_eq!(read(ColumnType::MYSQL_TYPE_NEWDECIMAL, "100"), "100");
        assert_eq!(read(ColumnType::MYSQL_TYPE_LONGLONG, "18446744073709551615"), "18446744073709551615");
    }

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(read(ColumnType::MYSQL_TYPE_DATETIME, "2026-01-31 04:00:00.500000"), "\"2026-01-31T04:00:00.5Z\"");
        let binary = json(ColumnType::MYSQL_TYPE_DATETIME, Value::Date(2026, 1, 31, 4, 0, 0, 0));
        assert_eq!(binary, Json::from("2026-01-31T04:00:00Z"));
    }

    #[test]
    fn texts_stay_texts() {
        assert_eq!(read(ColumnType::MYSQL_TYPE_VAR_STRING, "007"), "\"007\"");
    }
}
