//! `jobctl demo`.

use std::path::PathBuf;

use clap::Args;
use tokio::time::Instant;

use super::watch::{End, Watch, time_is_over};
use crate::controller::{self, Plan, Signals};
use crate::db::{self, Session};
use crate::demo::{self, Program, Server};
use crate::error::Error;
use crate::model::Span;
use crate::output::{Output, log};
use crate::report::{self, Answer};
use crate::settings::Settings;

/// What came of all runs, by job.
const COUNTS: &str = "SELECT j.job_name, \
     CAST(COALESCE(SUM(r.outcome = 'OK'), 0) AS UNSIGNED) AS ok, \
     CAST(COALESCE(SUM(r.outcome = 'ERROR'), 0) AS UNSIGNED) AS failed, \
     CAST(COALESCE(SUM(r.span_count), 0) AS UNSIGNED) AS skipped \
     FROM jobctl.job AS j LEFT JOIN jobctl.job_run AS r ON r.job_id = j.job_id GROUP BY j.job_name ORDER BY j.job_name";

/// Watch jobs run in a throw-away server with a small shop in it
///
/// Starts a private server in a temporary folder, installs jobctl, defines five jobs, runs them and shows how they are. When you
/// press `q` or Ctrl-C, all of it is gone again: no process, no file, no socket is left. Nothing needs root.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Server program to use, or folder it was unpacked into [default: a fetched one, else mysqld or mariadbd on PATH]
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
    /// Fetch a server first, on Debian: 90 MB into the build or cache folder, where it stays; nothing is installed
    #[arg(long, conflicts_with = "server")]
    pub install_server: bool,
    /// End by itself after this time
    #[arg(long = "for", value_name = "SPAN")]
    pub duration: Option<Span>,
    /// Print how to connect by `mysql` and `jobctl`, and stay until Ctrl-C also after `q`
    #[arg(long)]
    pub keep: bool,
}

/// Shows the demo, and leaves nothing behind.
pub async fn run(settings: &Settings, args: DemoArgs, output: &mut Output) -> Result<Answer, Error> {
    let mut signals = Signals::listen()?;
    let server = start(settings, &args, output, &mut signals).await?;
    let shown = show(settings, &args, &server, output, &mut signals).await;
    // Its runners see it go, and nobody need hear of that.
    log::keep(true);
    server.stop().await?;
    shown
}

/// Finds a server program, or fetches one, and starts it.
async fn start(settings: &Settings, args: &DemoArgs, output: &mut Output, signals: &mut Signals) -> Result<Server, Error> {
    if args.install_server {
        demo::fetch(signals).await?;
    }
    let program = Program::find(args.server.as_deref())?;
    output.note(&format!("starting a private {}", program.version));
    Server::start(&program, settings, signals).await
}

/// Opens the shop, runs its jobs, shows them as long as somebody looks, and tells at the end how they were.
async fn show(
    settings: &Settings,
    args: &DemoArgs,
    server: &Server,
    output: &mut Output,
    signals: &mut Signals,
) -> Result<Answer, Error> {
    let shop = tokio::select! {
        shop = demo::open(server, settings) => shop?,
        signal = signals.next() => return Err(signal.ended()),
    };
    let connect = demo::how_to_connect(&shop);
    let until = args.duration.map(|duration| Instant::now() + duration.duration());
    let live = output.screen().is_some_and(|screen| screen.terminal);
    // A live screen shows the log itself.
    log::keep(live);
    let runners = tokio::spawn(run_jobs(shop.clone()));
    let title = format!("jobctl demo: a shop on a private server, {}", shop.server);
    let notes = if args.keep { connect.clone() } else { Vec::new() };
    let watch = Watch { settings: &shop, names: &[], title, notes, log: live, until };
    let ended = if live {
        watch.run(output, signals).await
    } else {
        connect.iter().filter(|_| args.keep).for_each(|line| output.note(line));
        Ok(wait(until, signals).await)
    };
    if matches!((&ended, args.keep), (Ok(End::Quit), true)) {
        connect.iter().for_each(|line| output.note(line));
        output.note("the shop stays open until Ctrl-C");
        wait(until, signals).await;
    }
    let last = last_look(&server.root(settings)).await;
    // The server goes, and its sessions with it: nothing is left to be waited for.
    runners.abort();
    ended?;
    last
}

/// Waits until somebody or the time ends it.
async fn wait(until: Option<Instant>, signals: &mut Signals) -> End {
    tokio::select! {
        signal = signals.next() => End::Signal(signal),
        () = time_is_over(until) => End::Time,
    }
}

async fn run_jobs(settings: Settings) -> Result<(), Error> {
    // Signals are heard by whoever shows the demo; this one ends with its server.
    let mut signals = Signals::listen()?;
    controller::run(&settings, Plan::all("demo"), &mut signals).await
}

/// What came of all runs.
async fn last_look(root: &Settings) -> Result<Answer, Error> {
    let mut conn = db::connect(root, Session::Own).await?;
    let counts = db::rows(&mut conn, COUNTS, ()).await?;
    conn.disconnect().await?;
    Ok(report::shop(counts).note("The server is stopped, and nothing of it is left"))
}
