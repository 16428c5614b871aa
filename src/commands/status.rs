//! `jobctl status`.

use clap::Args;
use jiff::Timestamp;
use mysql_async::Conn;

use super::watch::{End, Watch};
use crate::controller::Signals;
use crate::db::{self, Rows, Session};
use crate::error::Error;
use crate::model::{JobName, JobOverview};
use crate::output::Output;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Show how the jobs are: what they do, how they ended, when due
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// Names of the jobs to show [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<JobName>,
    /// Stay, and show every change: on a terminal in place (keys: q, arrows, p), else a table each
    #[arg(long)]
    pub watch: bool,
}

/// Shows the jobs named, or all.
pub async fn run(settings: &Settings, args: StatusArgs, output: &mut Output) -> Result<Answer, Error> {
    if args.watch {
        let mut signals = Signals::listen()?;
        let title = format!("jobctl status of `{}` on {}", settings.schema, settings.server);
        let watch = Watch { settings, names: &args.names, title, notes: Vec::new(), log: false, until: None };
        return match watch.run(output, &mut signals).await? {
            End::Quit | End::Time => Ok(Answer::default()),
            End::Signal(signal) => Err(signal.ended()),
        };
    }
    let mut conn = connect(settings).await?;
    let (rows, jobs, now) = read(&mut conn, settings, &args.names).await?;
    conn.disconnect().await?;
    Ok(report::status(rows, &jobs, now))
}

/// Opens a connection to look at jobs by.
pub async fn connect(settings: &Settings) -> Result<Conn, Error> {
    db::connect(settings, Session::Own).await
}

/// Reads the jobs named, or all, and the server's clock.
pub async fn read(
    conn: &mut Conn,
    settings: &Settings,
    names: &[JobName],
) -> Result<(Rows, Vec<JobOverview>, Timestamp), Error> {
    let mut rows = Rows::default();
    for name in names {
        rows.append(db::jobs(conn, &settings.schema, Some(name.as_str())).await?);
    }
    if names.is_empty() {
        rows = db::jobs(conn, &settings.schema, None).await?;
    }
    let now = db::now(conn).await?;
    let jobs = JobOverview::read_all(&rows)?;
    Ok((rows, jobs, now))
}
