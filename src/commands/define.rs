//! `jobctl define`.

use clap::Args;
use serde_json::json;

use super::schedule::{Instants, OnLost, wrong, zone};
use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::model::{JobName, ProcedureName, Span};
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Define a job: a procedure, and when to call it
///
/// The job belongs to the account that defines it. Nothing runs until `jobctl start` or `CALL job$run` runs it.
#[derive(Args, Debug)]
pub struct DefineArgs {
    /// Name of the job, unique among yours
    pub name: JobName,
    /// Procedure to call, which takes no argument
    #[arg(long, value_name = "SCHEMA.PROCEDURE")]
    pub call: ProcedureName,
    /// Time between two calls, such as 90s, 5m, 1h30m or 0.5s
    #[arg(long, value_name = "SPAN")]
    pub every: Span,
    /// First call [default: one SPAN from now]
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    /// No call after it
    #[arg(long, value_name = "TIME")]
    pub finish: Option<String>,
    /// Zone of times without an offset [default: this machine's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Failures in a row after which the job is given up as ERROR
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Time after which an attempt is stopped
    #[arg(long, value_name = "SPAN")]
    pub timeout: Option<Span>,
    /// What becomes of an occurrence whose run was lost, as its server or session died: skip, or retry (at least once)
    #[arg(long, value_name = "WAY", hide_possible_values = true)]
    pub on_lost: Option<OnLost>,
    /// What the job is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Redefine a job that exists; its id, status and history stay
    #[arg(long, conflicts_with = "if_not_exists")]
    pub replace: bool,
    /// Leave a job that exists as it is
    #[arg(long)]
    pub if_not_exists: bool,
}

/// Defines the job and echoes its first occurrences.
pub async fn run(settings: &Settings, args: DefineArgs) -> Result<Answer, Error> {
    let zone = zone(args.tz.as_deref(), settings)?;
    let instants = Instants { zone: &zone };
    let instant = |text: &Option<String>| text.as_deref().map(|text| instants.read(text)).transpose();
    let options = json!({
        "schema": args.call.schema,
        "procedure": args.call.name,
        "every": args.every.seconds(),
        "start": instant(&args.start)?,
        "finish": instant(&args.finish)?,
        "max_failures": args.max_failures,
        "timeout": args.timeout.map(Span::seconds),
        "on_lost": args.on_lost.map(OnLost::word),
        "description": args.description,
        "replace": args.replace,
        "if_not_exists": args.if_not_exists,
    });
    let mut conn = db::connect(settings, Session::Own).await?;
    let arguments = vec![args.name.as_str().into(), options.to_string().into()];
    let rows = db::call(&mut conn, &settings.schema, "job$define", arguments).await.map_err(|error| match error.code {
        Some(45004) if error.message.contains("already") => {
            Error { message: format!("you have a job `{}` already", args.name), ..error }
                .hint("`--replace` redefines it, `--if-not-exists` leaves it as it is")
        }
        Some(45002) => wrong(error),
        _ => error,
    })?;
    conn.disconnect().await?;
    let row = rows.into_first().ok_or_else(|| Error::new(Kind::Failed, "`job$define` gave no answer"))?;
    Ok(report::defined(row, &args.name, &args.call, args.every, &zone))
}
