//! `jobctl adopt`.

use clap::Args;
use serde_json::Value;

use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::report::{Answer, Block};
use crate::settings::Settings;

/// Say that this server is where the jobs are to run
///
/// A restored dump or a copied disk holds the same jobs as the server it comes from, and they must not run twice: on a server
/// that the schema does not know, a controller that it does not know either holds all jobs. This lets them go. It is about
/// everybody's jobs, and so for an administrator.
#[derive(Args, Debug)]
pub struct AdoptArgs {}

/// Lets held jobs go.
pub async fn run(settings: &Settings, _: AdoptArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let rows = db::call(&mut conn, &settings.schema, "job$adopt", Vec::new()).await.map_err(|error| {
        match error.is_server(&[1370]) {
            true => Error::new(Kind::Refused, "to adopt a server is for an administrator, as it is about everybody's jobs")
                .hint("log in as the account that installed jobctl: `--user`")
                .because(error),
            false => error,
        }
    })?;
    conn.disconnect().await?;
    let adopted = rows.first().and_then(|row| row.get("adopted")).and_then(Value::as_u64) == Some(1);
    let text = match adopted {
        true => format!("jobs are to run on {}; controllers go on by themselves", settings.server),
        false => "nothing to do: no jobs were held".to_owned(),
    };
    Ok(Answer::new(rows, vec![Block::Text(text + "\n")]))
}
