//! Words and phrases that several reports share.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Cell, Tone};
use crate::model::{JobOverview, Span};

/// An instant in a zone, with its offset.
pub fn time(instant: Timestamp, zone: &TimeZone) -> String {
    let civil = instant.to_zoned_datetime(zone.clone());
    let offset = civil.strftime("%:z");
    let format = if instant.subsec_nanosecond() == 0 { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M:%S.%3f" };
    format!("{} {offset}", civil.strftime(format))
}

/// How far an instant is from now: `in 12s`, `3s ago`.
pub fn distance(instant: Timestamp, now: Timestamp) -> String {
    let gap = gap(instant, now);
    if instant > now { format!("in {gap}") } else { format!("{gap} ago") }
}

/// How far an instant is from now, either way: `12s`.
pub fn gap(instant: Timestamp, now: Timestamp) -> String {
    let micros = instant.as_microsecond() - now.as_microsecond();
    Span::from_micros(micros.unsigned_abs()).rough()
}

/// The status word, in its tone.
pub fn status(job: &JobOverview) -> Cell {
    let tone = match job.status.as_str() {
        "RUNNING" | "SLEEPING" => Tone::Good,
        "LOST" | "ERROR" => Tone::Bad,
        "ENABLED" | "FINISHED" | "DISABLED" => Tone::Plain,
        _ => Tone::Warn,
    };
    Cell::text(&job.status).tone(tone)
}

/// The next instant that is going to run; none for a job that is paused or has ended, whatever its row still says.
pub fn next(job: &JobOverview) -> Option<Timestamp> {
    let waits = matches!(job.job_status.as_str(), "ENABLED" | "RESUMED")
        && !matches!(job.status.as_str(), "FINISHED" | "PAUSED (all)" | "HELD");
    job.job_next.filter(|_| waits)
}

/// The tone of how a run ended.
pub fn outcome_tone(outcome: &str) -> Tone {
    match outcome {
        "OK" => Tone::Good,
        "RUNNING" => Tone::Plain,
        "SKIPPED" | "KILLED" => Tone::Warn,
        _ => Tone::Bad,
    }
}

/// The procedure of a job, as it was written.
pub fn procedure(job: &JobOverview) -> String {
    match (&job.job_procedure_schema, &job.job_procedure_name) {
        (Some(schema), Some(name)) => crate::model::ProcedureName { schema: schema.clone(), name: name.clone() }.to_string(),
        _ => "-".into(),
    }
}

/// `-` where there is nothing.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_show_their_offset() {
        let instant: Timestamp = "2026-07-01T10:00:00.25Z".parse().expect("a time");
        let berlin = TimeZone::get("Europe/Berlin").expect("the zone tables of the machine");
        assert_eq!(time(instant, &berlin), "2026-07-01 12:00:00.250 +02:00");
        assert_eq!(time(instant, &TimeZone::UTC), "2026-07-01 10:00:00.250 +00:00");
    }

    #[test]
    fn distances_look_both_ways() {
        let now: Timestamp = "2026-07-01T10:00:00Z".parse().expect("a time");
        let at = |micros| Timestamp::from_microsecond(now.as_microsecond() + micros).expect("a time");
        assert_eq!(distance(at(12_000_000), now), "in 12s");
        assert_eq!(distance(at(-90_000_000), now), "1m30s ago");
    }
}
