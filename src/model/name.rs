//! The name of a job.

use std::fmt;
use std::str::FromStr;

/// A name that a job may have. Compared as binary; quotes, backticks, inner blanks and emoji are all right.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JobName(String);

impl JobName {
    /// The longest name, in characters.
    pub const MAX: usize = 129;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as it is typed into a shell, as an argument of `jobctl`.
    pub fn word(&self) -> String {
        word(&self.0)
    }
}

/// Any text as it is typed into a shell, as an argument of `jobctl`: quoted where it must be, and never taken for an option.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.:,@%+=/-".contains(c);
    let word = match text.chars().all(plain) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    };
    if text.starts_with('-') { format!("-- {word}") } else { word }
}

impl FromStr for JobName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("the name of a job is not empty".into())
        } else if text.chars().any(char::is_control) {
            Err("the name of a job has no control characters".into())
        } else if text.trim() != text {
            Err("the name of a job neither begins nor ends with a blank".into())
        } else if text.chars().count() > JobName::MAX {
            Err(format!("the name of a job has at most {} characters", JobName::MAX))
        } else {
            Ok(JobName(text.to_owned()))
        }
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_names() {
        for text in ["a", "it's `so` \"odd\" $1.00", "🚀 nightly", &"ä".repeat(129)] {
            assert!(text.parse::<JobName>().is_ok(), "{text}");
        }
    }

    #[test]
    fn a_hint_can_be_typed_as_it_is() {
        for (name, typed) in [("nightly", "nightly"), ("it's $1", r"'it'\''s $1'"), ("-x", "-- -x"), ("é", "'é'")] {
            assert_eq!(word(name), typed);
        }
    }

    #[test]
    fn names_that_cannot_be_typed_or_seen_are_refused() {
        for text in ["", " a", "a ", "a\nb", "a\u{7f}", "\u{a0}a", &"a".repeat(130)] {
            assert!(text.parse::<JobName>().is_err(), "{text:?}");
        }
    }
}
