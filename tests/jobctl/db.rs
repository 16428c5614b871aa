//! A schema of one test's own on one server, with accounts and job procedures.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use mysql_async::{Conn, Opts, OptsBuilder};
use tokio::io::AsyncWriteExt;

use super::install;
use super::runner::Runner;
use super::servers::{self, Server};
use super::session::{Session, literal, name};

/// An account of one test's own.
#[derive(Clone, Debug)]
pub struct Account {
    /// What stands before the `@`; the owner of its jobs.
    pub user: String,
    /// What stands after it.
    pub host: String,
    /// Its password.
    pub password: String,
}

/// A fresh schema with jobctl installed; clones are the same one.
#[derive(Clone)]
pub struct Db(Arc<Inner>);

struct Inner {
    server: Server,
    mariadb: bool,
    schema: String,
    bodies: String,
    stamp: String,
    grants: Vec<String>,
    accounts: Mutex<Vec<Account>>,
    extra: Mutex<Vec<String>>,
}

/// What `jobctl` printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit status; negative: ended by that signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A suffix that no other test has, and that tells when it was made: `_t`, seconds, and a random part, in hex.
pub fn stamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), since.as_nanos());
    format!("_t{:08x}{:06x}", since.as_secs(), random & 0xff_ffff)
}

impl Db {
    /// A schema for test `test` on `server`, empty.
    pub async fn empty(server: &Server, test: &str) -> Self {
        let stamp = stamp();
        let short: String = test.rsplit("::").next().unwrap_or(test).chars().take(40).collect();
        let (schema, bodies) = (format!("t_{short}{stamp}"), format!("b_{short}{stamp}"));
        let mut admin = Session::new(Conn::new(server.options()).await.expect("the test server answers"));
        let mariadb = admin.one("SELECT VERSION()").await.contains("MariaDB");
        sweep(&mut admin, server).await;
        for schema in [&schema, &bodies] {
            admin.run(&format!("CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", name(schema))).await;
        }
        let (server, grants, accounts, extra) = (server.clone(), Vec::new(), Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { server, mariadb, schema, bodies, stamp, grants, accounts, extra }))
    }

    /// A schema for test `test` on `server`, with jobctl installed.
    pub async fn installed(server: &Server, test: &str) -> Self {
        let db = Self::empty(server, test).await;
        let grants = install::install(&db).await;
        let mut inner = Arc::into_inner(db.0).expect("nobody else has it");
        inner.grants = grants;
        Self(Arc::new(inner))
    }

    /// The same schema and accounts, as a replica has them.
    pub fn on(&self, server: &Server) -> Self {
        let Inner { mariadb, schema, bodies, stamp, grants, .. } = &*self.0;
        let (server, accounts, extra) = (server.clone(), Mutex::default(), Mutex::default());
        let (mariadb, schema, bodies) = (*mariadb, schema.clone(), bodies.clone());
        let (stamp, grants) = (stamp.clone(), grants.clone());
        Self(Arc::new(Inner { server, mariadb, schema, bodies, stamp, grants, accounts, extra }))
    }

    /// The server it is on.
    pub fn server(&self) -> &Server {
        &self.0.server
    }

    /// Whether that is MariaDB.
    pub fn mariadb(&self) -> bool {
        self.0.mariadb
    }

    /// The schema that jobctl is installed in.
    pub fn schema(&self) -> &str {
        &self.0.schema
    }

    /// The schema of the job procedures, and of whatever tables they need. Accounts may do anything there.
    pub fn bodies(&self) -> &str {
        &self.0.bodies
    }

    /// The GRANTs that `jobctl install` printed for an owner, with the word `owner` after TO.
    pub fn grants(&self) -> &[String] {
        &self.0.grants
    }

    /// A session of the administrator, in the schema of jobctl.
    pub async fn admin(&self) -> Session {
        let options = self.0.server.options().db_name(Some(self.schema()));
        Session::new(Conn::new(options).await.expect("the test server answers"))
    }

    /// The account that the test server's URL names.
    pub fn root(&self) -> Account {
        let options = Opts::from(self.0.server.options());
        let (user, password) = (options.user().unwrap_or("root").into(), options.pass().unwrap_or_default().into());
        Account { user, host: "%".into(), password }
    }

    /// A new owner, whose name begins with `prefix`, with the GRANTs that `jobctl install` printed.
    pub async fn account(&self, prefix: &str) -> Account {
        let account = self.stranger(prefix).await;
        self.own(&account).await;
        account
    }

    /// A new account without any right in the schema of jobctl.
    pub async fn stranger(&self, prefix: &str) -> Account {
        self.stranger_at(&format!("{prefix}{}", self.0.stamp), "%").await
    }

    /// A new account without any right in the schema of jobctl, of exactly this name.
    pub async fn stranger_at(&self, user: &str, host: &str) -> Account {
        let account = Account { user: user.into(), host: host.into(), password: format!("pw{}", self.0.stamp) };
        let mut admin = self.admin().await;
        self.0.accounts.lock().expect("no panic").push(account.clone());
        admin.run(&format!("CREATE USER {account} IDENTIFIED BY '{}'", account.password)).await;
        admin.run(&format!("GRANT ALL ON {}.* TO {account}", name(&self.0.bodies))).await;
        account
    }

    /// Makes an account an owner, by the GRANTs that `jobctl install` printed.
    pub async fn own(&self, account: &Account) {
        let mut admin = self.admin().await;
        for grant in &self.0.grants {
            let (what, _) = grant.rsplit_once(" TO ").expect("a GRANT has a TO");
            admin.run(&format!("{what} TO {account}")).await;
        }
    }

    /// A URL for `jobctl --url`.
    pub fn url(&self, account: &Account) -> String {
        let options = Opts::from(self.0.server.options());
        let (host, port) = (options.ip_or_hostname(), options.tcp_port());
        let secret = if account.password.is_empty() { String::new() } else { format!(":{}", account.password) };
        format!("mysql://{}{secret}@{host}:{port}/{}", account.user, self.schema())
    }

    /// How `account` logs in.
    pub fn options(&self, account: &Account) -> OptsBuilder {
        let password = Some(&account.password).filter(|password| !password.is_empty());
        self.0.server.options().user(Some(&account.user)).pass(password).db_name(None::<&str>)
    }

    /// A session of `account`, in the schema of jobctl if it has any right there.
    pub async fn login(&self, account: &Account) -> Session {
        let mut session = Session::new(Conn::new(self.options(account)).await.expect("the account may log in"));
        let _ = session.attempt(&format!("USE {}", name(self.schema()))).await;
        session
    }

    /// Creates a job procedure with the rights of whoever calls it: `body` is one statement, or BEGIN ... END.
    pub async fn body(&self, procedure: &str, body: &str) {
        let mut admin = self.admin().await;
        admin.run(&format!("USE {}", name(self.bodies()))).await;
        admin.run(&format!("CREATE PROCEDURE {}() SQL SECURITY INVOKER {body}", name(procedure))).await;
    }

    /// Creates a table among the job procedures: `(id INT PRIMARY KEY)`.
    pub async fn table(&self, table: &str, columns: &str) {
        self.admin().await.run(&format!("CREATE TABLE {}.{} {columns}", name(self.bodies()), name(table))).await;
    }

    /// Defines a job of `account`, every so many seconds; `more` are further options: `, "max_failures": 3`.
    pub async fn define(&self, account: &Account, job: &str, procedure: &str, every: &str, more: &str) {
        self.login(account).await.define(self, job, procedure, every, more).await;
    }

    /// Creates one more schema, whose name begins with `prefix`.
    pub async fn extra(&self, prefix: &str) -> String {
        let schema = format!("{prefix}{}", self.0.stamp);
        self.0.extra.lock().expect("no panic").push(schema.clone());
        self.admin().await.run(&format!("CREATE DATABASE {}", name(&schema))).await;
        schema
    }

    /// Starts a runner: `CALL job$run` on a connection of its own.
    pub async fn runner(&self, account: &Account, job: &str) -> Runner {
        Runner::start(self.login(account).await, self.schema(), job)
    }

    /// Runs the command-line tool as `account`.
    pub async fn jobctl(&self, account: &Account, arguments: &[&str]) -> Ran {
        jobctl(&self.url(account), arguments).await
    }

    /// Starts the server's own command-line client on `sql`, to be killed: it dies as a client does, its socket closed.
    pub fn doomed(&self, account: &Account, sql: &str) -> tokio::process::Child {
        let login = Opts::from(self.options(account));
        let mut command = tokio::process::Command::from(servers::client(&self.0.server, &login));
        command.args(["--unbuffered", "-e", sql]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.kill_on_drop(true).spawn().expect("tests/servers can be run")
    }

    /// Runs the server's own command-line client as `account`, and gives its standard output.
    pub async fn client(&self, account: &Account, arguments: &[&str], input: &str) -> Ran {
        let login = Opts::from(self.options(account));
        let mut command = tokio::process::Command::from(servers::client(&self.0.server, &login));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("tests/servers can be run");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).await.expect("the client reads");
        drop(stdin);
        Ran::from(child.wait_with_output().await.expect("the client ends"))
    }

    /// Ends what still runs, and drops everything.
    pub async fn remove(&self) {
        let mut admin = Session::new(Conn::new(self.0.server.options()).await.expect("the test server answers"));
        let accounts = self.0.accounts.lock().expect("no panic").clone();
        let users: Vec<_> = accounts.iter().map(|account| literal(&account.user)).collect();
        let whose = if users.is_empty() { "NULL".to_owned() } else { users.join(", ") };
        let sessions = format!(
            "SELECT id FROM information_schema.processlist WHERE (CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin IN ({whose}) \
             OR db IN ({}, {})) AND id <> CONNECTION_ID()",
            literal(self.schema()),
            literal(self.bodies())
        );
        for row in admin.rows(&sessions).await {
            let _ = admin.attempt(&format!("KILL {}", row[0])).await;
        }
        for account in accounts {
            let _ = admin.attempt(&format!("DROP USER IF EXISTS {account}")).await;
        }
        let extra = self.0.extra.lock().expect("no panic").clone();
        for schema in extra.iter().map(String::as_str).chain([self.schema(), self.bodies()]) {
            let _ = admin.attempt(&format!("DROP DATABASE IF EXISTS {}", name(schema))).await;
        }
    }
}

/// Runs the command-line tool against `url`, with nothing of the environment's own settings.
pub async fn jobctl(url: &str, arguments: &[&str]) -> Ran {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jobctl"));
    command.env_remove("MYSQL_PWD").env_remove("JOBCTL_URL").env("COLUMNS", "80").env("TZ", "UTC").kill_on_drop(true);
    command.args(["--url", url]).args(arguments).stdin(Stdio::null());
    Ran::from(command.output().await.expect("the binary can be run"))
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let code = output.status.code().or(output.status.signal().map(|signal| -signal)).expect("it has ended");
        Self { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", name(&self.user), name(&self.host))
    }
}

/// Drops what runs that were killed have left behind, an hour later.
async fn sweep(admin: &mut Session, server: &Server) {
    static SWEPT: Mutex<Vec<String>> = Mutex::new(Vec::new());
    {
        let mut swept = SWEPT.lock().expect("no panic");
        if swept.contains(&server.url) {
            return;
        }
        swept.push(server.url.clone());
    }
    let old = |text: &str| {
        let (_, stamp) = text.rsplit_once("_t")?;
        let made = (stamp.len() == 14).then(|| u64::from_str_radix(&stamp[..8], 16).ok())??;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        Some(now > made + 3600)
    };
    for row in admin.rows("SELECT user, host FROM mysql.user").await {
        if old(&row[0]) == Some(true) {
            let _ = admin.attempt(&format!("DROP USER IF EXISTS {}@{}", name(&row[0]), name(&row[1]))).await;
        }
    }
    for row in admin.rows("SELECT schema_name FROM information_schema.schemata").await {
        if old(&row[0]) == Some(true) {
            let _ = admin.attempt(&format!("DROP DATABASE IF EXISTS {}", name(&row[0]))).await;
        }
    }
}
