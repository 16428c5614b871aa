//! What flags, environment and defaults mean together. The one module that reads the environment; option files belong here.

use std::env;
use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use jiff::tz::TimeZone;
use mysql_async::Opts;

use crate::cli::{self, Format, GlobalArgs, LogFormat, SslMode};
use crate::error::Error;
use crate::model::Host;
use crate::output;

/// Where servers put their socket, unless told otherwise.
const SOCKETS: &[&str] = &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Everything that is decided before a command begins.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to reach the server.
    pub server: Server,
    /// Schema that jobctl is installed in.
    pub schema: String,
    /// How to print data.
    pub output: Format,
    /// How to log.
    pub log_format: LogFormat,
    /// Zone that times are shown in.
    pub zone: TimeZone,
    /// What we print on.
    pub screen: Screen,
}

/// How to reach and enter the server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where it may be: of several the one that takes writes is meant, which may change. Never empty.
    pub hosts: Vec<Host>,
    /// Which of them took writes last.
    pub last: Arc<AtomicUsize>,
    /// Path of the Unix socket; wins over the hosts.
    pub socket: Option<String>,
    /// User name to log in with.
    pub user: String,
    /// Password, if the account has one.
    pub password: Option<Secret>,
    /// Whether to encrypt.
    pub ssl_mode: SslMode,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Some(socket) => f.write_str(socket),
            None => f.write_str(&self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

/// A text that no log and no `{:?}` shows.
#[derive(Clone)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What stdout and stderr are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    /// Whether stdout is a terminal: borders, and control characters replaced.
    pub terminal: bool,
    /// Whether stderr is a terminal.
    pub error_terminal: bool,
    /// Whether colours are welcome.
    pub color: bool,
    /// Columns to fill, where they are known.
    pub width: Option<u16>,
}

/// Looks at stdout, stderr, `NO_COLOR` and `COLUMNS`.
pub fn screen() -> Screen {
    let terminal = std::io::stdout().is_terminal();
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
    Screen {
        terminal,
        error_terminal: std::io::stderr().is_terminal(),
        color: terminal && !no_color && !dumb,
        width: env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0),
    }
}

/// The name of this host, as the system tells it.
pub fn host_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// The folder for what lives no longer than we do.
pub fn temporary_folder() -> PathBuf {
    let named = env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map_or("/tmp".into(), PathBuf::from);
    // Others may work in another folder than we do.
    std::path::absolute(&named).unwrap_or(named)
}

/// The folders that programs are looked for in.
pub fn program_folders() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// Where a fetched server is kept: in the folder that cargo built us in, else in the person's cache; none without a home.
pub fn server_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    build_folder().map(|target| target.join("servers")).or_else(|| cache.map(|cache| cache.join("jobctl/servers")))
}

/// Where fetched servers may be: where ours are kept, and in a `target` of the working directory.
pub fn server_folders() -> Vec<PathBuf> {
    server_folder().into_iter().chain([PathBuf::from("target/servers")]).collect()
}

/// `target`, if this program lies where cargo built it.
fn build_folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    Some(target.to_owned())
}

impl Settings {
    /// Puts flags over the URL, the URL over the environment, the environment over defaults.
    pub fn resolve(flags: GlobalArgs) -> Result<Settings, Error> {
        let urls = flags.url.clone().or_else(|| variable("JOBCTL_URL")).map(|url| urls(&url)).transpose()?.unwrap_or_default();
        let url = urls.first();
        let from_url = |part: fn(&Opts) -> Option<&str>| url.and_then(part).map(str::to_owned);
        let schema = flags.database.clone().or_else(|| from_url(Opts::db_name)).unwrap_or_else(|| "jobctl".into());
        if schema.is_empty() || schema.chars().count() > 64 {
            return Err(
                Error::usage("the name of a schema has 1 to 64 characters").hint("name it with `--database`, or in `--url`")
            );
        }
        let password = match flags.password.clone() {
            Some(password) if password == cli::ASK => Some(output::ask_password()?),
            Some(password) => Some(password),
            None => from_url(Opts::pass).or_else(|| variable("MYSQL_PWD")),
        };
        let user = flags.user.clone().or_else(|| from_url(Opts::user).filter(|user| !user.is_empty()));
        Ok(Settings {
            server: Server {
                socket: socket(&flags, url),
                hosts: hosts(&flags, &urls)?,
                last: Arc::default(),
                user: user.or_else(|| variable("USER")).or_else(|| variable("LOGNAME")).unwrap_or("root".into()),
                password: password.map(Secret),
                ssl_mode: flags.ssl_mode.unwrap_or_default(),
            },
            schema,
            output: flags.output,
            log_format: flags.log_format,
            zone: if flags.utc { TimeZone::UTC } else { TimeZone::system() },
            screen: screen(),
        })
    }
}

/// A URL that names several hosts, as one for each: `mysql://bob@a,b:3307/jobs`.
fn urls(url: &str) -> Result<Vec<Opts>, Error> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    let begin = url[begin..end].rfind('@').map_or(begin, |at| begin + at + 1);
    let of = |host: &str| Opts::from_url(&format!("{}{host}{}", &url[..begin], &url[end..]));
    let opts = url[begin..end].split(',').map(of).collect::<Result<Vec<_>, _>>();
    Ok(opts.map_err(mysql_async::Error::from)?)
}

/// Where the server may be.
fn hosts(flags: &GlobalArgs, urls: &[Opts]) -> Result<Vec<Host>, Error> {
    match &flags.host {
        Some(hosts) => Host::list(hosts, flags.port.or(urls.first().map(Opts::tcp_port))).map_err(Error::usage),
        None if urls.is_empty() => Host::list("127.0.0.1", flags.port).map_err(Error::usage),
        None => {
            let host = |url: &Opts| Host { name: url.ip_or_hostname().into(), port: flags.port.unwrap_or(url.tcp_port()) };
            Ok(urls.iter().map(host).collect())
        }
    }
}

/// The socket to use, if any: as with `mysql`, only for the local host, and by default when neither host nor port is named.
fn socket(flags: &GlobalArgs, url: Option<&Opts>) -> Option<String> {
    if flags.host.as_deref().is_some_and(|host| host != "localhost") {
        return None;
    }
    let given = flags.socket.clone().or_else(|| url.and_then(Opts::socket).map(str::to_owned));
    let default = || SOCKETS.iter().find(|path| Path::new(path).exists()).map(|path| (*path).to_owned());
    let local = url.is_none() && flags.port.is_none();
    given.or_else(|| if local { default() } else { None })
}

/// A variable of the environment, unless unset or empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(flags: GlobalArgs) -> Settings {
        Settings::resolve(flags).expect("settings")
    }

    fn url(url: &str) -> GlobalArgs {
        GlobalArgs { url: Some(url.into()), ..GlobalArgs::default() }
    }

    #[test]
    fn a_url_says_everything() {
        let settings = resolve(url("mysql://bo%40b:s%2Fx@db:3307/jobs"));
        assert_eq!(settings.server.to_string(), "db:3307");
        assert_eq!(settings.server.user, "bo@b");
        assert_eq!(settings.server.password.map(|secret| secret.0).as_deref(), Some("s/x"));
        assert_eq!(settings.schema, "jobs");
    }

    #[test]
    fn a_url_may_name_several_hosts() {
        let settings = resolve(url("mysql://bo%40b:s%2Fx@a,b:3307/jobs?tcp_keepalive=1"));
        assert_eq!(settings.server.to_string(), "a:3306,b:3307");
        assert_eq!(settings.server.user, "bo@b");
        assert_eq!(settings.schema, "jobs");
        let flags = GlobalArgs { host: Some("c:1,d".into()), ..url("mysql://bob@a,b:3307/jobs") };
        assert_eq!(resolve(flags).server.to_string(), "c:1,d:3306");
    }

    #[test]
    fn flags_win_over_the_url() {
        let flags = GlobalArgs { port: Some(3308), database: Some("mine".into()), ..url("mysql://bob@db:3307/jobs") };
        let settings = resolve(flags);
        assert_eq!(settings.server.to_string(), "db:3308");
        assert_eq!(settings.schema, "mine");
    }

    #[test]
    fn a_socket_is_for_the_local_host_only() {
        let flags = |host: &str| GlobalArgs { host: Some(host.into()), socket: Some("/s".into()), ..GlobalArgs::default() };
        assert_eq!(resolve(flags("localhost")).server.to_string(), "/s");
        assert_eq!(resolve(flags("127.0.0.1")).server.to_string(), "127.0.0.1:3306");
    }

    #[test]
    fn a_password_is_never_shown() {
        let settings = resolve(url("mysql://bob:hunter2@db/jobs"));
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn a_wrong_url_is_wrong_usage() {
        let error = Settings::resolve(url("postgres://db")).expect_err("no such scheme");
        assert_eq!(error.kind.exit_code(), 2);
    }
}
