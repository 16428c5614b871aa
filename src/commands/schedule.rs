//! Times, and other words, as `define` and `alter` take them.

use clap::ValueEnum;
use jiff::tz::TimeZone;

use crate::error::Error;
use crate::model::{parse_time, sql_time};
use crate::settings::Settings;

/// The zone named, else the person's.
pub fn zone(name: Option<&str>, settings: &Settings) -> Result<TimeZone, Error> {
    let Some(name) = name else { return Ok(settings.zone.clone()) };
    TimeZone::get(name).map_err(|cause| {
        Error::usage(format!("`{name}` is no time zone that this machine knows"))
            .because(cause)
            .hint("a zone looks like `Europe/Berlin`")
    })
}

/// Reads times that have no offset in one zone.
pub struct Instants<'a> {
    /// That zone.
    pub zone: &'a TimeZone,
}

impl Instants<'_> {
    /// Reads a time and writes it for the database, in UTC.
    pub fn read(&self, text: &str) -> Result<String, Error> {
        let wrong = |message: String| match message.split_once(": write ") {
            Some((message, forms)) => Error::usage(message).hint(format!("write {forms}")),
            None => Error::usage(message),
        };
        let time = sql_time(parse_time(text, self.zone).map_err(wrong)?);
        match time.get(..4).and_then(|year| year.parse::<u16>().ok()) {
            Some(1970..=8999) => Ok(time),
            _ => Err(Error::usage(format!("`{text}` is too early or too late")).hint("times are from 1970 to 8999")),
        }
    }
}

/// Says how a definition that the server finds wrong is put right.
pub fn wrong(error: Error) -> Error {
    let about = |words: &[&str]| words.iter().any(|word| error.message.contains(word));
    let hint = if about(&["finish is "]) {
        "`--start` and `--finish` make a window that is not over yet"
    } else if about(&["max_failures", "description has"]) {
        "`jobctl define --help` tells what may be given"
    } else {
        "`--call` takes a procedure without arguments that you may execute: `GRANT EXECUTE ON PROCEDURE ...`"
    };
    error.hint(hint)
}

/// What becomes of an occurrence whose run was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OnLost {
    /// It is not run again.
    Skip,
    /// It is run again, at once.
    Retry,
}

impl OnLost {
    /// As the options of the SQL routines have it.
    pub fn word(self) -> &'static str {
        match self {
            OnLost::Skip => "skip",
            OnLost::Retry => "retry",
        }
    }
}
