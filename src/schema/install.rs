//! Installing and upgrading.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::plan::{Plan, Role};
use super::present::Present;
use super::{grants, lock, runners, script};
use crate::db;
use crate::error::{Error, Kind};
use crate::model::Account;

/// How to install.
#[derive(Debug, Default)]
pub struct Options {
    /// Whose rights the routines shall have; by default those they had, else the installer's.
    pub definer: Option<Account>,
    /// Whether to share a schema with something else.
    pub into_existing: bool,
    /// How long runs that are in progress may take.
    pub drain: Duration,
}

/// What was done.
#[derive(Debug)]
pub struct Installed {
    /// `INSTALLED`, `UPGRADED`, `REPAIRED` (the same version again), or `UNCHANGED`.
    pub action: &'static str,
    /// How many migrations were applied.
    pub migrations: usize,
    /// How many runners ended for it, and come back.
    pub drained: usize,
    /// Whose rights the routines have.
    pub definer: Account,
    /// Whether that is the installer itself.
    pub own: bool,
    /// What makes a definer with just enough rights.
    pub least: Vec<String>,
    /// What somebody with more rights should do.
    pub warnings: Vec<String>,
}

/// Installs jobctl into a schema, or brings what is there up to date.
pub async fn install(conn: &mut Conn, schema: &str, options: Options) -> Result<Installed, Error> {
    db::writable(conn).await?;
    lock::take(conn, schema).await?;
    let drain = options.drain;
    let (present, plan) = plan(conn, schema, options).await?;
    // A routine that is away for a moment would break a run.
    let drained = if plan.statements.is_empty() { 0 } else { runners::drain(conn, drain).await? };
    let mut warnings = Vec::new();
    if plan.blind && !plan.statements.is_empty() {
        warnings.push("the server forgot who may execute the reinstalled routines; grant it again, as below".into());
    }
    for statement in &plan.statements {
        match (conn.query_drop(&statement.sql).await.map_err(Error::from), statement.role) {
            (Err(error), Role::Grant) => warnings.push(format!("run by hand: `{}` ({})", statement.sql, error.with_cause())),
            // The column, index or check is there.
            (Err(error), Role::Table) if error.is_server(&[1060, 1061, 1826, 3822]) => {}
            (done, _) => done.map_err(|error| explain(error, &statement.sql))?,
        }
        if statement.role == Role::Door {
            runners::none_lives(conn).await?;
        }
    }
    try_out(conn, schema, &plan.definer).await?;
    runners::let_go(conn).await?;
    let least = Account { user: "jobctl".into(), host: "localhost".into() };
    Ok(Installed {
        action: match present.version.as_deref() {
            _ if plan.statements.is_empty() => "UNCHANGED",
            None => "INSTALLED",
            Some(env!("CARGO_PKG_VERSION")) => "REPAIRED",
            Some(_) => "UPGRADED",
        },
        migrations: plan.migrations,
        drained,
        own: plan.definer == current_user(conn).await?,
        definer: plan.definer,
        least: grants::definer(conn, schema, &least).await?,
        warnings,
    })
}

/// The script that does the same, for the `mysql` client.
pub async fn dry_run(conn: &mut Conn, schema: &str, options: Options) -> Result<String, Error> {
    let (_, plan) = plan(conn, schema, options).await?;
    Ok(script::render(&plan))
}

async fn plan(conn: &mut Conn, schema: &str, options: Options) -> Result<(Present, Plan), Error> {
    let present = Present::look(conn, schema).await?;
    present.admit(schema, options.into_existing)?;
    let definer = match options.definer.or_else(|| present.definer.clone()) {
        Some(definer) => definer,
        None => current_user(conn).await?,
    };
    let plan = Plan::make(conn, schema, &present, definer).await?;
    Ok((present, plan))
}

async fn current_user(conn: &mut Conn) -> Result<Account, Error> {
    let account: Option<String> = db::first(conn, "SELECT CURRENT_USER()", ()).await?;
    account.unwrap_or_default().parse().map_err(Error::usage)
}

/// Says what lacks, where the server says only that something does.
fn explain(error: Error, sql: &str) -> Error {
    let about = sql.lines().find(|line| !line.starts_with("--")).unwrap_or_default().trim_end_matches(['(', ' ']).to_owned();
    let lacks_right = error.is_server(&[1044, 1142, 1143, 1227, 1370, 1419]);
    let definer = error.is_server(&[1227]);
    let mut explained = Error::new(error.kind, format!("`{about}` failed"));
    explained.code = error.code;
    if definer {
        explained.hints.push("another definer than yourself takes SET_ANY_DEFINER (MySQL) or SET USER (MariaDB)".into());
    } else if lacks_right {
        explained.hints.push(
            "an installer needs SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE VIEW, SHOW VIEW, \
             CREATE ROUTINE, ALTER ROUTINE and EXECUTE on the schema"
                .into(),
        );
    }
    explained.hints.push("what was done stays; `jobctl install` goes on from there".into());
    explained.because(error)
}

/// Reads the view once, with the rights of its definer.
async fn try_out(conn: &mut Conn, schema: &str, definer: &Account) -> Result<(), Error> {
    let sql = format!("SELECT COUNT(*) FROM {}.job_overview", db::quote::identifier(schema));
    let Err(error) = conn.query_drop(sql).await else { return Ok(()) };
    let message = format!("installed, but the definer {definer} lacks rights or does not exist");
    let mut refused = Error::new(Kind::Refused, message).because(Error::from(error));
    let statements = grants::definer(conn, schema, definer).await?;
    refused.hints = statements.into_iter().map(|statement| statement + ";").collect();
    Err(refused)
}
