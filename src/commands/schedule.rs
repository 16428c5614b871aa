//! Times as `define` and `alter` take them.

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
        parse_time(text, self.zone).map(sql_time).map_err(Error::usage)
    }
}
