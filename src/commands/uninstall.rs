//! `jobctl uninstall`.

use clap::Args;

use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::output::Output;
use crate::report::{self, Answer};
use crate::schema::uninstall;
use crate::settings::Settings;

/// Drop all that jobctl has in the schema, jobs and history too
///
/// Asks first. Refuses while runners live. The schema itself goes only if nothing else is in it.
#[derive(Args, Debug)]
pub struct UninstallArgs {
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Asks, then drops.
pub async fn run(settings: &Settings, args: UninstallArgs, output: &mut Output) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let schema = &settings.schema;
    let jobs = uninstall::check(&mut conn, schema).await?;
    let question = format!("Drop jobctl from schema `{schema}` on {}, with {jobs} jobs and their history?", settings.server);
    if !args.yes && !output.confirm(&question)? {
        return Err(Error::new(Kind::Refused, "nothing was dropped: nobody said yes").hint("`--yes` drops without asking"));
    }
    let done = uninstall::uninstall(&mut conn, schema).await?;
    conn.disconnect().await?;
    Ok(report::uninstalled(&done, schema))
}
