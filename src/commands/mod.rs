//! One file per verb: its arguments, whose doc comment is the help text, and `run`.

pub mod abort;
pub mod adopt;
pub mod alter;
pub mod cancel;
pub mod define;
pub mod demo;
pub mod disable;
pub mod doctor;
pub mod drop;
pub mod enable;
pub mod help;
pub mod install;
pub mod list;
pub mod pause;
mod request;
pub mod resume;
mod schedule;
pub mod show;
pub mod start;
pub mod status;
pub mod uninstall;
mod watch;

use crate::cli::Verb;
use crate::db::Rows;
use crate::error::Error;
use crate::output::Output;
use crate::report::{Answer, Block};
use crate::settings::Settings;

/// Carries out a verb.
pub async fn run(settings: &Settings, verb: Verb, output: &mut Output) -> Result<Answer, Error> {
    match verb {
        Verb::Install(args) => install::run(settings, args).await,
        Verb::Uninstall(args) => uninstall::run(settings, args, output).await,
        // Answered before anything else is looked at.
        Verb::Help(args) => Ok(Answer::new(Rows::default(), vec![Block::Text(help::text(&args)?)])),
        Verb::Adopt(args) => adopt::run(settings, args).await,
        Verb::Doctor(args) => doctor::run(settings, args).await,
        Verb::Demo(args) => demo::run(settings, args, output).await,
        Verb::Define(args) => define::run(settings, args).await,
        Verb::Alter(args) => alter::run(settings, args).await,
        Verb::List(args) => list::run(settings, args).await,
        Verb::Show(args) => show::run(settings, args).await,
        Verb::Drop(args) => drop::run(settings, args).await,
        Verb::Start(args) => start::run(settings, args).await,
        Verb::Pause(args) => pause::run(settings, args).await,
        Verb::Resume(args) => resume::run(settings, args).await,
        Verb::Abort(args) => abort::run(settings, args, output).await,
        Verb::Cancel(args) => cancel::run(settings, args, output).await,
        Verb::Enable(args) => enable::run(settings, args).await,
        Verb::Disable(args) => disable::run(settings, args).await,
        Verb::Status(args) => status::run(settings, args, output).await,
    }
}
