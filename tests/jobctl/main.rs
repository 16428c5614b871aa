//! All tests that need a server: one binary, every test on every server at once. `tests/servers` brings them.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test may")]

mod db;
mod each;
mod install;
mod runner;
mod servers;
mod session;

mod founding;
mod messages;
