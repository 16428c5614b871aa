//! The shape of the command line; what it means is decided in [`crate::settings`] and [`crate::commands`].

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::commands::{
    abort, adopt, alter, cancel, define, demo, disable, doctor, drop, enable, help, install, list, pause, resume, show, start,
    status, uninstall,
};
use crate::error::Error;

/// Run jobs inside MySQL or MariaDB, and see what happened.
#[derive(Debug, Parser)]
#[command(name = "jobctl", version, disable_help_flag = true, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Options that every verb takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs, one file each in `src/commands/`.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the doc comments of the arguments are the help texts")]
pub enum Verb {
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Define(define::DefineArgs),
    Alter(alter::AlterArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Drop(drop::DropArgs),
    Start(start::StartArgs),
    Pause(pause::PauseArgs),
    Resume(resume::ResumeArgs),
    Abort(abort::AbortArgs),
    Cancel(cancel::CancelArgs),
    Enable(enable::EnableArgs),
    Disable(disable::DisableArgs),
    Status(status::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Adopt(adopt::AdoptArgs),
    Demo(demo::DemoArgs),
    Help(help::HelpArgs),
}

/// Heads the options that all verbs take.
const GLOBAL: &str = "Connection and output";

/// Options before or after the verb; the short ones mean what they mean to `mysql`.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = GLOBAL)]
pub struct GlobalArgs {
    /// Server and account, as mysql://USER:PASSWORD@HOST:PORT/SCHEMA [env: JOBCTL_URL]
    #[arg(long, global = true, value_name = "URL", hide_default_value = true)]
    pub url: Option<String>,
    /// Host of the server
    #[arg(short = 'h', long, global = true)]
    pub host: Option<String>,
    /// Port of the server
    #[arg(short = 'P', long, global = true)]
    pub port: Option<u16>,
    /// Account to log in as
    #[arg(short = 'u', long, global = true)]
    pub user: Option<String>,
    /// Its password, attached: -pPW or --password=PW; without one, asks for it [env: MYSQL_PWD]
    #[arg(
        short = 'p',
        long,
        global = true,
        value_name = "PW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ASK,
    )]
    pub password: Option<String>,
    /// Unix socket of the server
    #[arg(short = 'S', long, global = true, value_name = "PATH")]
    pub socket: Option<String>,
    /// Schema that jobctl is installed in [default: jobctl]
    #[arg(short = 'D', long, global = true, value_name = "SCHEMA")]
    pub database: Option<String>,
    /// Whether to encrypt the connection: disabled, preferred or required [default: preferred]
    #[arg(long, global = true, value_name = "MODE", ignore_case = true, hide_possible_values = true)]
    pub ssl_mode: Option<SslMode>,
    /// How to print data: table, json or csv
    #[arg(long, global = true, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    pub output: Format,
    /// Show times in UTC, not in this machine's zone
    #[arg(long, global = true)]
    pub utc: bool,
    /// How to log: human or json
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human", hide_possible_values = true)]
    pub log_format: LogFormat,
    /// Print help
    #[arg(long, global = true, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// Stands for a password that is to be asked for; no password holds a NUL.
pub const ASK: &str = "\0";

/// How to print data.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    #[default]
    Table,
    /// An array of objects, named like the columns; times in UTC.
    Json,
    /// A header line and a line per row; times in UTC.
    Csv,
}

/// How to log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// Whether to encrypt the connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum SslMode {
    /// Never.
    Disabled,
    /// Where the server offers it.
    #[default]
    Preferred,
    /// Always, with whatever certificate the server has.
    Required,
}

/// What a command line turned out to be.
#[derive(Debug)]
pub enum Parsed {
    /// A command to carry out.
    Command(Box<Cli>),
    /// Help or version, to be printed as it is.
    Text(String),
}

/// Parses a command line.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Parsed, Error> {
    let arguments = attach_passwords(arguments);
    let verb = verb(&arguments);
    let error = match Cli::try_parse_from(arguments) {
        Ok(Cli { verb: Verb::Help(args), .. }) => return help::text(&args).map(Parsed::Text),
        Ok(cli) => return Ok(Parsed::Command(Box::new(cli))),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp => Ok(Parsed::Text(brief(&text))),
        ErrorKind::DisplayVersion => Ok(Parsed::Text(text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Error::usage("say what to do").hint("`jobctl --help` lists the commands"))
        }
        _ => Err(usage(&text, verb)),
    }
}

/// The help of one command without the options that all have.
pub fn brief(text: &str) -> String {
    let Some((before, section)) =
        text.split_once(&format!("{GLOBAL}:\n")).filter(|(before, _)| !before.contains("\nCommands:"))
    else {
        return text.to_owned();
    };
    let behind = section.split_inclusive('\n').skip_while(|line| line.starts_with(' ') || line.trim().is_empty());
    let behind: String = behind.collect();
    let gap = if behind.is_empty() { "" } else { "\n" };
    format!("{before}{GLOBAL}: see `jobctl --help`\n{gap}{behind}")
}

/// Makes an error of ours from clap's text: its first paragraph is the sentence, the rest are hints.
fn usage(text: &str, verb: Option<String>) -> Error {
    let text = text.trim_start_matches("error: ").trim();
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let hints = rest.lines().map(str::trim).filter(|line| line.starts_with("tip: "));
    let hints = hints.map(|line| plain(line.trim_start_matches("tip: ")));
    let mut error = Error::usage(told(&plain(message), verb.as_deref()));
    error.hints.extend(hints);
    if message.contains("'--host <HOST>'") {
        return error.hint("`-h` is the host, as in `mysql`; help is `--help`");
    }
    error.hint(match verb {
        Some(verb) => format!("`jobctl {verb} --help`"),
        None => "`jobctl --help` lists the commands".to_owned(),
    })
}

/// One line, in our words.
fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\'', "`");
    text.replace("subcommands exist", "commands are there")
        .replace("subcommand exists", "command is there")
        .replace("subcommand", "command")
}

/// Clap's sentence, shorter where ours is in it: "invalid value `5` for `--every <SPAN>`: `5` is no span of time: ...".
fn told(message: &str, verb: Option<&str>) -> String {
    if message.contains("arguments were not provided: <NAME>") && matches!(verb, Some("start" | "pause" | "resume")) {
        return "name the jobs, or say `--all`".to_owned();
    }
    let ours = message.strip_prefix("invalid value ").and_then(|rest| rest.split_once(" for `")?.1.split_once("`: "));
    match ours {
        Some((option, why)) => {
            let name = option.split_once(" <").map_or(option, |(name, _)| name);
            format!("`{}`: {why}", name.trim_matches(['<', '>', '.']))
        }
        None => message.to_owned(),
    }
}

/// The verb of a command line, as far as there is one.
fn verb(arguments: &[OsString]) -> Option<String> {
    let command = Cli::command();
    let words = arguments.iter().skip(1).take_while(|word| *word != "--").filter_map(|word| word.to_str());
    words.into_iter().find(|word| command.find_subcommand(word).is_some()).map(str::to_owned)
}

/// Writes `-pPW` as `--password=PW`, since to `mysql` a password is always attached: a bare `-p` never eats the next word.
fn attach_passwords(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    for word in &mut arguments[..end] {
        let attached = word.to_str().and_then(|word| word.strip_prefix("-p")).filter(|password| !password.is_empty());
        if let Some(password) = attached {
            *word = format!("--password={password}").into();
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(line: &str) -> GlobalArgs {
        match parse(line.split(' ').map(OsString::from)) {
            Ok(Parsed::Command(cli)) => cli.global,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_work_before_and_after_the_verb() {
        for line in ["jobctl -h db -P 3307 -u bob -D jobs list", "jobctl list -h db -P 3307 -u bob -D jobs"] {
            let global = global(line);
            assert_eq!(global.host.as_deref(), Some("db"));
            assert_eq!(global.port, Some(3307));
            assert_eq!(global.user.as_deref(), Some("bob"));
            assert_eq!(global.database.as_deref(), Some("jobs"));
        }
    }

    #[test]
    fn a_password_is_always_attached() {
        assert_eq!(global("jobctl -p list").password.as_deref(), Some(ASK));
        assert_eq!(global("jobctl --password list").password.as_deref(), Some(ASK));
        assert_eq!(global("jobctl -pSECRET list").password.as_deref(), Some("SECRET"));
        assert_eq!(global("jobctl list --password=a=b").password.as_deref(), Some("a=b"));
        assert_eq!(global("jobctl list").password, None);
    }

    #[test]
    fn wrong_usage_is_one_sentence_and_a_hint() {
        let error = parse(["jobctl", "lost"].map(OsString::from)).expect_err("no such verb");
        assert_eq!(error.kind.exit_code(), 2);
        assert_eq!(error.to_string(), "unrecognized command `lost`");
        assert!(error.hints.len() > 1);
    }

    #[test]
    fn help_is_for_the_long_option_only() {
        assert!(matches!(parse(["jobctl", "status", "--help"].map(OsString::from)), Ok(Parsed::Text(_))));
        assert!(parse(["jobctl", "status", "-h"].map(OsString::from)).is_err());
    }
}
