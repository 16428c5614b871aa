//! `jobctl install`.

use clap::Args;

use crate::db::{self, Record, Session};
use crate::error::Error;
use crate::model::Account;
use crate::report::{self, Answer, Block};
use crate::schema::install::{self, Options};
use crate::settings::Settings;

/// Install jobctl into a schema, or bring it up to date
///
/// Creates the schema named by --database (by default `jobctl`) if it is absent, its tables, and the routines that do the work.
/// It may be repeated at any time: what is right stays, what is missing or outdated is put right.
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
    /// Print what would be done, as a script for the `mysql` client
    #[arg(long)]
    pub dry_run: bool,
}

/// Installs, or prints the script.
pub async fn run(settings: &Settings, args: InstallArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let options = Options { definer: args.definer, into_existing: args.into_existing };
    if args.dry_run {
        let script = install::dry_run(&mut conn, &settings.schema, options).await?;
        let row = Record::from_iter([("script".to_owned(), script.clone().into())]);
        return Ok(Answer::new(row.into(), vec![Block::Text(script)]));
    }
    let done = install::install(&mut conn, &settings.schema, options).await?;
    conn.disconnect().await?;
    Ok(report::installed(&done, &settings.schema, args.owner.map(|owner| owner.to_string())))
}
