//! What `pause`, `resume`, `abort`, `enable` and `disable` share: a request to change what is wanted of jobs.

use mysql_async::Value;
use serde_json::json;

use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::model::JobName;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Makes the request for each of these jobs; none is made where one of them is not there, and the first that is refused ends it.
pub async fn jobs(settings: &Settings, request: &str, names: &[JobName], reason: Option<&str>) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    if names.len() > 1 {
        for name in names {
            db::jobs(&mut conn, &settings.schema, Some(name.as_str())).await?;
        }
    }
    let mut answer = Answer::default();
    for (done, name) in names.iter().enumerate() {
        let arguments = vec![name.as_str().into(), options(reason)];
        let rows = db::call(&mut conn, &settings.schema, &format!("job${request}"), arguments).await;
        answer.extend(report::requested(rows.map_err(|error| refused(error, name, &names[..done]))?, name));
    }
    conn.disconnect().await?;
    Ok(answer)
}

/// Pauses or resumes all jobs of the account at once.
pub async fn all(settings: &Settings, request: &str, reason: Option<&str>) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let rows = db::call(&mut conn, &settings.schema, &format!("job${request}_all"), vec![options(reason)]).await?;
    conn.disconnect().await?;
    Ok(report::switched(rows, request))
}

fn options(reason: Option<&str>) -> Value {
    json!({ "reason": reason }).to_string().into()
}

/// Names the job that was refused, says how it can be had, and which jobs before it were not.
fn refused(error: Error, name: &JobName, done: &[JobName]) -> Error {
    let error = match error.message.strip_prefix("the job is ") {
        Some(rest) => {
            let way = if rest.starts_with("PAUSED") { "resume" } else { "enable" };
            let hint = format!("`jobctl {way} {}` makes it ENABLED", name.word());
            Error { message: format!("`{name}` is {rest}"), ..error }.hint(hint)
        }
        None => about(error, name),
    };
    if done.is_empty() {
        return error;
    }
    let done: Vec<_> = done.iter().map(|name| format!("`{name}`")).collect();
    error.hint(format!("done already, leave them out: {}", done.join(", ")))
}

/// Names the job that is not there as the command line has it.
pub fn about(error: Error, name: &JobName) -> Error {
    if error.kind == Kind::NotFound && error.code == Some(45003) {
        return Error { message: format!("you own no job named `{name}`"), ..error };
    }
    error
}
