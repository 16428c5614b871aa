//! The jobs as `job_overview` shows them.

use mysql_async::Conn;
use serde_json::Value;

use super::call::not_installed;
use super::{Record, Rows, call, quote, rows};
use crate::error::{Error, Kind};
use crate::model::JobOverview;

/// Reads the jobs that the account may see, or the ones of that name: all through the view, else its own through a routine.
pub async fn jobs(conn: &mut Conn, schema: &str, name: Option<&str>) -> Result<Rows, Error> {
    let sql = format!(
        "SELECT * FROM {}.job_overview WHERE ? IS NULL OR job_name = ? ORDER BY job_name, job_owner",
        quote::identifier(schema)
    );
    let found = match rows(conn, &sql, (name, name)).await {
        Err(error) if error.is_server(&[1044, 1142, 1143]) => own(conn, schema, name).await,
        found => found,
    }
    .map_err(|error| not_installed(error, schema))?;
    match name {
        Some(name) if found.is_empty() => {
            Err(Error::new(Kind::NotFound, format!("there is no job `{name}`")).hint("`jobctl list` shows the jobs there are"))
        }
        _ => Ok(found),
    }
}

/// Reads the account's own jobs, or the one of that name.
async fn own(conn: &mut Conn, schema: &str, name: Option<&str>) -> Result<Rows, Error> {
    let found = call(conn, schema, "job$overview", vec![name.into()]).await;
    found.map_err(|error| match error.is_server(&[1290]) {
        // Who calls is proved by a write that is rolled back.
        true => Error::new(Kind::Refused, "a read-only server cannot tell which jobs are yours")
            .because(error)
            .hint("ask the primary, or with an account that has SELECT on `job_overview`"),
        false => match (error.code, name) {
            (Some(45003), Some(name)) => Error { message: format!("you own no job named `{name}`"), ..error },
            _ => error,
        },
    })
}

impl JobOverview {
    /// Reads a row of the view.
    pub fn read(row: Record) -> Result<Self, Error> {
        serde_json::from_value(Value::Object(row)).map_err(|cause| {
            Error::new(Kind::Failed, "the view `job_overview` is not the one that this jobctl knows")
                .because(cause)
                .hint("`jobctl install` brings the schema up to date")
        })
    }

    /// Reads rows of the view.
    pub fn read_all(rows: &[Record]) -> Result<Vec<Self>, Error> {
        rows.iter().cloned().map(JobOverview::read).collect()
    }
}
