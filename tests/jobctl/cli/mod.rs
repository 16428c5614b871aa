//! The command line, from outside: the real binary against real servers.

pub mod tool;

mod bells;
mod boundary_values;
mod connecting;
mod defining;
mod demonstrating;
mod doctoring;
mod draining;
mod dropping;
mod ending;
mod errors;
mod globals;
mod installing;
mod killing;
mod leaking;
mod leaving;
mod losing;
mod missing_dependencies;
mod outages;
mod renewing;
mod repairing;
mod screens;
mod scripting;
mod service;
mod showing;
mod starting;
mod takeover;
mod takeover_times;
mod terminal;
mod transcript;
mod uninstalling;
mod watching;
mod wrong_input;
