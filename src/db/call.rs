//! Statements and calls that give rows.

use jiff::Timestamp;
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, Params, Row};

use super::{Rows, quote, record};
use crate::error::{Error, Kind};

/// Whether a server takes no writes, as an SQL expression; newer MariaDB servers know several kinds of read-only, by name.
pub const READ_ONLY: &str = "(CONCAT(@@global.read_only) NOT IN ('0', 'OFF') OR @@global.innodb_read_only)";

/// Runs a statement and gives its rows.
pub async fn rows(conn: &mut Conn, sql: &str, params: impl Into<Params> + Send) -> Result<Rows, Error> {
    let mut result = conn.exec_iter(sql, params.into()).await?;
    let columns = names(result.columns_ref());
    let rows: Vec<Row> = result.collect().await?;
    drop(result);
    Ok(Rows { columns, records: rows.into_iter().map(record).collect() })
}

/// Runs a statement and gives the first value of its first row.
pub async fn first<T>(conn: &mut Conn, sql: &str, params: impl Into<Params> + Send) -> Result<Option<T>, Error>
where
    T: mysql_async::prelude::FromValue + Send + 'static,
{
    let row: Option<Row> = conn.exec_first(sql, params.into()).await?;
    let value = row.and_then(|mut row| row.take_opt::<Option<T>, _>(0));
    match value {
        Some(Ok(value)) => Ok(value),
        None => Ok(None),
        Some(Err(cause)) => Err(Error::new(Kind::Failed, "the server gave an unexpected answer").because(cause)),
    }
}

/// Calls a routine of the schema, reads all its result sets to the end, and gives the rows of the last one.
pub async fn call(conn: &mut Conn, schema: &str, routine: &str, arguments: Vec<mysql_async::Value>) -> Result<Rows, Error> {
    let places = vec!["?"; arguments.len()].join(", ");
    let sql = format!("CALL {}.{}({places})", quote::identifier(schema), quote::identifier(routine));
    let arguments = if arguments.is_empty() { Params::Empty } else { Params::Positional(arguments) };
    let mut result = conn.exec_iter(sql, arguments).await.map_err(|cause| not_installed(cause.into(), schema))?;
    let mut last = Rows::default();
    while !result.is_empty() {
        // The end of a call is a result without columns.
        let columns = names(result.columns_ref());
        let rows: Vec<Row> = result.collect().await?;
        if !columns.is_empty() {
            last = Rows { columns, records: rows.into_iter().map(record).collect() };
        }
    }
    // An error that follows a result set looks like the end.
    result.drop_result().await?;
    Ok(last)
}

/// Says what it means when something of the schema is not there.
pub fn not_installed(error: Error, schema: &str) -> Error {
    if !error.is_server(&[1049, 1146, 1305]) {
        return error;
    }
    let hints = error.hints.clone();
    let mut told = Error::new(Kind::NotFound, format!("jobctl is not installed in schema `{schema}`, or not whole"));
    told.code = error.code;
    told.hints = hints;
    told.because(error)
}

fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name_str().into_owned()).collect()
}

/// Whether the server takes writes, also from an account that might write all the same.
pub async fn takes_writes(conn: &mut Conn) -> Result<bool, Error> {
    Ok(first(conn, &format!("SELECT NOT {READ_ONLY}"), ()).await? == Some(1))
}

/// Refuses a server that takes no writes.
///
/// # Errors
///
/// [`Kind::Refused`] on a read-only one.
pub async fn writable(conn: &mut Conn) -> Result<(), Error> {
    match takes_writes(conn).await? {
        true => Ok(()),
        false => Err(Error::new(Kind::Refused, "this server is read-only").hint("connect to the primary: `--host`")),
    }
}

/// The server's clock, by which everything is planned.
pub async fn now(conn: &mut Conn) -> Result<Timestamp, Error> {
    let text: Option<String> = first(conn, "SELECT DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')", ()).await?;
    let now = text.and_then(|text| text.parse().ok());
    now.ok_or_else(|| Error::new(Kind::Failed, "the server has no clock"))
}
