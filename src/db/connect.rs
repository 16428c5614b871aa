//! Opening a connection, and what its session is pinned to.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error as ClientError, Opts, OptsBuilder, SslOpts};
use tokio::time::timeout;

use super::hosts;
use crate::cli::SslMode;
use crate::error::{Error, Kind};
use crate::model::Host;
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

/// Opens a connection; it has no default schema. Where the server has several hosts, it leads to the one that takes writes.
///
/// # Errors
///
/// [`Kind::Unreachable`] when no host lets us in.
pub async fn connect(settings: &Settings, session: Session<'_>) -> Result<Conn, Error> {
    let server = &settings.server;
    match server.hosts.as_slice() {
        [host] => login(Login::new(server, host, session)).await,
        _ if server.socket.is_some() => login(Login::new(server, &server.hosts[0], session)).await,
        hosts => {
            hosts::first_writable(server.last.as_ref(), hosts.iter().map(|host| Login::new(server, host, session)).collect())
                .await
        }
    }
}

/// All that it takes to log in on one host.
pub struct Login {
    /// What to call it.
    place: String,
    user: String,
    options: Opts,
    /// The same without encryption, where that is allowed.
    plain: Option<Opts>,
    /// What the session is pinned to.
    pinned: &'static str,
}

impl Login {
    fn new(server: &Server, host: &Host, session: Session<'_>) -> Login {
        let encrypt = server.ssl_mode != SslMode::Disabled && server.socket.is_none();
        Login {
            place: server.socket.clone().unwrap_or_else(|| host.to_string()),
            user: server.user.clone(),
            options: options(server, host, session, encrypt),
            plain: (server.ssl_mode == SslMode::Preferred).then(|| options(server, host, session, false)),
            pinned: match session {
                Session::Own => PINNED,
                Session::Runner { .. } => RUNNER,
            },
        }
    }
}

/// Logs in on one host.
pub async fn login(login: Login) -> Result<Conn, Error> {
    let mut opened = open(login.options, login.pinned).await;
    if let (Some(plain), Err(ClientError::Driver(DriverError::NoClientSslFlagFromServer))) = (login.plain, &opened) {
        opened = open(plain, login.pinned).await;
    }
    opened.map_err(|cause| cannot_connect(&login.place, &login.user, cause))
}

async fn open(options: Opts, pinned: &str) -> Result<Conn, ClientError> {
    let login = async {
        let mut conn = Conn::new(options).await?;
        conn.query_drop(pinned).await?;
        Ok(conn)
    };
    match timeout(LOGIN, login).await {
        Ok(opened) => opened,
        Err(_) => {
            Err(std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {} s", LOGIN.as_secs())).into())
        }
    }
}

fn options(server: &Server, host: &Host, session: Session<'_>, encrypt: bool) -> Opts {
    // Like `mysql`, without a certificate authority named, any certificate will do.
    let ssl = SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true);
    let options = OptsBuilder::default()
        .ip_or_hostname(&host.name)
        .tcp_port(host.port)
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
fn cannot_connect(place: &str, user: &str, cause: ClientError) -> Error {
    let inner = Error::from(cause);
    let mut error = Error::new(Kind::Unreachable, format!("cannot connect to `{place}` as `{user}`"));
    error.hints = inner.hints.clone();
    if error.hints.is_empty() {
        error.hints.push("is the server up, and are `--host` and `--port`, or `--socket`, right?".into());
    }
    error.code = inner.code;
    error.because(inner)
}
