//! `jobctl start`.

use clap::Args;

use crate::controller::{self, Plan, Signals};
use crate::error::Error;
use crate::model::JobName;
use crate::report::Answer;
use crate::settings::{self, Settings};

/// How it becomes a service.
const SYSTEMD: &str = "\
Under systemd, which starts it at boot and again if it fails:
  [Unit]
  After=network-online.target
  [Service]
  Environment=JOBCTL_URL=mysql://shop@db:3306/jobctl
  # holds MYSQL_PWD=..., readable by root alone
  EnvironmentFile=/etc/jobctl.password
  ExecStart=/usr/local/bin/jobctl start --all
  Restart=always
  DynamicUser=yes
  [Install]
  WantedBy=multi-user.target";

/// Run jobs: blocks until their schedules end, or a signal comes
///
/// Each job gets a connection of its own. One line on stderr tells each thing that happens. Ends with 0 when all the named
/// jobs are FINISHED, with 1 when one ended otherwise; with --all it never ends by itself. After a signal the present runs
/// are finished first; after a second one they are left to the server.
#[derive(Args, Debug)]
#[command(after_long_help = SYSTEMD)]
pub struct StartArgs {
    /// Names of the jobs to start
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<JobName>,
    /// Start all jobs of this account, also those defined later
    #[arg(long)]
    pub all: bool,
    /// Name by which this controller is known [default: LOGIN@HOST]
    #[arg(long, value_name = "CONTROLLER")]
    pub controller_name: Option<String>,
}

/// Runs the controller until it ends.
pub async fn run(settings: &Settings, args: StartArgs) -> Result<Answer, Error> {
    let mut signals = Signals::listen()?;
    let controller = args.controller_name.unwrap_or_else(|| format!("{}@{}", settings.server.user, settings::host_name()));
    let names = args.names.iter().map(|name| name.as_str().to_owned()).collect();
    controller::run(settings, Plan { names, controller }, &mut signals).await?;
    Ok(Answer::default())
}
