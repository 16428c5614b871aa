//! The lock that keeps two installers of one schema apart.

use mysql_async::Conn;

use crate::db;
use crate::error::{Error, Kind};

/// Takes the lock for the rest of the session, or gives up after 10 seconds.
pub async fn take(conn: &mut Conn, schema: &str) -> Result<(), Error> {
    let sql = "SELECT GET_LOCK(SHA2(CONCAT('jobctl install ', ?), 256), 10)";
    match db::first(conn, sql, (schema,)).await? {
        Some(1) => Ok(()),
        _ => Err(Error::new(Kind::Busy, format!("somebody else is installing or uninstalling the schema `{schema}`"))
            .hint("try again")),
    }
}
