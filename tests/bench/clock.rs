//! Instants in microseconds since 1970, UTC. The servers run on this machine, so theirs and ours are one clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;

/// Now.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_micros()).expect("before the year 294,000")
}

/// Waits until an instant.
pub async fn until(instant: i64) {
    if let Ok(left) = u64::try_from(instant - now()) {
        tokio::time::sleep(Duration::from_micros(left)).await;
    }
}

/// The whole second after an instant.
pub fn next_second(instant: i64) -> i64 {
    (instant / SECOND + 1) * SECOND
}

/// An SQL expression for a column of type DATETIME(6), as microseconds.
pub fn micros(column: &str) -> String {
    format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {column})")
}

/// An instant as an SQL literal.
pub fn literal(instant: i64) -> String {
    format!("(CAST('1970-01-01' AS DATETIME(6)) + INTERVAL {instant} MICROSECOND)")
}

/// An instant as the options of `job$define` and STARTS of an event have it, in UTC.
pub fn text(instant: i64) -> String {
    let timestamp = jiff::Timestamp::from_microsecond(instant).expect("an instant of these days");
    timestamp.strftime("%Y-%m-%d %H:%M:%S%.6f").to_string()
}
