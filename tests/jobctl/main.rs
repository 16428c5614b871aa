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

mod altering;
mod budget;
mod callers;
mod chaos;
mod cli;
mod contention;
mod cutting;
mod cycles;
mod exclusion;
mod facts_bells;
mod facts_identity;
mod facts_kills;
mod facts_locks;
mod facts_procedures;
mod facts_sessions;
mod facts_sleep;
mod failures;
mod founding;
mod grid;
mod identity;
mod injection;
mod killed;
mod leaks;
mod messages;
mod names;
mod objects;
mod races;
mod readme;
mod replica;
mod restart;
mod ringing;
mod run_token;
mod secrets;
mod states;
mod tickets;
mod upgrade;
