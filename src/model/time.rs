//! Times, as people type them and as the database stores them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, fmt::strtime};

/// Reads an instant: with an offset or `Z` as it says, else as a civil time in the given zone.
pub fn parse_time(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    let wrong = || format!("`{text}` is no time: write `2026-01-31 04:00`, `2026-01-31T04:00:00Z` or `2026-01-31`");
    let civil: DateTime = text.parse().map_err(|_| wrong())?;
    zone.to_timestamp(civil).map_err(|_| wrong())
}

/// Writes an instant as the database stores it: `DATETIME(6)` in UTC.
pub fn sql_time(instant: Timestamp) -> String {
    strtime::format("%Y-%m-%d %H:%M:%S.%6f", instant).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let berlin = TimeZone::get("Europe/Berlin").expect("the zone tables of the machine");
        parse_time(text, &berlin).map(sql_time)
    }

    #[test]
    fn an_offset_wins_over_the_zone() {
        assert_eq!(read("2026-07-01T12:00:00Z").as_deref(), Ok("2026-07-01 12:00:00.000000"));
        assert_eq!(read("2026-07-01 12:00:00.5+05:30").as_deref(), Ok("2026-07-01 06:30:00.500000"));
    }

    #[test]
    fn a_civil_time_is_read_in_the_zone() {
        assert_eq!(read("2026-07-01 12:00").as_deref(), Ok("2026-07-01 10:00:00.000000"));
        assert_eq!(read("2026-01-01").as_deref(), Ok("2025-12-31 23:00:00.000000"));
        assert_eq!(read("2026-01-01 04:00:01").as_deref(), Ok("2026-01-01 03:00:01.000000"));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "tomorrow", "2026-13-01", "12:00", "2026-01-01 25:00"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
