//! `jobctl demo`: a shop on a server of its own, and nothing of it left, however it ended.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mysql_async::{Conn, OptsBuilder};
use serde_json::Value;
use tokio::process::Command;

use super::terminal::Terminal;
use super::tool::{Going, SOON, Tool};
use crate::db::{Ran, stamp};
use crate::each::{each_private, wait_until};
use crate::servers::{Server, startable};

const JOBCTL: &str = env!("CARGO_BIN_EXE_jobctl");
/// How long it may take after a kill until nothing is left.
const GONE: Duration = Duration::from_secs(15);
const SUMMARY: &str = "The server is stopped, and nothing of it is left";
/// Leave the terminal as it was: the usual screen, and a cursor.
const RESTORED: [&str; 2] = ["\x1b[?1049l", "\x1b[?25h"];

/// A TMPDIR of a demo's own, by which all that it starts is known.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        Self::named("")
    }

    /// One whose name ends so.
    fn named(end: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("demo{}{end}", stamp()));
        fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }

    /// `jobctl demo` in here, without a terminal.
    fn demo(&self, arguments: &[&str]) -> Tool {
        // A server that the environment names has nothing to do with it.
        let elsewhere = "mysql://nobody:wrong@127.0.0.1:1/none";
        Tool::bare(&[&["demo"], arguments].concat()).env("TMPDIR", self.path()).env("JOBCTL_URL", elsewhere)
    }

    /// `jobctl demo` in here, on a terminal.
    fn on_terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(120, 30, JOBCTL, &[&["demo"], arguments].concat(), &[("TMPDIR", self.path())])
    }

    /// The numbers and command lines of all processes that were started with this TMPDIR, or name it.
    fn processes(&self) -> Vec<Vec<String>> {
        let read = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let folders = fs::read_dir("/proc").expect("a Linux").flatten().map(|entry| entry.path());
        let ours = folders.filter_map(|folder| {
            let (line, environment) = (read(folder.join("cmdline")), read(folder.join("environ")));
            let number = folder.file_name()?.to_string_lossy().into_owned();
            (line.contains(self.path()) || environment.contains(self.path())).then_some(number + "\0" + &line)
        });
        ours.map(|line| line.split_terminator('\0').map(str::to_owned).collect()).collect()
    }

    /// The ports of its servers.
    fn ports(&self) -> BTreeSet<u16> {
        let words = self.processes().into_iter().flatten();
        words.filter_map(|word| word.strip_prefix("--port=")?.parse().ok()).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).expect("our folder stays").map(|entry| entry.expect("a file").path()).collect()
    }

    /// Waits until a server of a demo that has been started makes its data, and gives its port.
    async fn begins(&self) -> u16 {
        wait_until("a server begins", SOON, async || {
            self.files().iter().any(|folder| folder.join("initialise.log").exists()) && self.ports().len() == 1
        })
        .await;
        self.ports().pop_first().expect("one")
    }

    /// Waits until no process, no file and no listener is left.
    async fn is_left(&self, ports: &[u16], deadline: Duration) {
        let left =
            || (self.processes(), self.files(), ports.iter().filter(|port| listens(**port).is_some()).collect::<Vec<_>>());
        let begun = std::time::Instant::now();
        loop {
            let left = left();
            if left == Default::default() {
                return;
            }
            assert!(begun.elapsed() < deadline, "after {deadline:?} this is left: {left:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Nothing is left now, without a wait.
    async fn is_clean(&self, ports: &[u16]) {
        self.is_left(ports, Duration::ZERO).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // After a failure, what should have gone by itself.
        for process in self.processes() {
            let _ = std::process::Command::new("kill").args(["-KILL", &process[0]]).status();
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The address, as Linux writes it, on which somebody listens on a port.
fn listens(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines());
    let mut found = lines.filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (address, state) = (words.next()?, words.nth(1)?);
        (state == "0A" && address.ends_with(&format!(":{port:04X}"))).then(|| address.to_owned())
    });
    found.next()
}

/// The folder that `tests/servers` unpacked a server into.
fn root(server: &Server) -> String {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(target).join("servers").join(&server.name).join("root");
    root.to_str().expect("UTF-8").to_owned()
}

/// Runs a test on the server that starts fastest, if there is one that can be started.
fn fast<F, T>(test: F)
where
    F: Fn(String) -> T,
    T: Future<Output = ()>,
{
    let Some(server) = startable().max_by_key(|server| &server.name == "mariadb-11.8") else {
        eprintln!("NOT RUN, it starts a server of its own, and JOBCTL_TEST_SERVERS names none that can be");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(test(root(server)));
}

/// A command as an ordinary user: as `nobody`, unless we are one already.
fn ordinary(program: &Path) -> Command {
    if fs::metadata("/proc/self").is_ok_and(|of_us| std::os::unix::fs::MetadataExt::uid(&of_us) != 0) {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

/// Runs a command to its end.
async fn run(command: &mut Command) -> Ran {
    let output = command.env_remove("JOBCTL_URL").stdin(Stdio::null()).kill_on_drop(true).output();
    Ran::from(tokio::time::timeout(SOON, output).await.expect("it ends").expect("it can be run"))
}

/// A program of this name, in a folder with what makes a server of it, that runs these lines of `sh`.
fn pretend(place: &Place, lines: &str) -> String {
    let program = place.0.join("bin/mysqld");
    for folder in ["bin", "share/english"] {
        fs::create_dir_all(place.0.join(folder)).expect("a folder");
    }
    fs::write(place.0.join("share/english/errmsg.sys"), "").expect("a file");
    let version = "case $* in *--version) echo 'mysqld  Ver 9.9.9 for Linux'; exit;; esac";
    fs::write(&program, format!("#!/bin/sh\n{version}\n{lines}\n")).expect("a file");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a mode");
    program.to_str().expect("UTF-8").to_owned()
}

/// What a demo printed that has come to its end in good order.
fn ended_well(code: i32, log: &str) {
    assert_eq!(code, 0, "{log}");
    let last = log.lines().last().unwrap_or_default();
    assert!(last.ends_with(&format!("failed. {SUMMARY}")) && !last.starts_with("0 runs"), "{log}");
}

/// What a demo printed on stderr that failed.
fn failed(ran: &Ran, code: i32, told: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:#?}");
    let error = ran.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.contains(told) && ran.stderr.lines().any(|line| line.starts_with("hint: ")), "not `{told}`: {ran:#?}");
}

/// Waits until a job has run.
async fn runs(demo: &Going) {
    demo.says("visits: run ok", 1).await;
}

#[test]
fn a_demo_shows_its_jobs_and_ends_after_its_time_on_every_server() {
    each_private(|server| async move {
        let place = Place::new();
        let ran = place.demo(&["--server", &root(&server), "--for", "3s"]).run().await;
        ended_well(ran.code, &ran.stderr);
        assert!(ran.stderr.starts_with("starting a private "), "{ran:#?}");
        assert!(ran.stdout.matches("name       owner").count() > 2, "a table for each change, and one at the end: {ran:#?}");
        let last = ran.stdout.rsplit("name       owner").next().unwrap_or_default();
        for job in ["visits", "carts", "reminders", "stock", "roll-up"] {
            assert!(last.contains(&format!("\n{job} ")), "no {job}: {ran:#?}");
        }
        place.is_clean(&[]).await;
        assert!(!ran.stderr.contains("lost the server"), "it ends by itself, and nothing is lost: {}", ran.stderr);
    });
}

#[test]
fn killed_by_sigkill_while_it_shows_or_starts_nothing_is_left_on_every_server() {
    each_private(|server| async move {
        for shown in [true, false] {
            let place = Place::new();
            let demo = place.demo(&["--server", &root(&server)]).start();
            let port = place.begins().await;
            if shown {
                runs(&demo).await;
                assert_eq!(listens(port).as_deref(), Some(format!("0100007F:{port:04X}").as_str()), "for this machine alone");
            }
            demo.signal("KILL");
            assert_eq!(demo.ends().await.0, -9);
            place.is_left(&[port], GONE).await;
        }
    });
}

#[test]
fn killed_as_soon_as_it_starts_a_server_nothing_is_left() {
    fast(|_| async move {
        // A server that never ends and never answers: whoever waits for its end waits too long. And a machine so busy that it is
        // not yet in a session of its own.
        let fake = Place::new();
        let server = pretend(&fake, "exec sleep 300");
        let busy = "#!/bin/sh\n: >\"$TMPDIR/begun\"\nsleep 0.5\nPATH=${PATH#*:} exec setsid \"$@\"\n";
        fs::write(fake.0.join("setsid"), busy).expect("a file");
        fs::set_permissions(fake.0.join("setsid"), Permissions::from_mode(0o755)).expect("a mode");
        let path = std::env::var("PATH").expect("a path");
        for (signal, code) in [("KILL", -9), ("TERM", 143), ("INT", 130)] {
            for path in [path.clone(), format!("{}:{path}", fake.path())] {
                let place = Place::new();
                let demo = place.demo(&["--server", &server]).env("PATH", &path).start();
                let begun = place.0.join("begun");
                let log = || place.files().iter().any(|folder| folder.join("initialise.log").exists());
                wait_until("it starts the server", SOON, async || begun.exists() || log()).await;
                demo.signal(signal);
                let (ended, log) = demo.ends().await;
                assert_eq!(ended, code, "{log:#?}");
                let _ = fs::remove_file(begun);
                place.is_left(&[], GONE).await;
            }
        }
    });
}

#[test]
fn a_signal_while_it_starts_ends_it_at_once() {
    each_private(|server| async move {
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let place = Place::new();
            let demo = place.demo(&["--server", &root(&server)]).start();
            let port = place.begins().await;
            demo.signal(signal);
            let (ended, log) = demo.ends().await;
            assert_eq!(ended, code, "{log:#?}");
            assert_eq!(log.last().map(String::as_str), Some(format!("error: ended by SIG{signal}").as_str()), "{log:#?}");
            place.is_clean(&[port]).await;
        }
    });
}

#[test]
fn two_demos_at_once_do_not_meet_and_each_ends_by_its_own_signal() {
    fast(|server| async move {
        let place = Place::new();
        let [first, second] = [(); 2].map(|()| place.demo(&["--server", &server]).start());
        runs(&first).await;
        runs(&second).await;
        let ports = place.ports();
        assert_eq!((ports.len(), place.files().len()), (2, 2), "{ports:?}");
        let ports: Vec<_> = ports.into_iter().collect();
        first.signal("INT");
        let (code, log) = first.ends().await;
        ended_well(code, &log.join("\n"));
        assert_eq!((place.ports().len(), place.files().len()), (1, 1));
        let before = second.count("visits: run ok");
        second.says("visits: run ok", before + 2).await;
        second.signal("TERM");
        let (code, log) = second.ends().await;
        ended_well(code, &log.join("\n"));
        place.is_clean(&ports).await;
    });
}

#[test]
fn a_real_ctrl_c_on_a_terminal_ends_it_while_it_starts_and_while_it_shows() {
    fast(|server| async move {
        for (shown, keys, code) in [(false, b"\x03", 130), (true, b"\x03", 0), (true, b"q", 0)] {
            let place = Place::new();
            let mut demo = place.on_terminal(&["--server", &server]);
            let port = place.begins().await;
            if shown {
                demo.says("q quit").await;
                demo.says("visits: run ok").await;
                assert!(demo.screen().contains("jobctl demo: a shop on a private server"), "{}", demo.screen());
            }
            demo.types(keys).await;
            let ended = demo.ends().await;
            let screen = demo.screen();
            assert_eq!(ended, code, "{screen}");
            if shown {
                assert!(screen.trim_end().ends_with(SUMMARY) && screen.contains("roll-up"), "{screen}");
                let raw = String::from_utf8_lossy(&demo.raw()).into_owned();
                assert!(RESTORED.iter().all(|restored| raw.contains(restored)), "{raw:?}");
            } else {
                assert!(screen.contains("error: ended by SIGINT"), "{screen}");
            }
            place.is_clean(&[port]).await;
        }
    });
}

#[test]
fn killed_by_sigkill_on_a_terminal_it_leaves_the_terminal_as_it_was() {
    fast(|server| async move {
        let place = Place::new();
        let after = "until [ \"$(stty -g)\" = \"$before\" ]; do sleep 0.05; done; echo as it was; read line; echo got $line";
        let script = format!("before=$(stty -g); '{JOBCTL}' demo --server '{server}'; {after}");
        let mut shell = Terminal::start(120, 30, "sh", &["-c", &script], &[("TMPDIR", place.path())]);
        let port = place.begins().await;
        shell.says("visits: run ok").await;
        let children = format!("/proc/{pid}/task/{pid}/children", pid = shell.pid());
        let demo = fs::read_to_string(children).expect("a process").trim().to_owned();
        assert_eq!(run(Command::new("kill").args(["-KILL", &demo])).await.code, 0);
        shell.says("as it was").await;
        let restored = async || {
            let raw = String::from_utf8_lossy(&shell.raw()).into_owned();
            RESTORED.iter().all(|restored| raw.contains(restored))
        };
        wait_until("the usual screen is back", SOON, restored).await;
        // Keys are echoed again, and a line ends by Enter.
        shell.types(b"hello\r").await;
        assert_eq!(shell.ends().await, 0, "{}", shell.screen());
        assert!(shell.screen().contains("got hello"), "{}", shell.screen());
        place.is_left(&[port], GONE).await;
    });
}

#[test]
fn a_terminal_that_goes_away_takes_all_of_it_along() {
    fast(|server| async move {
        let place = Place::new();
        let demo = place.on_terminal(&["--server", &server]);
        let port = place.begins().await;
        demo.says("visits: run ok").await;
        demo.signal("HUP");
        place.is_left(&[port], GONE).await;
    });
}

#[test]
fn kept_it_stays_after_q_until_ctrl_c() {
    fast(|server| async move {
        let place = Place::new();
        let mut demo = place.on_terminal(&["--server", &server, "--keep"]);
        demo.says("q quit").await;
        let port = place.begins().await;
        demo.types(b"q").await;
        demo.says("the shop stays open until Ctrl-C").await;
        let screen = demo.screen();
        assert!(screen.contains(&format!("mysql -h 127.0.0.1 -P {port} -u shop -p")), "{screen}");
        assert!(screen.contains("export JOBCTL_URL=mysql://shop:"), "{screen}");
        assert!(listens(port).is_some());
        demo.types(b"\x03").await;
        assert_eq!(demo.ends().await, 0, "{}", demo.screen());
        assert!(demo.screen().trim_end().ends_with(SUMMARY), "{}", demo.screen());
        place.is_clean(&[port]).await;
    });
}

#[test]
fn kept_it_prints_lines_that_connect_and_lets_nobody_in_without_a_password() {
    each_private(|server| async move {
        let place = Place::new();
        let demo = place.demo(&["--server", &root(&server), "--keep"]).start();
        runs(&demo).await;
        let log = demo.log();
        let line =
            |with: &str| log.iter().find_map(|line| Some(line.trim()).filter(|line| line.starts_with(with))).expect(with);
        let (mysql, export) = (line("mysql -h 127.0.0.1 "), line("export JOBCTL_URL="));

        // Each as it stands, typed into a shell.
        let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");
        let select = "SELECT COUNT(*), CURRENT_USER() FROM stock";
        let typed = format!("mysql() {{ '{client}' client {} \"$@\"; }}; {mysql} -Ne '{select}'", server.name);
        let ran = run(Command::new("sh").args(["-c", &typed])).await;
        assert_eq!(ran.stdout.trim(), "5\tshop@127.0.0.1", "{ran:#?}");
        let typed = format!("{export}; exec '{JOBCTL}' status --output json");
        let status = async || {
            let ran = run(Command::new("sh").args(["-c", &typed])).await;
            assert_eq!(ran.code, 0, "{ran:#?}");
            serde_json::from_str::<Vec<Value>>(&ran.stdout).expect("rows")
        };
        let text = |row: &Value, column: &str| row[column].as_str().unwrap_or_default().to_owned();
        let rows = status().await;
        let jobs: Vec<_> = rows.iter().map(|row| (text(row, "job_name"), text(row, "job_procedure_name"))).collect();
        let defined = [
            ("carts", "expire_carts"),
            ("reminders", "send_reminders"),
            ("roll-up", "roll_up"),
            ("stock", "check_stock"),
            ("visits", "visit"),
        ];
        assert_eq!(jobs, defined.map(|(job, procedure)| (job.to_owned(), procedure.to_owned())));
        assert!(rows.iter().all(|row| text(row, "job_owner") == "shop"), "{rows:#?}");
        wait_until("stock has run", SOON, async || text(&status().await[3], "last_outcome") == "OK").await;

        // The password is for those who were told it.
        let url = mysql_async::Opts::from_url(export.trim_start_matches("export JOBCTL_URL=")).expect("a URL");
        let password = url.pass().expect("a password");
        let told: Vec<_> =
            place.processes().into_iter().filter(|line| line.iter().any(|word| word.contains(password))).collect();
        assert!(told.is_empty(), "on a command line: {told:#?}");
        for user in ["root", "shop", "mysql", "nobody", ""] {
            let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(url.tcp_port()).user(Some(user));
            let refused = Conn::new(options.prefer_socket(false)).await.expect_err(user);
            // MySQL asks those whom it does not know for any kind of proof, also for one that our client cannot give.
            assert!(!matches!(refused, mysql_async::Error::Io(_)), "{user}: {refused}");
        }
        demo.signal("INT");
        let (code, log) = demo.ends().await;
        ended_well(code, &log.join("\n"));
        place.is_clean(&[url.tcp_port()]).await;
    });
}

#[test]
fn without_root_a_demo_works_and_leaves_nothing() {
    fast(|server| async move {
        let (place, home) = (Place::new(), Place::new());
        for folder in [&place, &home] {
            fs::set_permissions(&folder.0, Permissions::from_mode(0o1777)).expect("a mode");
        }
        // Our own folders may be closed to others.
        let (program, copy) = (home.0.join("jobctl"), home.0.join("server"));
        fs::copy(JOBCTL, &program).expect("a copy");
        assert_eq!(run(Command::new("cp").args(["-r", &server]).arg(&copy)).await.code, 0);
        let mut demo = ordinary(&program);
        demo.args(["demo", "--for", "2s", "--server"]).arg(&copy).env("TMPDIR", &place.0);
        let ran = run(&mut demo).await;
        ended_well(ran.code, &ran.stderr);
        place.is_clean(&[]).await;

        // Where nothing may be written.
        fs::set_permissions(&place.0, Permissions::from_mode(0o555)).expect("a mode");
        failed(&run(&mut demo).await, 1, &format!("cannot make a folder in `{}`", place.path()));
        place.is_clean(&[]).await;
    });
}

#[test]
fn a_temporary_folder_with_a_long_and_strange_name_does_on_every_server() {
    each_private(|server| async move {
        let strange = " it's \"1\" $x %s;é";
        let long = strange.len() + std::env::temp_dir().join(format!("demo{}", stamp())).as_os_str().len();
        let place = Place::named(&format!("{strange}{}", "x".repeat(100_usize.saturating_sub(long))));
        assert!(place.path().len() >= 100, "{}", place.path());
        let ran = place.demo(&["--server", &root(&server), "--for", "1s"]).run().await;
        ended_well(ran.code, &ran.stderr);
        place.is_clean(&[]).await;
    });
}

#[test]
fn a_temporary_folder_that_is_empty_or_relative_does() {
    fast(|server| async move {
        let place = Place::new();
        fs::create_dir(place.0.join("here")).expect("a folder");
        for folder in ["", "here", "./here/../here"] {
            let mut demo = Command::new(JOBCTL);
            demo.args(["demo", "--server", &server, "--for", "1s"]).env("TMPDIR", folder).current_dir(&place.0);
            let ran = run(&mut demo).await;
            ended_well(ran.code, &ran.stderr);
            assert_eq!(place.files(), [place.0.join("here")]);
            assert!(fs::read_dir(place.0.join("here")).expect("it is there").next().is_none());
        }
    });
}

#[test]
fn a_temporary_folder_that_is_none_is_told() {
    fast(|server| async move {
        let place = Place::new();
        fs::write(place.0.join("file"), "").expect("a file");
        for none in ["missing", "file", "missing/too"] {
            let folder = place.0.join(none).to_str().expect("UTF-8").to_owned();
            let ran = place.demo(&["--server", &server, "--for", "1s"]).env("TMPDIR", &folder).run().await;
            failed(&ran, 1, &format!("cannot make a folder in `{folder}`: "));
            assert!(ran.stderr.contains("hint: `TMPDIR` names another folder"), "{ran:#?}");
            assert_eq!((place.processes(), place.files()), (Vec::new(), vec![place.0.join("file")]));
        }
    });
}

#[test]
fn a_wrong_server_is_wrong_usage() {
    fast(|_| async move {
        let (place, other) = (Place::new(), Place::new());
        fs::write(other.0.join("mysqld"), "no program").expect("a file");
        let [missing, file] = ["missing", "mysqld"].map(|name| other.0.join(name).to_str().expect("UTF-8").to_owned());
        for wrong in [&missing, &file, other.path(), "/bin/true", "/dev/null"] {
            let ran = place.demo(&["--server", wrong]).run().await;
            failed(&ran, 2, &format!("`{wrong}` is no MySQL or MariaDB server that can be run"));
            place.is_clean(&[]).await;
        }
    });
}

#[test]
fn without_any_server_it_says_how_to_get_one() {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"].map(Path::new);
    if folders.iter().any(|folder| folder.join("mysqld").exists() || folder.join("mariadbd").exists()) {
        eprintln!("NOT RUN, this machine has a server where every demo finds it");
        return;
    }
    fast(|_| async move {
        let place = Place::new();
        // Away from where cargo built it, and what has been fetched there.
        let program = place.0.join("jobctl");
        fs::copy(JOBCTL, &program).expect("a copy");
        let mut demo = Command::new(&program);
        demo.arg("demo").current_dir(&place.0).env_clear();
        for variable in ["PATH", "HOME", "TMPDIR"] {
            demo.env(variable, &place.0);
        }
        let ran = run(&mut demo).await;
        failed(&ran, 3, "there is no MySQL or MariaDB server program on this machine");
        assert!(ran.stderr.contains("hint: `jobctl demo --install-server`"), "{ran:#?}");
        assert!(ran.stderr.contains("hint: elsewhere install the package `mariadb-server`"), "{ran:#?}");
        assert_eq!((place.processes(), place.files()), (Vec::new(), vec![program]));
    });
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_last_words() {
    fast(|_| async move {
        let (fake, place) = (Place::new(), Place::new());
        let server = pretend(&fake, "echo 'cannot, and never could'; exit 1");
        let ran = place.demo(&["--server", &server]).run().await;
        failed(&ran, 1, "MySQL 9.9.9 does not start: it said");
        assert!(ran.stderr.contains("\ncannot, and never could\n"), "{ran:#?}");
        place.is_clean(&[]).await;

        // Somebody else takes each port first: others are tried, not for ever.
        let tried = format!("echo >>'{}/tries'; echo 'Bind on TCP/IP port: Address already in use'; exit 1", fake.path());
        let ran = place.demo(&["--server", &pretend(&fake, &tried)]).run().await;
        failed(&ran, 1, "MySQL 9.9.9 does not start: it said");
        assert_eq!(fs::read_to_string(fake.0.join("tries")).expect("it was run"), "\n".repeat(5));
        place.is_clean(&[]).await;
    });
}
