//! A job runner that lives inside MySQL or MariaDB, and the tool that controls it.
//!
//! The schedule, the lock and the record are tables and stored procedures; this crate installs them, defines jobs, opens one
//! connection per runner and blocks inside it, and shows a person what happened.
//!
//! # Layout
//!
//! - [`cli`]: the shape of the command line, and nothing else.
//! - [`settings`]: what flags and environment mean together; the one room that reads the environment.
//! - [`commands`]: one file per verb; takes settings and arguments, gives an answer.
//! - [`schema`]: installs, checks and drops what lives in the database: `migrations/` and `sql/`.
//! - [`db`]: connections, calls of routines, rows.
//! - [`controller`]: keeps runners alive, one connection each.
//! - [`demo`]: a throw-away server with a small shop in it.
//! - [`report`]: turns rows into what a person is shown.
//! - [`output`]: the one room that prints.
//! - [`error`]: kinds, exit codes, hints.
//! - [`chance`]: random numbers.
//! - [`model`]: plain data and its rules.

use std::ffi::OsString;
use std::process::ExitCode;

pub mod chance;
pub mod cli;
pub mod commands;
pub mod controller;
pub mod db;
pub mod demo;
pub mod error;
pub mod model;
pub mod output;
pub mod report;
pub mod schema;
pub mod settings;

use cli::Parsed;
use error::{Error, Kind};
use output::Output;
use settings::Settings;

/// Runs one command line to its end and says how it went.
pub async fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut output = Output::new(settings::screen());
    let done = execute(arguments, &mut output).await;
    let done = done.and_then(|()| output.flush());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

async fn execute(arguments: impl IntoIterator<Item = OsString>, output: &mut Output) -> Result<(), Error> {
    let cli = match cli::parse(arguments)? {
        Parsed::Command(cli) => cli,
        Parsed::Text(text) => return output.text(&text),
    };
    let settings = Settings::resolve(cli.global)?;
    output::log::start(settings.log_format, settings.screen, settings.zone.clone());
    output.configure(&settings);
    let answer = commands::run(&settings, cli.verb, output).await?;
    output.answer(&answer)?;
    answer.failure.map_or(Ok(()), |failure| Err(Error::new(Kind::Failed, failure)))
}
