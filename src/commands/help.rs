//! `jobctl help`.

use clap::{Args, CommandFactory};

use crate::cli::{Cli, brief};
use crate::error::Error;

/// Explain a command, or states, schedules, exit-codes, messages
#[derive(Args, Debug)]
pub struct HelpArgs {
    /// A command or a topic [default: all commands]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub about: Option<String>,
}

/// What no single command explains.
const TOPICS: [(&str, &str); 4] = [
    ("states", include_str!("help/states.txt")),
    ("schedules", include_str!("help/schedules.txt")),
    ("exit-codes", include_str!("help/exit-codes.txt")),
    ("messages", include_str!("help/messages.txt")),
];

/// The text that was asked for.
///
/// # Errors
///
/// [`crate::error::Kind::Usage`] when there is neither a command nor a topic of that name.
pub fn text(args: &HelpArgs) -> Result<String, Error> {
    let mut command = Cli::command();
    command.build();
    let Some(about) = &args.about else { return Ok(command.render_help().to_string()) };
    if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == about) {
        return Ok((*text).to_owned());
    }
    let found = command.find_subcommand_mut(about).map(|command| brief(&command.render_long_help().to_string()));
    found.ok_or_else(|| {
        let topics = TOPICS.map(|(topic, _)| format!("`{topic}`")).join(", ");
        Error::usage(format!("there is no command and no topic `{about}`"))
            .hint(format!("topics are {topics}; `jobctl --help` lists the commands"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn topics_are_readable_at_80_columns() {
        for (topic, text) in TOPICS {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{topic}");
        }
    }

    #[test]
    fn each_exit_code_is_explained() {
        let (_, text) = TOPICS[2];
        for kind in Kind::ALL {
            let code = kind.exit_code().to_string();
            let numbers = text.lines().flat_map(|line| line.split("  ").next());
            assert!(numbers.flat_map(|numbers| numbers.split(", ")).any(|number| number == code), "{code}");
        }
    }

    #[test]
    fn commands_and_topics_are_told_apart() {
        let about = |about: &str| text(&HelpArgs { about: Some(about.into()) });
        assert!(about("pause").is_ok_and(|text| text.contains("jobctl pause")));
        assert!(about("states").is_ok_and(|text| text.starts_with("States")));
        assert_eq!(about("weather").map_err(|error| error.kind).expect_err("no such topic"), Kind::Usage);
    }
}
