//! The command line, from outside: the real binary against real servers.

pub mod tool;

mod connecting;
mod defining;
mod dropping;
mod installing;
mod repairing;
mod scripting;
mod showing;
mod starting;
mod takeover;
mod transcript;
mod uninstalling;
