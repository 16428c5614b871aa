//! The `jobctl` command: a doorway to [`jobctl::run`].

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    jobctl::run(std::env::args_os()).await
}
