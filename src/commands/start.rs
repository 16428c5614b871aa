//! `jobctl start`.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::controller::{self, Park, Plan, Signals};
use crate::error::Error;
use crate::model::{JobName, Span};
use crate::report::Answer;
use crate::settings::{self, Settings};

/// How it becomes a service.
const SYSTEMD: &str = "\
Under systemd, which starts it at boot, and again if it fails or hangs:
  [Unit]
  Wants=network-online.target
  After=network-online.target
  [Service]
  Type=notify
  WatchdogSec=30
  # more than --grace, or than your longest run
  TimeoutStopSec=5min
  Environment=JOBCTL_URL=mysql://shop@db:3306/jobctl
  # holds MYSQL_PWD=..., readable by root alone
  EnvironmentFile=/etc/jobctl.password
  ExecStart=/usr/local/bin/jobctl start --all
  Restart=always
  RestartSec=5
  DynamicUser=yes
  [Install]
  WantedBy=multi-user.target";

/// Run jobs: blocks until their schedules end, or a signal comes
///
/// Each job gets a connection of its own, but for those that are parked; one that is run elsewhere is taken over when that ends. One line on stderr tells each thing that happens. Ends with 0 when all the named
/// jobs are FINISHED, with 1 when one ended otherwise; with --all it never ends by itself. After a signal the present runs
/// are finished first; a second one stops them, as `jobctl cancel` does; a third leaves them to the server.
#[derive(Args, Debug)]
#[command(after_long_help = SYSTEMD)]
pub struct StartArgs {
    /// Names of the jobs to start
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<JobName>,
    /// Start all jobs of this account, also those defined later
    #[arg(long)]
    pub all: bool,
    /// Name by which this controller is known [default: LOGIN@HOST, with a number if there are several]
    #[arg(long, value_name = "CONTROLLER")]
    pub controller_name: Option<String>,
    /// Time without a sign of life after which other controllers take these jobs over [default: 30s]
    #[arg(long, value_name = "SPAN")]
    pub ttl: Option<Span>,
    /// Age at which a runner's session is replaced, between two runs [default: 1h; MariaDB 5m]
    #[arg(long, value_name = "SPAN")]
    pub session_max_age: Option<Span>,
    /// Time to the next run from which on a job is parked, `never`, or `auto`: 1m with more than 20 jobs
    ///
    /// A parked job has no session, which a server has only so many of; it gets one in time before it is due.
    #[arg(long, value_name = "SPAN", default_value = "auto", value_parser = park)]
    pub park: Park,
    /// Time that present runs have after a signal [default: as long as they take]
    #[arg(long, value_name = "SPAN")]
    pub grace: Option<Span>,
    /// What becomes of runs that take longer: leave (to the server) or kill
    #[arg(long, value_name = "WAY", default_value = "leave", hide_possible_values = true)]
    pub on_grace: OnGrace,
}

/// What becomes of runs that take longer than the grace.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OnGrace {
    /// The server finishes and records them.
    Leave,
    /// They are stopped.
    Kill,
}

/// Runs the controller until it ends.
pub async fn run(settings: &Settings, args: StartArgs) -> Result<Answer, Error> {
    let mut signals = Signals::listen()?;
    let exact = args.controller_name.is_some();
    let controller = args.controller_name.unwrap_or_else(|| format!("{}@{}", settings.server.user, settings::host_name()));
    let names = args.names.iter().map(|name| name.as_str().to_owned()).collect();
    let ttl = args.ttl.map_or(Plan::TTL, Span::duration);
    let session_max_age = args.session_max_age.map(Span::duration);
    let (grace, kill_after_grace) = (args.grace.map(Span::duration), args.on_grace == OnGrace::Kill);
    let plan = Plan { names, controller, exact, ttl, session_max_age, grace, kill_after_grace, park: args.park };
    controller::run(settings, plan, &mut signals).await?;
    Ok(Answer::default())
}

/// Reads the value of `--park`.
fn park(text: &str) -> Result<Park, String> {
    match text {
        "auto" => Ok(Park::Auto),
        "never" => Ok(Park::Never),
        span => match Span::from_str(span).map(Span::duration) {
            Ok(span) if span < Park::LEAST => Err("a session is opened 2 s before it is needed: at least 10s".into()),
            Ok(span) => Ok(Park::After(span)),
            Err(_) => Err("neither a span, such as 90s, nor `auto` or `never`".into()),
        },
    }
}
