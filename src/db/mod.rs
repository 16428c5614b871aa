//! Connections, calls of routines, rows. Knows nothing of commands.

mod call;
mod connect;
mod hosts;
mod jobs;
pub mod quote;
mod record;
mod rows;

pub use call::{READ_ONLY, call, first, now, rows, takes_writes, writable};
pub use connect::{PINNED, Session, connect};
pub use jobs::jobs;
pub use record::{Record, record};
pub use rows::Rows;
