//! N jobs every second, each inserting one row: how late their bodies begin, what gets lost, and what it costs.
//!
//! - `jobctl`: runners of a controller.
//! - `events`: the server's Event Scheduler.
//! - `sample`: what one side did in one window.
//!
//! Both sides do the same work on the same server under the same settings, in windows that alternate; the other side is off
//! meanwhile. `staggered`: the planned instants of jobctl's jobs are spread evenly over the second. Events know whole seconds only,
//! so N events every second are always due in the same instant: their windows serve both comparisons. The comparison of like with
//! like is the same-instant row.

mod events;
mod jobctl;
mod sample;

pub use jobctl::procedures;
use sample::Sample;

use crate::args::Args;
use crate::clock;
use crate::report::{Report, short};
use crate::stage::Stage;

const PART: &str = "lateness of the body's start, ms: median / p99 / worst";
const DONE: &str = "occurrences done of those due (skipped and recorded; lost)";
const COST: &str = "per cycle: server CPU, ms; binary log, bytes";

/// As many jobs as there are procedures for.
const MOST: u32 = 400;

/// Measures both sides, for every N.
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report) {
    for n in args.count(&[1, 10, 100, MOST][..], &[10, MOST]).iter().copied() {
        let seconds = args.count(10, if n == MOST { 2 } else { 3 });
        events::create(stage, n).await;
        // A quick run has a window for each target, and no more.
        let staggered = match args.quick && n == MOST {
            true => None,
            false => Some(jobctl::window(stage, n, true, seconds).await),
        };
        let mut events = events::window(stage, n, seconds).await;
        let same = match args.quick && n < MOST {
            true => None,
            false => Some(jobctl::window(stage, n, false, seconds).await),
        };
        if !args.quick {
            events.add(events::window(stage, n, seconds).await);
        }
        let sides = [("jobctl, staggered", &staggered), ("jobctl, same instant", &same), ("events", &Some(events))];
        for (side, sample) in sides {
            if let Some(sample) = sample {
                tell(report, &format!("N={n}, {side}"), sample);
            }
        }
        if let [(_, Some(staggered)), _, (_, Some(events))] = sides
            && n == 10
        {
            early(report, staggered, events);
        }
        if let [_, (_, Some(same)), (_, Some(events))] = sides
            && n == MOST
        {
            crowd(report, same, events);
        }
    }
    let lost: Vec<_> = report.figures.iter().filter(|figure| figure.part == DONE && figure.label.contains("jobctl")).collect();
    let clean = !lost.is_empty() && lost.iter().all(|figure| figure.cell.ends_with("; 0)"));
    let cells = lost.iter().map(|figure| figure.cell.rsplit(' ').next().unwrap_or_default().trim_end_matches(')'));
    let cells = cells.collect::<Vec<_>>().join("+");
    report.target("occurrences lost: 0", clean, cells);
}

/// Writes down what one side did.
fn tell(report: &mut Report, label: &str, sample: &Sample) {
    report.spread(PART, label, "ms", &sample.lateness());
    let cell = format!("{} of {} ({}; {})", sample.done, sample.due, sample.skipped, sample.lost());
    let value = serde_json::json!({ "due": sample.due, "done": sample.done, "skipped": sample.skipped, "lost": sample.lost() });
    report.put(DONE, label.into(), cell, value);
    let (cpu, binlog) = (sample.cpu_per_cycle(), sample.binlog_per_cycle());
    let value = serde_json::json!({ "cpu_ms": cpu, "binlog_bytes": binlog, "cycles": sample.cycles });
    report.put(COST, label.into(), format!("{}; {}", short(cpu), short(binlog)), value);
}

/// The targets for a few jobs.
fn early(report: &mut Report, jobctl: &Sample, events: &Sample) {
    let (jobctl, events) = (jobctl.lateness(), events.lateness());
    let (median, p99) = (jobctl.median(), jobctl.p99());
    report.target("N=10 staggered: median at most 1 ms", median <= 1.0, format!("{} ms", short(median)));
    report.target("N=10 staggered: p99 at most 5 ms", p99 <= 5.0, format!("{} ms", short(p99)));
    let measured = format!("{} : {} ms", short(p99), short(events.p99()));
    report.target("N=10 staggered: p99 at most 1/4 of events'", p99 <= events.p99() / 4.0, measured);
}

/// The targets for many at once.
fn crowd(report: &mut Report, jobctl: &Sample, events: &Sample) {
    let (late, theirs) = (jobctl.lateness().p99(), events.lateness().p99());
    report.target("N=400 same instant: p99 at most 150 ms", late <= 150.0, format!("{} ms", short(late)));
    report.target("N=400 same instant: p99 below events'", late < theirs, format!("{} : {} ms", short(late), short(theirs)));
    let (cpu, theirs) = (jobctl.cpu_per_cycle(), events.cpu_per_cycle());
    report.target("N=400: CPU per cycle at most events'", cpu <= theirs, format!("{} : {} ms", short(cpu), short(theirs)));
}

/// The first instant of a window that begins soon.
fn soon() -> i64 {
    clock::next_second(clock::now() + 200_000)
}
