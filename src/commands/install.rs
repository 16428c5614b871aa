//! `jobctl install`.

use std::time::Duration;

use clap::Args;

use crate::db::{self, Record, Session};
use crate::error::Error;
use crate::model::{Account, Span};
use crate::report::{self, Answer, Block};
use crate::schema::install::{self, Options};
use crate::settings::Settings;

/// Install jobctl into a schema, or bring it up to date
///
/// Creates the schema named by --database (by default `jobctl`) if it is absent, its tables, and the routines that do the work.
/// It may be repeated at any time: what is right stays, what is missing or outdated is put right. Runners that live finish their
/// present runs first, and come back by themselves; those that no controller would start again are named, and nothing is done.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// Account whose rights the routines have [default: as before, else the installing account]
    #[arg(long, value_name = "USER@HOST")]
    pub definer: Option<Account>,
    /// Account to fill into the GRANTs that are printed for an owner of jobs
    #[arg(long, value_name = "USER@HOST")]
    pub owner: Option<Account>,
    /// Share a schema that holds something else
    #[arg(long)]
    pub into_existing: bool,
    /// Time that present runs have to end, so that their runners execute the new version [default: 1m]
    #[arg(long, value_name = "SPAN")]
    pub drain: Option<Span>,
    /// Print what would be done, as a script for the `mysql` client
    #[arg(long)]
    pub dry_run: bool,
}

/// How long present runs may take, unless told otherwise.
const DRAIN: Duration = Duration::from_secs(60);

/// Installs, or prints the script.
pub async fn run(settings: &Settings, args: InstallArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let drain = args.drain.map_or(DRAIN, Span::duration);
    let options = Options { definer: args.definer, into_existing: args.into_existing, drain };
    if args.dry_run {
        let script = install::dry_run(&mut conn, &settings.schema, options).await?;
        let row = Record::from_iter([("script".to_owned(), script.clone().into())]);
        return Ok(Answer::new(row.into(), vec![Block::Text(script)]));
    }
    let done = install::install(&mut conn, &settings.schema, options).await?;
    conn.disconnect().await?;
    Ok(report::installed(&done, &settings.schema, args.owner.map(|owner| owner.to_string())))
}
