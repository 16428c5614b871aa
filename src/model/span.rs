//! Spans of time such as `90s` or `1h30m`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

const SECOND: u64 = 1_000_000;

/// The units that people write, longest first, in microseconds.
const UNITS: &[(&str, u64)] = &[
    ("w", 7 * 86_400 * SECOND),
    ("d", 86_400 * SECOND),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000),
    ("us", 1),
];

/// A span of time in whole microseconds, as `DECIMAL(16,6)` seconds in the database.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span(u64);

impl Span {
    /// The shortest interval of a schedule.
    pub const MIN: Span = Span(SECOND / 10);
    /// The longest interval of a schedule: 100 years.
    pub const MAX: Span = Span(36_525 * 86_400 * SECOND);

    /// Makes a span of so many microseconds.
    pub fn from_micros(micros: u64) -> Self {
        Span(micros)
    }

    /// The same for the clocks of this machine.
    pub fn duration(self) -> Duration {
        Duration::from_micros(self.0)
    }

    /// Reads decimal seconds, as the database writes them.
    pub fn from_seconds(text: &str) -> Option<Self> {
        decimal(text, SECOND).map(Span)
    }

    /// Decimal seconds for the database, six digits after the point.
    pub fn seconds(self) -> String {
        format!("{}.{:06}", self.0 / SECOND, self.0 % SECOND)
    }

    /// A short form for tables: at most two units, rounded down, such as `12ms`, `1.2s` or `3d4h`.
    pub fn brief(&self) -> String {
        match self.0 {
            0..10_000 => format!("{}.{}ms", self.0 / 1_000, self.0 / 100 % 10),
            10_000..SECOND => format!("{}ms", self.0 / 1_000),
            SECOND..10_000_000 => format!("{}.{}s", self.0 / SECOND, self.0 / 100_000 % 10),
            _ => self.largest(2),
        }
    }

    /// Whole seconds or longer, at most two units, rounded down: how long ago something was.
    pub fn rough(self) -> String {
        if self.0 < SECOND { "0s".into() } else { self.largest(2) }
    }

    /// The span in its longest whole units, cut after so many of them.
    fn largest(self, count: usize) -> String {
        let mut rest = self.0 / SECOND * SECOND;
        let mut text = String::new();
        let from = UNITS[1..5].iter().skip_while(|(_, size)| *size > self.0);
        for (unit, size) in from.take(count) {
            if rest >= *size {
                text += &format!("{}{unit}", rest / size);
            }
            rest %= size;
        }
        text
    }
}

/// Reads a decimal number of units without rounding; `None` where it is no number, or not whole in microseconds.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let scale = 10_u64.checked_pow(fraction.len().try_into().ok()?)?;
    let part = u128::from(fraction.parse::<u64>().unwrap_or(0)) * u128::from(unit);
    if part % u128::from(scale) != 0 {
        return None;
    }
    let part = u64::try_from(part / u128::from(scale)).ok()?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part)
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no span of time: write `90s`, `5m`, `1h30m` or `0.5s`");
        let mut total = 0_u64;
        let mut shortest = u64::MAX;
        let mut rest = text;
        while !rest.is_empty() {
            let unit_at = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
            let (number, tail) = rest.split_at(unit_at);
            let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let (_, size) = UNITS.iter().find(|(unit, _)| *unit == &tail[..end]).ok_or_else(wrong)?;
            if *size >= shortest {
                return Err(wrong());
            }
            shortest = *size;
            let part = decimal(number, *size).ok_or_else(wrong)?;
            total = total.checked_add(part).ok_or_else(wrong)?;
            rest = &tail[end..];
        }
        match Span(total) {
            _ if text.is_empty() => Err(wrong()),
            span if span < Span::MIN => Err(format!("`{text}` is too short: an interval is at least 0.1s")),
            span if span > Span::MAX => Err(format!("`{text}` is too long: an interval is at most 100 years")),
            span => Ok(span),
        }
    }
}

impl fmt::Display for Span {
    /// Writes the whole span in its longest units; what is written reads back as the same span.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = self.0 % SECOND;
        if fraction == 0 && self.0 > 0 {
            return f.write_str(&self.largest(4));
        }
        let seconds = self.0 / SECOND;
        let minutes = Span((seconds - seconds % 60) * SECOND);
        let digits = format!("{fraction:06}");
        match digits.trim_end_matches('0') {
            "" => f.write_str("0s"),
            digits => write!(f, "{}{}.{digits}s", minutes.largest(3), seconds % 60),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A clock that was set back can make a run seem to end before it started.
        let seconds = serde_json::Number::deserialize(deserializer)?.to_string();
        if seconds.starts_with('-') {
            return Ok(Span(0));
        }
        Span::from_seconds(&seconds).ok_or_else(|| serde::de::Error::custom(format!("`{seconds}` is no span")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Option<u64> {
        text.parse::<Span>().ok().map(|span| span.0)
    }

    #[test]
    fn spans_are_read_exactly() {
        assert_eq!(micros("90s"), Some(90 * SECOND));
        assert_eq!(micros("5m"), Some(300 * SECOND));
        assert_eq!(micros("1h30m"), Some(5_400 * SECOND));
        assert_eq!(micros("1.5h"), Some(5_400 * SECOND));
        assert_eq!(micros("0.5s"), Some(500_000));
        assert_eq!(micros("0.100001s"), Some(100_001));
        assert_eq!(micros("250ms"), Some(250_000));
        assert_eq!(micros("36525d"), Some(Span::MAX.0));
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in [
            "",
            "s",
            "5",
            "5 m",
            "-5m",
            "5x",
            "1m1h",
            "1s1s",
            ".5s",
            "5.s",
            "0.1000001s",
            "1e3s",
            "٣s",
            "99999999999999999999s",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }

    #[test]
    fn an_interval_has_a_floor_and_a_ceiling() {
        assert_eq!(micros("0.1s"), Some(100_000));
        assert_eq!(micros("0.099999s"), None);
        assert_eq!(micros("0s"), None);
        assert_eq!(micros("36525d1s"), None);
    }

    #[test]
    fn what_is_written_reads_back() {
        for text in ["0.5s", "1s", "59.000001s", "1m", "1h30m", "1d", "1d0.25s", "2h5s", "36525d"] {
            let span: Span = text.parse().expect(text);
            let written = span.to_string();
            assert_eq!(written.parse(), Ok(span), "{written}");
        }
        assert_eq!(Span(5_400 * SECOND).to_string(), "1h30m");
        assert_eq!(Span(0).to_string(), "0s");
    }

    #[test]
    fn seconds_keep_six_digits() {
        assert_eq!(Span(500_000).seconds(), "0.500000");
        assert_eq!(Span::from_seconds("3155760000.000001").map(|span| span.0), Some(3_155_760_000_000_001));
    }

    #[test]
    fn brief_has_two_units_at_most() {
        assert_eq!(Span(1_234).brief(), "1.2ms");
        assert_eq!(Span(12_345).brief(), "12ms");
        assert_eq!(Span(1_250_000).brief(), "1.2s");
        assert_eq!(Span(61 * SECOND).brief(), "1m1s");
        assert_eq!(Span(90_061 * SECOND).brief(), "1d1h");
        assert_eq!(Span(1_250_000).rough(), "1s");
        assert_eq!(Span(999_999).rough(), "0s");
    }
}
