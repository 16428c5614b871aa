//! What `pause`, `resume`, `abort`, `enable` and `disable` share: a request to change what is wanted of jobs.

use mysql_async::Value;
use serde_json::json;

use crate::db::{self, Session};
use crate::error::Error;
use crate::model::JobName;
use crate::report::{self, Answer};
use crate::settings::Settings;

/// Makes the request for each of these jobs; the first that is refused ends it.
pub async fn jobs(settings: &Settings, request: &str, names: &[JobName], reason: Option<&str>) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    let mut answer = Answer::default();
    for name in names {
        let arguments = vec![name.as_str().into(), options(reason)];
        let rows = db::call(&mut conn, &settings.schema, &format!("job${request}"), arguments).await;
        answer.extend(report::requested(rows.map_err(|error| about(error, name))?, name));
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

/// Names the job that an error is about; the routine's sentence speaks of "the job".
fn about(error: Error, name: &JobName) -> Error {
    let message = format!("`{name}`: {}", error.message);
    Error { message, ..error }
}
