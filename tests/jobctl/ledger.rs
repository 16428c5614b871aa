//! What `job_run` says about a job, and the promise about it: every occurrence is one row.

use crate::session::{Session, literal};

/// One row of `job_run`; times are microseconds since 1970, UTC.
#[derive(Clone, Debug)]
pub struct Entry {
    pub run_no: i64,
    pub outcome: String,
    pub reason: String,
    pub scheduled_for: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub span_last: Option<i64>,
    pub span_count: Option<i64>,
    pub code: String,
    pub sqlstate: String,
    pub message: String,
}

impl Entry {
    pub fn ran(&self) -> bool {
        self.outcome != "SKIPPED"
    }
}

/// The rows of the only job of the schema, in the order of their occurrences.
pub async fn entries(session: &mut Session) -> Vec<Entry> {
    entries_where(session, "TRUE").await
}

async fn entries_where(session: &mut Session, condition: &str) -> Vec<Entry> {
    let micros = |column: &str| format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {column})");
    let sql = format!(
        "SELECT run_no, outcome, reason, {}, {}, {}, {}, span_count, error_code, error_sqlstate, error_message \
         FROM job_run WHERE {condition} ORDER BY scheduled_for, attempt, run_no",
        micros("scheduled_for"),
        micros("started_at"),
        micros("finished_at"),
        micros("span_last")
    );
    let number = |text: &String| text.parse().ok();
    let rows = session.rows(&sql).await;
    let entry = |row: &Vec<String>| Entry {
        run_no: number(&row[0]).unwrap(),
        outcome: row[1].clone(),
        reason: row[2].clone(),
        scheduled_for: number(&row[3]).unwrap(),
        started_at: number(&row[4]),
        finished_at: number(&row[5]),
        span_last: number(&row[6]),
        span_count: number(&row[7]),
        code: row[8].clone(),
        sqlstate: row[9].clone(),
        message: row[10].clone(),
    };
    rows.iter().map(entry).collect()
}

/// Checks that from the first row to the last every instant of the grid is a run or in a span, none twice, none off the grid,
/// and that spans count rightly; gives the rows. `interval` in microseconds; the anchor is that of the only job of the schema.
pub async fn complete(session: &mut Session, interval: i64) -> Vec<Entry> {
    complete_where(session, "TRUE", interval).await
}

/// The same for one job of several.
pub async fn complete_of(session: &mut Session, job: &str, interval: i64) -> Vec<Entry> {
    complete_where(session, &format!("job_name = {}", literal(job)), interval).await
}

async fn complete_where(session: &mut Session, condition: &str, interval: i64) -> Vec<Entry> {
    let anchor = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', job_schedule_anchor) FROM job WHERE";
    let anchor = session.number(&format!("{anchor} {condition}")).await;
    let entries = entries_where(session, condition).await;
    let mut next = None;
    for entry in &entries {
        let (first, last) = (entry.scheduled_for, entry.span_last.unwrap_or(entry.scheduled_for));
        assert_eq!((first - anchor) % interval, 0, "off the grid: {entry:?}");
        assert_eq!((last - anchor) % interval, 0, "off the grid: {entry:?}");
        assert!(first >= anchor && last >= first, "{entry:?}");
        assert_eq!(first, next.unwrap_or(first), "a gap or a double before {entry:?} in {entries:#?}");
        if let Some(count) = entry.span_count {
            assert_eq!(count, (last - first) / interval + 1, "{entry:?}");
        }
        next = Some(last + interval);
    }
    entries
}
