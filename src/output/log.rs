//! The log on stderr: one line per event, for a person or as JSON.

use std::io;

use tracing::Level;
use tracing_subscriber::fmt;

use crate::cli::LogFormat;
use crate::settings::Screen;

/// Starts logging; a second start in one process changes nothing.
pub fn start(format: LogFormat, screen: Screen) {
    let log = fmt().with_writer(io::stderr).with_max_level(Level::INFO).with_target(false);
    let _ = match format {
        LogFormat::Human => log.with_ansi(screen.error_terminal && screen.color).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
}
