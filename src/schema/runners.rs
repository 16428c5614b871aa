//! Runners that live, which neither an installation nor its end may disturb.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::error::{Error, Kind};

/// Refuses when a runner lives in the connection's schema; says of which job.
pub async fn none_lives(conn: &mut Conn) -> Result<(), Error> {
    let sql = "SELECT job_name FROM job_overview WHERE job_runner_connection_id IS NOT NULL ORDER BY job_name";
    match conn.query::<String, _>(sql).await.map_err(Error::from) {
        Ok(names) if names.is_empty() => Ok(()),
        Ok(names) => {
            let message = format!("{} of jobctl's runners live, the first of job `{}`", names.len(), names[0]);
            Err(Error::new(Kind::Refused, message).hint("end them first; `jobctl status` shows them"))
        }
        // A schema that is not there yet, half-installed or broken runs nothing.
        Err(error) if error.is_server(&[1046, 1049, 1054, 1146, 1305, 1356, 1449]) => Ok(()),
        Err(error) => Err(error),
    }
}
