//! The lock that keeps two installers of one schema apart.

use mysql_async::Conn;

use crate::db;
use crate::error::{Error, Kind};

/// The name of the lock, as an SQL expression; the schema as an SQL expression too.
pub fn name(schema: &str) -> String {
    format!("SHA2(CONCAT('jobctl install ', {schema}), 256)")
}

/// Takes the lock for the rest of the session, or gives up after 10 seconds.
pub async fn take(conn: &mut Conn, schema: &str) -> Result<(), Error> {
    let sql = format!("SELECT GET_LOCK({}, 10)", name("?"));
    match db::first(conn, &sql, (schema,)).await? {
        Some(1) => Ok(()),
        _ => Err(Error::new(Kind::Busy, format!("somebody else is installing or uninstalling the schema `{schema}`"))
            .hint("try again")),
    }
}
