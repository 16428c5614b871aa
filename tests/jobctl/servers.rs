//! Which servers the tests run on, and private ones for tests that must stop, freeze or replicate a server.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use mysql_async::{Opts, OptsBuilder};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");

/// A server, and how its administrator logs in.
#[derive(Clone, Debug)]
pub struct Server {
    /// `mysql`, `mariadb-10.11`, ...; what `tests/servers` calls it.
    pub name: String,
    /// `mysql://root@127.0.0.1:25600`.
    pub url: String,
}

/// A server of one test's own; its data lives as long as this value.
pub struct Private {
    /// How to reach it.
    pub server: Server,
    dir: PathBuf,
}

/// The shared servers that every test runs on.
pub fn all() -> &'static [Server] {
    static SERVERS: OnceLock<Vec<Server>> = OnceLock::new();
    SERVERS.get_or_init(|| {
        let servers: Vec<_> = script(&["urls"])
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, url)| Server { name: name.into(), url: url.trim().into() })
            .collect();
        let own = std::env::var_os("JOBCTL_TEST_SERVERS").is_some();
        let missing: Vec<_> = KNOWN.iter().filter(|name| !own && !servers.iter().any(|server| server.name == **name)).collect();
        assert!(missing.is_empty(), "these test servers are not up: {missing:?}; run `tests/servers`");
        assert!(!servers.is_empty(), "JOBCTL_TEST_SERVERS names no server");
        servers
    })
}

/// The names that `tests/servers` can start.
const KNOWN: [&str; 3] = ["mysql", "mariadb-10.11", "mariadb-11.8"];

/// The shared servers of which a private instance can be started.
pub fn startable() -> impl Iterator<Item = &'static Server> {
    all().iter().filter(|server| KNOWN.contains(&server.name.as_str()))
}

/// The command-line client that came with `server`, logged in by `login`; it takes further arguments.
pub fn client(server: &Server, login: &Opts) -> Command {
    let mut command = Command::new(SCRIPT);
    command
        .args(["client", &server.name, "--protocol=tcp"])
        .arg(format!("--host={}", login.ip_or_hostname()))
        .arg(format!("--port={}", login.tcp_port()))
        .arg(format!("--user={}", login.user().unwrap_or_default()))
        .env("MYSQL_PWD", login.pass().unwrap_or_default());
    command
}

impl Server {
    /// How its administrator logs in.
    pub fn options(&self) -> OptsBuilder {
        let options = Opts::from_url(&self.url).expect("tests/servers prints a URL");
        OptsBuilder::from_opts(options).prefer_socket(false)
    }
}

impl Private {
    /// Starts a fresh instance of the kind of server called `name`; `options` as for `mysqld`.
    pub fn start(name: &str, options: &[&str]) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}{}", super::db::stamp()));
        let mut private = Self { server: Server { name: name.into(), url: String::new() }, dir };
        private.restart(options);
        private
    }

    /// The same with its data on a disk of its own, of so many MiB; `None`: this machine lets nobody but root mount one.
    ///
    /// The disk is memory, mounted where the server alone sees it, and is gone with the server.
    pub fn on_disk(name: &str, size: u32, options: &[&str]) -> Option<Self> {
        const MOUNT: &str = "mkdir -p $1/data && mount -t tmpfs -o size=$2m none $1/data && cp -r --sparse=never $3/. $1/data && \
                             name=$4 dir=$1 && shift 4 && exec \"$0\" start \"$name\" \"$dir\" -- \"$@\"";
        let tmp = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let template = tmp.with_file_name("servers").join(name).join("template");
        let dir = tmp.join(format!("{name}{}", super::db::stamp()));
        let mut private = Self { server: Server { name: name.into(), url: String::new() }, dir };
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount"]);
        if !unshare.arg("true").output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", MOUNT, SCRIPT]).arg(&private.dir).arg(size.to_string());
        let output = command.arg(template).arg(name).args(options).stdin(Stdio::null()).output().expect("unshare can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        private.server.url = String::from_utf8(output.stdout).expect("a URL").trim().to_owned();
        Some(private)
    }

    /// Where the disk of [`Private::on_disk`] is seen from here.
    pub fn disk(&self) -> PathBuf {
        let pid = std::fs::read_to_string(self.dir.join("pid")).expect("it runs");
        let dir = self.dir.strip_prefix("/").expect("an absolute path");
        PathBuf::from(format!("/proc/{}/root", pid.trim())).join(dir).join("data")
    }

    /// Starts it again after [`Private::stop`], on the same data and port.
    pub fn restart(&mut self, options: &[&str]) {
        let dir = self.dir.to_str().expect("a path in UTF-8").to_owned();
        let mut arguments = vec!["start", &self.server.name, &dir, "--"];
        arguments.extend(options);
        self.server.url = script(&arguments).trim().to_owned();
    }

    /// Stops it in good order, or kills it.
    pub fn stop(&self, kill: bool) {
        let dir = self.dir.to_str().expect("a path in UTF-8");
        let how: &[&str] = if kill { &["--kill"] } else { &[] };
        script(&[&["stop", dir], how].concat());
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = Command::new(SCRIPT).arg("stop").arg(&self.dir).arg("--kill").stderr(Stdio::null()).status();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn script(arguments: &[&str]) -> String {
    let output = Command::new(SCRIPT).args(arguments).stdin(Stdio::null()).output().expect("tests/servers can be run");
    assert!(output.status.success(), "tests/servers {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("tests/servers prints UTF-8")
}
