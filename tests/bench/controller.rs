//! `jobctl start --all`, as a service has it.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::db::{Account, Db};
use crate::process::Process;

/// How long it may take to end in good order.
const END: Duration = Duration::from_secs(20);

/// A controller that works; killed when dropped.
pub struct Controller(Child);

/// Whether jobs that are not due for long keep their sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Park {
    /// As it is without saying anything.
    Auto,
    /// Every job has a waiting runner at all times.
    Never,
}

impl Controller {
    /// Starts all jobs of an account.
    pub fn start(db: &Db, account: &Account, park: Park) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobctl"));
        command.env_remove("MYSQL_PWD").env_remove("JOBCTL_URL").args(["--url", &db.url(account), "start", "--all"]);
        if park == Park::Never {
            command.args(["--park", "never"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        Self(command.spawn().expect("the binary can be run"))
    }

    /// Its process.
    pub fn process(&self) -> Process {
        Process(self.0.id().expect("it has not ended"))
    }

    /// Ends it as a service is ended.
    pub async fn stop(mut self) {
        let pid = i32::try_from(self.process().0).ok().and_then(Pid::from_raw).expect("the id of a process");
        kill_process(pid, Signal::TERM).expect("it has not ended");
        if tokio::time::timeout(END, self.0.wait()).await.is_err() {
            eprintln!("note: a controller did not end within {END:?}, and was killed");
            self.kill().await;
        }
    }

    /// Kills it, and gives the instant.
    pub async fn kill(mut self) -> i64 {
        let instant = crate::clock::now();
        self.0.start_kill().expect("it has not ended");
        self.0.wait().await.expect("a child");
        instant
    }
}
