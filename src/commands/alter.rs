//! `jobctl alter`.

use clap::Args;
use serde_json::{Map, Value};

use super::request::about;
use super::schedule::{Instants, OnLost, wrong, zone};
use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::model::{JobName, ProcedureName, Span};
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Change a job; what is not named stays
///
/// A live runner obeys within seconds. `none` takes a start, finish, limit, timeout or description away.
#[derive(Args, Debug)]
pub struct AlterArgs {
    /// Name of the job
    pub name: JobName,
    /// Procedure to call, which takes no argument
    #[arg(long, value_name = "SCHEMA.PROCEDURE")]
    pub call: Option<ProcedureName>,
    /// Time between two calls; the instants stay on their grid
    #[arg(long, value_name = "SPAN")]
    pub every: Option<Span>,
    /// First call: moves the grid
    #[arg(long, value_name = "TIME|none")]
    pub start: Option<String>,
    /// No call after it
    #[arg(long, value_name = "TIME|none")]
    pub finish: Option<String>,
    /// Zone of times without an offset [default: this machine's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Failures in a row after which the job is given up as ERROR
    #[arg(long, value_name = "N|none")]
    pub max_failures: Option<String>,
    /// Time after which an attempt is stopped
    #[arg(long, value_name = "SPAN|none")]
    pub timeout: Option<String>,
    /// What becomes of an occurrence whose run was lost: skip or retry
    #[arg(long, value_name = "WAY", hide_possible_values = true)]
    pub on_lost: Option<OnLost>,
    /// What the job is for
    #[arg(long, value_name = "TEXT|none")]
    pub description: Option<String>,
    /// Another name
    #[arg(long, value_name = "NAME")]
    pub rename: Option<JobName>,
}

/// What takes something away.
const NONE: &str = "none";

/// Changes the job and echoes its next occurrences.
pub async fn run(settings: &Settings, args: AlterArgs) -> Result<Answer, Error> {
    let zone = zone(args.tz.as_deref(), settings)?;
    let instants = Instants { zone: &zone };
    let mut options = Map::new();
    if let Some(call) = &args.call {
        options.insert("schema".into(), call.schema.as_str().into());
        options.insert("procedure".into(), call.name.as_str().into());
    }
    if let Some(every) = args.every {
        options.insert("every".into(), every.seconds().into());
    }
    if let Some(timeout) = &args.timeout {
        let span = |text: &str| text.parse::<Span>().map_err(Error::usage);
        options.insert("timeout".into(), if timeout == NONE { Value::Null } else { span(timeout)?.seconds().into() });
    }
    for (key, time) in [("start", &args.start), ("finish", &args.finish)] {
        if let Some(time) = time {
            options.insert(key.into(), if time == NONE { Value::Null } else { instants.read(time)?.into() });
        }
    }
    for (key, text) in [("max_failures", &args.max_failures), ("description", &args.description)] {
        if let Some(text) = text {
            options.insert(key.into(), if text == NONE { Value::Null } else { text.as_str().into() });
        }
    }
    if let Some(way) = args.on_lost {
        options.insert("on_lost".into(), way.word().into());
    }
    if let Some(name) = &args.rename {
        options.insert("rename".into(), name.as_str().into());
    }
    if options.is_empty() {
        return Err(Error::usage("nothing to change").hint("`jobctl alter --help` tells what can be"));
    }
    let mut conn = db::connect(settings, Session::Own).await?;
    let arguments = vec![args.name.as_str().into(), Value::Object(options).to_string().into()];
    let rows = db::call(&mut conn, &settings.schema, "job$alter", arguments).await;
    let rows = rows.map_err(|error| match error.code {
        Some(45004) if error.message.contains("already") => {
            let name = args.rename.as_ref().unwrap_or(&args.name);
            Error { message: format!("you have a job `{name}` already"), ..error }
                .hint("`jobctl list` shows the names that are taken")
        }
        Some(45002) => wrong(error),
        _ => about(error, &args.name),
    })?;
    conn.disconnect().await?;
    let row = rows.into_first().ok_or_else(|| Error::new(Kind::Failed, "`job$alter` gave no answer"))?;
    Ok(report::altered(row, args.rename.as_ref().unwrap_or(&args.name), &zone))
}
