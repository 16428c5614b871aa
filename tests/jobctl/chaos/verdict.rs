//! The verdict: from the ledger of the bodies, what was asked, and the definitions.

use std::collections::{BTreeMap, BTreeSet};

use super::book::Book;
use super::world::{Job, World};
use crate::session::name;

/// How long after its claim a body may write that it started: the machine is busy, and the server may be locked.
const LATE: i64 = 10_000_000;

/// One row of the ledger, in the order of writing.
#[derive(Clone, Debug)]
pub struct Entry {
    pub job: usize,
    pub connection: i64,
    /// One execution of the body.
    pub token: String,
    /// The occurrence that it was called for.
    pub occurrence: Option<i64>,
    /// `start`, `tick` or `end`.
    pub what: String,
    pub at: i64,
}

/// One row of `job_run`: of one occurrence or, skipped, of a span.
#[derive(Clone, Debug)]
pub struct Row {
    pub job: usize,
    pub first: i64,
    pub last: i64,
    pub outcome: String,
}

/// Reads the ledger.
pub async fn ledger(world: &World) -> Vec<Entry> {
    let sql = format!(
        "SELECT job, connection, token, {}, what, {} FROM {}.ledger ORDER BY seq",
        micros("occurrence"),
        micros("at"),
        name(world.db.bodies())
    );
    let rows = world.db.admin().await.rows(&sql).await;
    let entry = |row: Vec<String>| Entry {
        job: row[0].parse().unwrap(),
        connection: row[1].parse().unwrap(),
        token: row[2].clone(),
        occurrence: row[3].parse().ok(),
        what: row[4].clone(),
        at: row[5].parse().unwrap(),
    };
    rows.into_iter().map(entry).collect()
}

/// Reads what jobctl says of each occurrence.
pub async fn rows(world: &World) -> Vec<Row> {
    let sql = format!(
        "SELECT job_id, {}, {}, outcome FROM job_run WHERE run_kind = 'SCHEDULED' ORDER BY job_id, scheduled_for",
        micros("scheduled_for"),
        micros("COALESCE(span_last, scheduled_for)")
    );
    let number = |id: &String| world.jobs.iter().position(|job| job.id.to_string() == *id).expect("one of the jobs");
    let row = |row: Vec<String>| Row {
        job: number(&row[0]),
        first: row[1].parse().unwrap(),
        last: row[2].parse().unwrap(),
        outcome: row[3].clone(),
    };
    world.db.admin().await.rows(&sql).await.into_iter().map(row).collect()
}

fn micros(column: &str) -> String {
    format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {column})")
}

/// No two bodies of a job ever overlapped. A body that was killed has no end: it must never be heard of again once another one
/// of its job has started.
pub fn overlaps(ledger: &[Entry]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut present: BTreeMap<usize, &Entry> = BTreeMap::new();
    for entry in ledger {
        if entry.what == "start" {
            present.insert(entry.job, entry);
        } else if let Some(other) = present.get(&entry.job).filter(|present| present.token != entry.token) {
            wrong.push(format!("two bodies at once: {entry:?} after {other:?}"));
        }
    }
    wrong
}

/// No occurrence was begun, let alone completed, twice.
pub fn twice(ledger: &[Entry]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<_, &Entry> = BTreeMap::new();
    for entry in ledger.iter().filter(|entry| entry.what != "tick") {
        if let Some(other) = seen.insert((entry.job, entry.occurrence, &entry.what), entry) {
            wrong.push(format!("one occurrence twice: {entry:?} and {other:?}"));
        }
    }
    wrong
}

/// Each body was called for an instant of its grid, the latest one that had come.
pub fn due(ledger: &[Entry], jobs: &[Job], books: &BTreeMap<usize, Book>, anchor: i64) -> Vec<String> {
    let mut wrong = Vec::new();
    for entry in ledger.iter().filter(|entry| entry.what == "start") {
        let Some(occurrence) = entry.occurrence else {
            wrong.push(format!("called for no occurrence: {entry:?}"));
            continue;
        };
        let grid = books[&entry.job].grids.iter().find(|grid| grid.from <= occurrence && occurrence <= grid.to);
        if grid.is_some_and(|grid| (occurrence - anchor) % grid.every != 0) {
            wrong.push(format!("called for no planned instant: {entry:?}, {grid:?}"));
        }
        let every = jobs[entry.job].every * 3 / 2;
        if entry.at < occurrence || entry.at > occurrence + every + LATE {
            wrong.push(format!("called too early or too late: {entry:?}"));
        }
    }
    wrong
}

/// Every planned instant has its row, and no instant has two.
pub fn accounted(rows: &[Row], jobs: &[Job], books: &BTreeMap<usize, Book>, anchor: i64) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let rows: Vec<_> = rows.iter().filter(|row| row.job == number).collect();
        for pair in rows.windows(2).filter(|pair| pair[1].first <= pair[0].last) {
            wrong.push(format!("{}: two rows for one instant: {pair:?}", job.name));
        }
        for (first, last, every) in planned(&books[&number], anchor) {
            let missing = (first..=last).step_by(usize::try_from(every).expect("positive")).filter(|instant| {
                let at = rows.partition_point(|row| row.last < *instant);
                rows.get(at).is_none_or(|row| row.first > *instant)
            });
            wrong.extend(missing.take(3).map(|instant| format!("{}: no row for {instant}, every {every}", job.name)));
        }
    }
    wrong
}

/// A run that is OK did complete; one that completed is OK, or was killed before it could be recorded.
pub fn truthful(ledger: &[Entry], rows: &[Row]) -> Vec<String> {
    let ends: BTreeSet<_> =
        ledger.iter().filter(|entry| entry.what == "end").map(|entry| (entry.job, entry.occurrence)).collect();
    let starts: BTreeSet<_> = ledger.iter().map(|entry| (entry.job, entry.occurrence)).collect();
    let lies = rows.iter().filter(|row| match row.outcome.as_str() {
        "OK" => !ends.contains(&(row.job, Some(row.first))),
        "SKIPPED" => starts.contains(&(row.job, Some(row.first))),
        "RUNNING" => true,
        _ => false,
    });
    lies.map(|row| format!("a row that is not true: {row:?}")).collect()
}

/// A takeover past a runner.
#[derive(Clone, Debug)]
pub struct Usurped {
    pub job: usize,
    /// That of the runner.
    pub connection: i64,
    /// Whether its row said that it runs.
    pub running: bool,
    /// When it was committed, at the latest.
    pub since: i64,
    /// When the server was next killed, by which connections get their numbers anew.
    pub until: i64,
}

/// Who was superseded has begun nothing since, but for the one run that it may have claimed just before, if that had not written
/// yet that it began.
pub fn superseded(ledger: &[Entry], usurped: &[Usurped]) -> Vec<String> {
    let mut wrong = Vec::new();
    for one in usurped {
        let of = |entry: &&Entry| entry.job == one.job && entry.connection == one.connection;
        let (before, since): (Vec<_>, Vec<_>) = ledger.iter().filter(of).partition(|entry| entry.at <= one.since);
        let works = before.last().is_some_and(|entry| entry.what != "end");
        let mut began = since.iter().filter(|entry| entry.what == "start" && entry.at < one.until);
        let began = began.nth((one.running && !works).into());
        wrong.extend(began.map(|entry| format!("superseded as {one:?}, and went on: {entry:?}")));
    }
    wrong
}

/// Of the instants that were planned in `from..to` while the job was ENABLED: how many, and how many completed OK.
pub fn completed(
    ledger: &[Entry],
    rows: &[Row],
    books: &BTreeMap<usize, Book>,
    anchor: i64,
    from: i64,
    to: i64,
) -> (usize, usize) {
    let ends: BTreeSet<_> =
        ledger.iter().filter(|entry| entry.what == "end").map(|entry| (entry.job, entry.occurrence)).collect();
    let ok: BTreeSet<_> = rows.iter().filter(|row| row.outcome == "OK").map(|row| (row.job, row.first)).collect();
    let (mut all, mut good) = (0, 0);
    for (job, book) in books {
        for (first, last, every) in planned(book, anchor) {
            for instant in (first..=last).step_by(usize::try_from(every).expect("positive")) {
                let enabled = book.enabled.iter().any(|(since, until)| *since <= instant && instant <= *until);
                if enabled && from <= instant && instant < to {
                    all += 1;
                    good += usize::from(ends.contains(&(*job, Some(instant))) && ok.contains(&(*job, instant)));
                }
            }
        }
    }
    (all, good)
}

/// The instants that were planned beyond doubt: first, last, interval.
fn planned(book: &Book, anchor: i64) -> impl Iterator<Item = (i64, i64, i64)> {
    book.grids.iter().filter_map(move |grid| {
        let first = anchor + (grid.from - anchor + grid.every - 1) / grid.every * grid.every;
        let last = anchor + (grid.to - anchor) / grid.every * grid.every;
        (first <= last).then_some((first, last, grid.every))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(token: &str, occurrence: i64, what: &str, at: i64) -> Entry {
        Entry { job: 0, connection: 7, token: token.into(), occurrence: Some(occurrence), what: what.into(), at }
    }

    fn row(first: i64, last: i64, outcome: &str) -> Row {
        Row { job: 0, first, last, outcome: outcome.into() }
    }

    fn books() -> BTreeMap<usize, Book> {
        let mut book = Book::new(0, 10);
        book.close(45);
        [(0, book)].into()
    }

    fn jobs() -> [Job; 1] {
        [Job { name: "j".into(), id: 1, every: 10 }]
    }

    #[test]
    fn two_bodies_at_once_are_seen_also_when_the_first_never_ends() {
        let one =
            [entry("a", 10, "start", 11), entry("a", 10, "end", 12), entry("b", 20, "start", 21), entry("b", 20, "end", 22)];
        assert!(overlaps(&one).is_empty());
        let killed = [entry("a", 10, "start", 11), entry("b", 20, "start", 21), entry("b", 20, "end", 22)];
        assert!(overlaps(&killed).is_empty());
        let both =
            [entry("a", 10, "start", 11), entry("b", 20, "start", 21), entry("a", 10, "tick", 22), entry("b", 20, "end", 23)];
        assert_eq!(overlaps(&both).len(), 1);
    }

    #[test]
    fn an_occurrence_that_comes_twice_is_seen() {
        let twice = [entry("a", 10, "start", 11), entry("a", 10, "end", 12), entry("b", 10, "start", 13)];
        assert_eq!(super::twice(&twice).len(), 1);
        assert!(super::twice(&twice[..2]).is_empty());
    }

    #[test]
    fn an_occurrence_without_a_row_or_with_two_is_seen() {
        let all = [row(0, 0, "OK"), row(10, 30, "SKIPPED"), row(40, 40, "OK")];
        assert!(accounted(&all, &jobs(), &books(), 0).is_empty());
        assert_eq!(accounted(&all[..2], &jobs(), &books(), 0).len(), 1);
        let double = [row(0, 0, "OK"), row(10, 30, "SKIPPED"), row(30, 40, "OK")];
        assert_eq!(accounted(&double, &jobs(), &books(), 0).len(), 1);
    }

    #[test]
    fn a_row_that_lies_is_seen() {
        let ledger = [entry("a", 10, "start", 11)];
        assert_eq!(truthful(&ledger, &[row(10, 10, "OK")]).len(), 1);
        assert_eq!(truthful(&ledger, &[row(0, 0, "SKIPPED"), row(10, 10, "LOST")]).len(), 0);
        assert_eq!(truthful(&ledger, &[row(10, 10, "SKIPPED")]).len(), 1);
    }

    #[test]
    fn a_superseded_runner_that_goes_on_is_seen() {
        let ledger = [("a", "start", 11), ("a", "end", 13), ("b", "start", 21), ("c", "start", 31)];
        let ledger = ledger.map(|(token, what, at)| entry(token, at / 10 * 10, what, at));
        let usurped = |connection, running, since, until| Usurped { job: 0, connection, running, since, until };
        for (running, since) in [(false, 15), (true, 15), (true, 25)] {
            assert_eq!(superseded(&ledger, &[usurped(7, running, since, i64::MAX)]).len(), 1, "{running} {since}");
        }
        // Its server was killed in time; it had claimed `b`; it was another connection; it was over.
        let fine = [
            usurped(7, false, 15, 20),
            usurped(7, true, 15, 25),
            usurped(8, false, 15, i64::MAX),
            usurped(7, false, 32, i64::MAX),
        ];
        assert!(superseded(&ledger, &fine).is_empty());
    }

    #[test]
    fn only_planned_and_enabled_instants_count() {
        let ledger = [entry("a", 10, "end", 12)];
        assert_eq!(completed(&ledger, &[row(10, 10, "OK")], &books(), 0, 0, 35), (4, 1));
        assert!(due(&[entry("a", 11, "start", 12)], &jobs(), &books(), 0).len() == 1);
    }
}
