//! A throw-away server: started in a temporary folder, gone with whoever holds it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::program::Program;
use crate::chance;
use crate::cli::SslMode;
use crate::controller::Signals;
use crate::db::{self, Session};
use crate::error::{Error, Kind};
use crate::model::Host;
use crate::settings::{self, Secret, Settings};

/// The watchdog, which outlives us.
const GUARD: &str = include_str!("guard.sh");
/// How long a server may take to make its data and to answer.
const READY: Duration = Duration::from_secs(120);
/// How long everything may take to be gone.
const GONE: Duration = Duration::from_secs(15);
/// How often another port is tried, when somebody took ours in between.
const TRIES: usize = 5;
/// Lines of its log that are shown when it does not start.
const TAIL: usize = 12;

/// A running server.
#[derive(Debug)]
pub struct Server {
    /// Its data, its log, and all else that it has.
    folder: PathBuf,
    port: u16,
    password: String,
    /// Ends the server and removes the folder as soon as its standard input is closed.
    guard: Child,
}

impl Server {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`Kind::Failed`] when it does not start, with the end of its log; a signal ends it.
    pub async fn start(program: &Program, settings: &Settings, signals: &mut Signals) -> Result<Server, Error> {
        let mut tries = 1;
        loop {
            let mut server = Server::launch(program).await?;
            let ready = tokio::select! {
                ready = server.wait_until_ready(settings) => ready,
                signal = signals.next() => {
                    server.stop().await?;
                    return Err(signal.ended());
                }
            };
            match ready {
                Ok(()) => return Ok(server),
                Err(told) => {
                    server.stop().await?;
                    if tries == TRIES || !told.to_lowercase().contains("address already in use") {
                        return Err(Error::new(Kind::Failed, format!("{} does not start: {told}", program.version))
                            .hint("`TMPDIR` names another folder for its data; `--server PATH` names another server"));
                    }
                }
            }
            tries += 1;
        }
    }

    async fn launch(program: &Program) -> Result<Server, Error> {
        let parent = settings::temporary_folder();
        let failed = |what: &str| {
            let message = format!("cannot {what}");
            move |cause: io::Error| Error::new(Kind::Failed, message).because(cause).hint("`TMPDIR` names another folder")
        };
        let port = free_port().map_err(failed("find a free port for a server"))?;
        let password = chance::hex(8)?;
        let folder = parent.join(format!("jobctl-demo-{}", chance::hex(4)?));
        DirBuilder::new().mode(0o700).create(&folder).map_err(failed(&format!("make a folder in `{}`", parent.display())))?;
        // From here on the guard removes it, whatever becomes of us.
        let guard = guard(program, &folder, port).map_err(|cause| {
            let _ = fs::remove_dir_all(&folder);
            Error::new(Kind::Failed, "cannot run `sh`, which guards the server").because(cause)
        })?;
        let mut server = Server { folder, port, password, guard };
        server.begin(program).await.map_err(failed("write the first statements of a server"))?;
        Ok(server)
    }

    /// Hands the guard what the server's first statements are, and lets it begin.
    async fn begin(&mut self, program: &Program) -> io::Result<()> {
        let initialise = if program.mariadb { program.bootstrap()? } else { Vec::new() };
        fs::create_dir(self.folder.join("data"))?;
        fs::write(self.folder.join("initialise.sql"), initialise)?;
        // Read before the server listens, so that it never stands open.
        let password = &self.password;
        let accounts = format!(
            "DROP USER IF EXISTS root@'127.0.0.1', root@'::1';\n\
             ALTER USER root@localhost IDENTIFIED BY '{password}';\n\
             CREATE USER root@'127.0.0.1' IDENTIFIED BY '{password}';\n\
             GRANT ALL PRIVILEGES ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
        );
        fs::write(self.folder.join("start.sql"), accounts)?;
        match &mut self.guard.stdin {
            Some(stdin) => stdin.write_all(b"begin\n").await,
            None => Ok(()),
        }
    }

    /// Waits until the server lets us in; says why it does not.
    async fn wait_until_ready(&mut self, settings: &Settings) -> Result<(), String> {
        let deadline = Instant::now() + READY;
        let account = self.root(settings);
        loop {
            let told = match db::connect(&account, Session::Own).await {
                Ok(conn) => return conn.disconnect().await.map_err(|cause| cause.to_string()),
                // It answers, and not as it was told to.
                Err(error) if error.code.is_some() => return Err(format!("{}; {}", error.with_cause(), self.log())),
                Err(error) => error.with_cause(),
            };
            if self.folder.join("ended").exists() || !matches!(self.guard.try_wait(), Ok(None)) {
                return Err(self.log());
            }
            if Instant::now() > deadline {
                return Err(format!("no answer within {} s: {told}", READY.as_secs()));
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The end of what it wrote.
    fn log(&self) -> String {
        let read = |name| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let text = read("initialise.log") + &read("server.log");
        let lines: Vec<_> = text.lines().collect();
        format!("it said\n{}", lines[lines.len().saturating_sub(TAIL)..].join("\n"))
    }

    /// How to reach it as root, with the rest as in `settings`.
    pub fn root(&self, settings: &Settings) -> Settings {
        self.account(settings, "root")
    }

    /// How to reach it as one of its accounts; all have one password.
    pub fn account(&self, settings: &Settings, user: &str) -> Settings {
        let server = settings::Server {
            hosts: vec![Host { name: "127.0.0.1".into(), port: self.port }],
            last: Arc::default(),
            socket: None,
            user: user.into(),
            password: Some(Secret(self.password.clone())),
            ssl_mode: SslMode::Preferred,
        };
        Settings { server, schema: "jobctl".into(), ..settings.clone() }
    }

    /// The password of all accounts.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Ends it, and waits until nothing of it is left.
    ///
    /// # Errors
    ///
    /// [`Kind::Failed`] when something is left after 15 seconds; it names what.
    pub async fn stop(mut self) -> Result<(), Error> {
        if let Some(mut stdin) = self.guard.stdin.take() {
            // Where the guard is gone already there is nobody to say goodbye to.
            let _ = stdin.write_all(b"goodbye\n").await;
        }
        let ended = timeout(GONE, self.guard.wait()).await;
        if ended.is_ok_and(|ended| ended.is_ok()) && !self.folder.exists() {
            return Ok(());
        }
        let message = format!("the server in `{}` is not gone after {} s", self.folder.display(), GONE.as_secs());
        Err(Error::new(Kind::Failed, message).hint("kill what runs there, and remove the folder"))
    }
}

/// Starts the guard; it waits for a line before it begins.
fn guard(program: &Program, folder: &Path, port: u16) -> io::Result<Child> {
    let initialise = if program.mariadb { "--bootstrap" } else { "--initialize-insecure" };
    // The process list need not show the comments.
    let script: String = GUARD.split_inclusive('\n').filter(|line| !line.trim_start().starts_with('#')).collect();
    let mut command = Command::new("sh");
    command.args(["-c", &script, "guard"]).arg(folder).arg(initialise);
    command.args(&program.command).arg("--no-defaults").args(&program.options).args(options(folder, port));
    // Not in our group: Ctrl-C is for us.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn()
}

/// The options of a small server that loses its data anyway.
fn options(folder: &Path, port: u16) -> Vec<OsString> {
    let in_folder = |option: &str, name: &str| {
        let mut option = OsString::from(option);
        option.push(folder.join(name));
        option
    };
    let mut options = vec![
        in_folder("--datadir=", "data"),
        in_folder("--tmpdir=", ""),
        in_folder("--secure-file-priv=", ""),
        // In the data directory: the path of a socket may have 107 bytes only.
        "--socket=socket".into(),
        "--pid-file=pid".into(),
        "--bind-address=127.0.0.1".into(),
        format!("--port={port}").into(),
        // Accounts are by address here, whatever the machine calls it.
        "--skip-name-resolve".into(),
        "--skip-log-bin".into(),
        "--innodb-flush-log-at-trx-commit=2".into(),
        "--innodb-buffer-pool-size=64M".into(),
        "--loose-innodb-redo-log-capacity=32M".into(),
        "--loose-mysqlx=OFF".into(),
    ];
    if rustix::process::geteuid().is_root() {
        // As root, a server runs only when told so.
        options.push("--user=root".into());
    }
    options
}

/// A port that nobody listens on now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
