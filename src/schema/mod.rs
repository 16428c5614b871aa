//! What lives in the database: installed, checked, printed and dropped from one list.
//!
//! Tables change by numbered, immutable migrations; routines and the view are reinstalled whole. An installation is a
//! [`plan::Plan`], a list of statements, which `jobctl install` executes and `jobctl install --dry-run` prints.

mod capabilities;
mod digest;
pub mod grants;
pub mod install;
mod lock;
mod migrate;
mod objects;
mod plan;
mod present;
mod runners;
mod script;
pub mod uninstall;
