//! All tests that need a server: one binary, every test on every server at once. `tests/servers` brings them.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test may")]

mod attack;
mod db;
mod each;
mod install;
mod ledger;
mod runner;
mod servers;
mod session;

mod callers;
mod contention;
mod cycles;
mod exclusion;
mod failures;
mod founding;
mod grid;
mod identity;
mod killed;
mod leaks;
mod messages;
mod names;
mod objects;
mod replica;
mod tickets;
