//! Measures jobctl and the server's Event Scheduler side by side: `cargo bench --bench scheduler`, `-- --help` tells more.
//!
//! - `args`: the command line. `stage`: a server of our own, with jobctl installed. `controller`: `jobctl start`.
//! - `lateness`: both sides on the same work. `cycle`: bookkeeping and its floor. `idle`, `reactions`, `takeover`, `status`: jobctl.
//! - `clock`, `process`, `spread`: what is measured by. `report`, `table`: what is told.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, reason = "a benchmark is a test that prints")]

mod args;
mod clock;
mod controller;
mod cycle;
mod idle;
mod lateness;
mod process;
mod reactions;
mod report;
mod spread;
mod stage;
mod status;
mod table;
mod takeover;

// What the tests start servers and make accounts by.
#[path = "../jobctl/db.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod db;
#[path = "../jobctl/each.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod each;
#[path = "../jobctl/install.rs"]
mod install;
#[path = "../jobctl/runner.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod runner;
#[path = "../jobctl/servers.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod servers;
#[path = "../jobctl/session.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod session;

use std::process::ExitCode;
use std::time::Instant;

use tokio::signal::unix::{SignalKind, signal};

use args::Args;
use report::Report;
use stage::Stage;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    let mut terminated = signal(SignalKind::terminate()).expect("a signal can be listened to");
    // Whoever interrupts must leave no server behind: what was started is stopped as it is dropped.
    tokio::select! {
        () = run(&args) => ExitCode::SUCCESS,
        _ = tokio::signal::ctrl_c() => ExitCode::from(130),
        _ = terminated.recv() => ExitCode::from(143),
    }
}

/// Measures on one server after the other, and tells.
async fn run(args: &Args) {
    let begun = Instant::now();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machine = format!(
        "{cores} cores, load {} before the run (more than 0: something else took part of the machine)",
        process::load()
    );
    let mut reports: Vec<_> = args.servers.iter().map(|server| Report::new(server)).collect();
    for at in 0..reports.len() {
        measure(args, &mut reports[at]).await;
        // What is measured is kept, whatever becomes of the next server.
        write(args, &reports[..=at], &machine);
    }
    println!("\n{}", table::draw(&reports));
    for note in notes(args) {
        println!("- {note}");
    }
    for report in &reports {
        println!("- {} {}: {}", report.server, report.version, report.settings);
    }
    let elapsed = begun.elapsed().as_secs();
    println!("- {machine}");
    println!("- {} run, took {elapsed} s", if args.quick { "quick" } else { "full" });
    println!("- all figures: {}", args.json.display());
}

/// Writes the figures for machines.
fn write(args: &Args, reports: &[Report], machine: &str) {
    let json = serde_json::json!({
        "quick": args.quick,
        "debug_build": cfg!(debug_assertions),
        "machine": machine,
        "notes": notes(args),
        "servers": reports.iter().map(Report::json).collect::<Vec<_>>(),
    });
    if let Some(folder) = args.json.parent() {
        std::fs::create_dir_all(folder).expect("the folder of --json can be made");
    }
    std::fs::write(&args.json, format!("{json:#}\n")).expect("the file of --json can be written");
}

/// Measures all parts on one server; those that tell how much memory something takes come first, while the server is fresh.
async fn measure(args: &Args, report: &mut Report) {
    if args.wants("idle") && !args.quick {
        let mut stage = begin(report).await;
        idle::measure(&mut stage, args, report, 100, false).await;
    }
    let mut stage = begin(report).await;
    lateness::procedures(&mut stage).await;
    if args.wants("idle") {
        idle::measure(&mut stage, args, report, args.runners(), true).await;
    }
    if args.wants("install") {
        report.number("install", "jobctl install on an empty server", "s", stage.installed);
    }
    if args.wants("reactions") {
        told(&report.server, "reactions");
        reactions::measure(&mut stage, args, report).await;
    }
    if args.wants("takeover") {
        told(&report.server, "takeover");
        takeover::measure(&mut stage, args, report).await;
    }
    if args.wants("cycle") {
        told(&report.server, "bookkeeping");
        cycle::measure(&mut stage, args, report).await;
    }
    if args.wants("lateness") {
        told(&report.server, "lateness");
        lateness::measure(&mut stage, args, report).await;
    }
    if args.wants("status") {
        told(&report.server, "status");
        status::measure(&mut stage, args, report).await;
    }
}

/// Starts a fresh server.
async fn begin(report: &mut Report) -> Stage {
    told(&report.server, "a fresh server");
    let mut stage = Stage::start(&report.server).await;
    report.version = stage.version().await;
    report.settings = stage.settings().await;
    stage
}

/// Tells what is being done now.
pub fn told(server: &str, part: &str) {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    eprintln!("{:4} s  {server}: {part}", BEGUN.get_or_init(Instant::now).elapsed().as_secs());
}

/// What whoever reads the table must know.
fn notes(args: &Args) -> Vec<&'static str> {
    let mut notes = vec![
        "work of both sides: one durable INSERT of the server's time; lateness is that time less the planned instant; warm-up not counted",
        "events know whole seconds only: N events every second are due at once, and are what both staggered and same-instant jobs are compared with",
        "an event's run is counted for the last whole second before it, which favours events: what is later than a second looks early",
        "what was skipped has no lateness: it is counted under occurrences; lost is what neither ran nor is recorded as skipped",
        "reactions: from the request's own time in the database to what the runner itself writes there; p99 of under 100 samples is the worst",
    ];
    if args.quick {
        notes.push("quick: few samples, not every N, and fewer waiting runners than the 1,000 that the targets are for");
    }
    if cfg!(debug_assertions) {
        notes.push("DEBUG BUILD: jobctl's own time (status, install, reactions by its commands) counts for nothing");
    }
    notes
}
