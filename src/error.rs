//! What went wrong: a kind, which decides the exit code, a sentence, its cause, and hints that say what to type.

use std::error::Error as StdError;
use std::fmt;
use std::io::ErrorKind;

use mysql_async::{DriverError, Error as ClientError, IoError, ServerError};

/// What kind of failure it was, as scripts distinguish them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The thing asked for did not succeed.
    Failed,
    /// Wrong usage, or a definition that cannot be right.
    Usage,
    /// No such job, or the schema is not installed.
    NotFound,
    /// Refused: wrong state, not the owner, missing privilege, nobody there to serve it.
    Refused,
    /// The server cannot be reached, or does not let us in.
    Unreachable,
    /// Already running elsewhere: try again later.
    Busy,
    /// Ended by SIGINT before it could finish.
    Interrupted,
    /// Ended by SIGTERM before it could finish.
    Terminated,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 8] = [
        Kind::Failed,
        Kind::Usage,
        Kind::NotFound,
        Kind::Refused,
        Kind::Unreachable,
        Kind::Busy,
        Kind::Interrupted,
        Kind::Terminated,
    ];

    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotFound => 3,
            Kind::Refused => 4,
            Kind::Unreachable => 5,
            Kind::Busy => 75,
            Kind::Interrupted => 130,
            Kind::Terminated => 143,
        }
    }
}

/// A failure that a person can act on.
#[derive(Debug)]
pub struct Error {
    /// Decides the exit code.
    pub kind: Kind,
    /// One sentence without a final period.
    pub message: String,
    /// What lies behind it.
    pub cause: Option<Box<dyn StdError + Send + Sync>>,
    /// What to do about it, each printed on a line of its own.
    pub hints: Vec<String>,
    /// The server's error code, where a server said it.
    pub code: Option<u16>,
}

impl Error {
    /// Makes an error of a kind from a sentence.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), cause: None, hints: Vec::new(), code: None }
    }

    /// Makes an error about a wrong option or a definition that cannot be right.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// Adds what lies behind it.
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The sentence, with what lies behind it.
    pub fn with_cause(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source();
        while let Some(inner) = cause {
            text += &format!(": {inner}");
            cause = inner.source();
        }
        text
    }

    /// Whether a server said it with one of these codes.
    pub fn is_server(&self, codes: &[u16]) -> bool {
        self.code.is_some_and(|code| codes.contains(&code))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// What the server's error codes mean here: kind, and what to type.
const SERVER_ERRORS: &[(u16, Kind, &str)] = &[
    // The login.
    (1040, Kind::Unreachable, "raise `max_connections`, or run fewer jobs at once"),
    (1045, Kind::Unreachable, "check `--user` and `--password`"),
    (1129, Kind::Unreachable, "the server blocks this host after too many failed logins: `FLUSH HOSTS`"),
    (1130, Kind::Unreachable, "the server knows no account for this host: `CREATE USER ...@...`"),
    (1203, Kind::Unreachable, "raise `max_user_connections` of the account"),
    (1226, Kind::Unreachable, "raise the account's limit: `ALTER USER ... WITH ...`"),
    (1698, Kind::Unreachable, "check `--user` and `--password`, or use the socket: `--socket`"),
    (1820, Kind::Unreachable, "set a new password first: `ALTER USER USER() IDENTIFIED BY ...`"),
    (1862, Kind::Unreachable, "set a new password first: `ALTER USER USER() IDENTIFIED BY ...`"),
    (3118, Kind::Unreachable, "the account is locked: `ALTER USER ... ACCOUNT UNLOCK`"),
    (4151, Kind::Unreachable, "the account is locked: `ALTER USER ... ACCOUNT UNLOCK`"),
    // The connection.
    (1053, Kind::Unreachable, "the server is shutting down; try again"),
    (1317, Kind::Unreachable, "somebody killed the statement; `SHOW PROCESSLIST` shows who is connected"),
    (1927, Kind::Unreachable, "somebody killed the connection"),
    // The schema.
    (1049, Kind::NotFound, "install it with `jobctl install`, or name its schema with `--database`"),
    (1054, Kind::NotFound, "the schema is of another version: `jobctl install` brings it up to date"),
    (1146, Kind::NotFound, "install it with `jobctl install`, or name its schema with `--database`"),
    (1305, Kind::NotFound, "install it with `jobctl install`, or name its schema with `--database`"),
    (1318, Kind::NotFound, "the schema is of another version: `jobctl install` brings it up to date"),
    // Privileges.
    (1044, Kind::Refused, "`jobctl install --owner ACCOUNT` prints the GRANTs that an owner of jobs needs"),
    (1142, Kind::Refused, "`jobctl install --owner ACCOUNT` prints the GRANTs that an owner of jobs needs"),
    (1143, Kind::Refused, "`jobctl install --owner ACCOUNT` prints the GRANTs that an owner of jobs needs"),
    (1227, Kind::Refused, "ask for the privilege, or log in as an account that has it"),
    (1370, Kind::Refused, "`jobctl install --owner ACCOUNT` prints the GRANTs that an owner of jobs needs"),
    (1356, Kind::Refused, "`jobctl install` tells what the definer of jobctl's view and routines lacks"),
    (1410, Kind::Refused, "ask for the GRANT OPTION, or create the account first"),
    (1449, Kind::Refused, "jobctl's definer is gone; name another: `jobctl install --definer ACCOUNT`"),
    // A server that does not write.
    (1290, Kind::Refused, "connect to the primary: `--host`"),
    (1792, Kind::Refused, "connect to the primary: `--host`"),
    (1836, Kind::Refused, "connect to the primary: `--host`"),
    // Somebody else is at it.
    (1020, Kind::Busy, "try again"),
    (1205, Kind::Busy, "try again"),
    (1213, Kind::Busy, "try again"),
    // Our own refusals: 45000 + exit code, raised by the routines of `sql/`.
    (45002, Kind::Usage, ""),
    (45003, Kind::NotFound, "`jobctl list` shows the jobs there are"),
    (45004, Kind::Refused, ""),
    (45075, Kind::Busy, ""),
];

impl From<ServerError> for Error {
    fn from(server: ServerError) -> Self {
        let known = SERVER_ERRORS.iter().find(|(code, ..)| *code == server.code);
        let (_, kind, hint) = known.copied().unwrap_or((server.code, Kind::Failed, ""));
        let text = server.message.trim_end_matches('.');
        let ours = server.state == "45000";
        // A person typed a command, and need not know the routine behind it.
        let told = text.strip_prefix("job$").and_then(|text| text.split_once(": ")).map_or(text, |(_, told)| told);
        let message = if ours { told.to_owned() } else { format!("{text} (server error {})", server.code) };
        let hints = Some(hint.to_owned()).into_iter().filter(|hint| !hint.is_empty()).collect();
        Error { kind, message, cause: None, hints, code: Some(server.code) }
    }
}

impl From<ClientError> for Error {
    fn from(client: ClientError) -> Self {
        let unreachable = |message: &str| Error::new(Kind::Unreachable, message);
        match client {
            ClientError::Server(server) => server.into(),
            // What the encryption has to say of it helps nobody.
            ClientError::Io(IoError::Io(cause)) if cause.kind() == ErrorKind::UnexpectedEof => {
                unreachable("the server closed the connection")
            }
            ClientError::Io(IoError::Io(cause)) => unreachable("the connection to the server failed").because(cause),
            ClientError::Io(IoError::Tls(cause)) => {
                unreachable("no encrypted connection to the server").because(cause).hint("try `--ssl-mode DISABLED`")
            }
            ClientError::Driver(DriverError::NoClientSslFlagFromServer) => {
                unreachable("the server offers no encryption").hint("try `--ssl-mode PREFERRED`")
            }
            ClientError::Driver(cause @ (DriverError::ConnectionClosed | DriverError::PoolDisconnected)) => {
                unreachable("the connection to the server was lost").because(cause)
            }
            ClientError::Driver(DriverError::UnknownAuthPlugin { name }) => {
                unreachable(&format!("the server wants a login by `{name}`, which jobctl does not know"))
                    .hint("check `--user`: MySQL answers so for accounts that do not exist")
            }
            ClientError::Driver(cause @ DriverError::CleartextPluginDisabled) => unreachable("cannot log in").because(cause),
            ClientError::Url(cause) => {
                Error::usage(cause.to_string()).hint("a URL looks like `mysql://user:password@host:3306/schema`")
            }
            other => Error::new(Kind::Failed, "the server gave an unexpected answer").because(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(code: u16, state: &str, message: &str) -> Error {
        ServerError { code, state: state.into(), message: message.into() }.into()
    }

    #[test]
    fn our_own_signals_carry_their_exit_code() {
        for code in [2, 3, 4, 75] {
            let error = server(45000 + code, "45000", "job$define: no");
            assert_eq!(u16::from(error.kind.exit_code()), code);
            assert_eq!(error.to_string(), "no");
        }
    }

    #[test]
    fn a_server_error_keeps_its_code_and_says_what_to_do() {
        let error = server(1370, "42000", "execute command denied to user 'a'@'%' for routine 'jobctl.job$run'");
        assert_eq!(error.kind, Kind::Refused);
        assert!(error.to_string().ends_with("(server error 1370)"));
        assert_eq!(error.hints.len(), 1);
    }

    #[test]
    fn an_unknown_server_error_is_a_failure() {
        assert_eq!(server(1064, "42000", "You have an error").kind.exit_code(), 1);
    }

    #[test]
    fn no_server_error_is_listed_twice() {
        let mut codes: Vec<_> = SERVER_ERRORS.iter().map(|(code, ..)| code).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), SERVER_ERRORS.len());
    }
}
