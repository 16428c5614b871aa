//! The command line, from outside: the real binary against real servers.

pub mod tool;

mod bells;
mod boundary_values;
mod connecting;
mod copies;
mod defining;
mod demonstrating;
mod doctoring;
mod draining;
mod dropping;
mod ending;
mod errors;
mod failover;
mod ghosts;
mod globals;
mod installing;
mod killing;
mod leaking;
mod locked_out;
mod losing;
mod missing_dependencies;
mod noticing;
mod repairing;
mod screens;
mod scripting;
mod showing;
mod signalling;
mod starting;
mod takeover;
mod takeover_times;
mod terminal;
mod transcript;
mod uninstalling;
mod upgrading;
mod watching;
mod wrong_input;
