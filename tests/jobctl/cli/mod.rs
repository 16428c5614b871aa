//! The command line, from outside: the real binary against real servers.

pub mod tool;

mod boundary_values;
mod connecting;
mod defining;
mod draining;
mod dropping;
mod ending;
mod globals;
mod installing;
mod leaking;
mod missing_dependencies;
mod repairing;
mod screens;
mod scripting;
mod showing;
mod starting;
mod takeover;
mod transcript;
mod uninstalling;
mod wrong_input;
