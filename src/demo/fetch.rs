//! Fetches a server from Debian's archive, without installing it.

use std::process::Stdio;

use rustix::process::{Pid, kill_process_group};
use tokio::process::Command;

use crate::controller::Signals;
use crate::error::{Error, Kind};
use crate::settings;

/// The server that is fetched, and its folder's name.
pub const NAME: &str = "mariadb-11.8";
/// The suite of Debian that has it.
const SUITE: &str = "trixie";
/// The same packages as the test bench takes, so that each finds what the other fetched.
const PACKAGES: [&str; 2] = ["mariadb-server-core", "mariadb-client-core"];
/// A private apt, which leaves the machine's own alone.
const SCRIPT: &str = include_str!("fetch.sh");

/// Fetches the server unless it is there; it stays for the next time.
///
/// # Errors
///
/// [`Kind::Failed`] when the machine has no apt, or the archive cannot be reached; the script has told more on stderr. A signal
/// ends it.
pub async fn fetch(signals: &mut Signals) -> Result<(), Error> {
    let folder = settings::server_folder().ok_or_else(|| {
        Error::new(Kind::Failed, "there is no folder to keep a server in").hint("set `HOME` or `XDG_CACHE_HOME`")
    })?;
    let mut command = Command::new("bash");
    command.args(["-c", SCRIPT, "fetch"]).arg(folder.join(NAME)).arg(SUITE).args(PACKAGES);
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let cannot = |cause| Error::new(Kind::Failed, "cannot run `bash`, which fetches the server").because(cause);
    let mut script = command.spawn().map_err(cannot)?;
    let group = script.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let status = tokio::select! {
        status = script.wait() => status,
        signal = signals.next() => {
            // With all that it started.
            let _ = group.map(|group| kill_process_group(group, rustix::process::Signal::TERM));
            let _ = script.wait().await;
            return Err(signal.ended());
        }
    };
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error::new(Kind::Failed, "no server could be fetched")
            .hint("install the package `mariadb-server` or `mysql-server`, or name a program: `jobctl demo --server PATH`")),
        Err(cause) => Err(cannot(cause)),
    }
}
