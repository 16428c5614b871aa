//! Opening a connection, and what its session is pinned to.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error as ClientError, Opts, OptsBuilder, SslOpts};
use tokio::time::timeout;

use crate::cli::SslMode;
use crate::error::{Error, Kind};
use crate::settings::{Server, Settings};

/// How long a server may take to let us in.
const LOGIN: Duration = Duration::from_secs(10);
/// After how long a silence the kernel asks whether the other side still lives.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// jobctl's own sessions mean the same everywhere, whatever the server's defaults are.
pub const PINNED: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_bin, time_zone = '+00:00', autocommit = 1, \
     sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', \
     group_concat_max_len = 1048576, wait_timeout = 31536000";

/// A body sees what a fresh login sees: the server's own defaults. A runner's CALL lasts for ever, so MariaDB must not time it.
const RUNNER: &str = "SET NAMES utf8mb4 /*M! , max_statement_time = 0 */";

/// What a connection is for.
#[derive(Clone, Copy, Debug)]
pub enum Session<'a> {
    /// jobctl's own statements.
    Own,
    /// Blocking in `job$run` for this job.
    Runner {
        /// Told to the server as the connection attribute `job_name`.
        job: &'a str,
    },
}

/// Opens a connection; it has no default schema.
pub async fn connect(settings: &Settings, session: Session<'_>) -> Result<Conn, Error> {
    let server = &settings.server;
    let encrypt = server.ssl_mode != SslMode::Disabled && server.socket.is_none();
    let mut opened = open(server, session, encrypt).await;
    if let (SslMode::Preferred, Err(ClientError::Driver(DriverError::NoClientSslFlagFromServer))) = (server.ssl_mode, &opened) {
        opened = open(server, session, false).await;
    }
    opened.map_err(|cause| cannot_connect(server, cause))
}

async fn open(server: &Server, session: Session<'_>, encrypt: bool) -> Result<Conn, ClientError> {
    let pinned = async {
        let mut conn = Conn::new(options(server, session, encrypt)).await?;
        conn.query_drop(match session {
            Session::Own => PINNED,
            Session::Runner { .. } => RUNNER,
        })
        .await?;
        Ok(conn)
    };
    match timeout(LOGIN, pinned).await {
        Ok(opened) => opened,
        Err(_) => {
            Err(std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {} s", LOGIN.as_secs())).into())
        }
    }
}

fn options(server: &Server, session: Session<'_>, encrypt: bool) -> Opts {
    // Like `mysql`, without a certificate authority named, any certificate will do.
    let ssl = SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true);
    let options = OptsBuilder::default()
        .ip_or_hostname(&server.host)
        .tcp_port(server.port)
        .socket(server.socket.as_deref())
        .prefer_socket(false)
        .user(Some(&server.user))
        .pass(server.password.as_ref().map(|secret| &secret.0))
        .ssl_opts(encrypt.then_some(ssl))
        .tcp_keepalive(Some(KEEPALIVE))
        // Known beforehand, so that the client need not ask the server for them.
        .max_allowed_packet(Some(1 << 30))
        .wait_timeout(Some(31_536_000))
        .connect_attribute("program_name", "jobctl")
        .connect_attribute("program_version", env!("CARGO_PKG_VERSION"));
    match session {
        Session::Own => options.into(),
        Session::Runner { job } => options.connect_attribute("job_name", job).into(),
    }
}

/// Says which server it was that did not let us in.
fn cannot_connect(server: &Server, cause: ClientError) -> Error {
    let inner = Error::from(cause);
    let mut error = Error::new(Kind::Unreachable, format!("cannot connect to `{server}` as `{}`", server.user));
    error.hints = inner.hints.clone();
    if error.hints.is_empty() {
        error.hints.push("is the server up, and are `--host` and `--port`, or `--socket`, right?".into());
    }
    error.code = inner.code;
    error.because(inner)
}
