//! Connections, calls of routines, rows. Knows nothing of commands.

mod call;
mod connect;
mod jobs;
pub mod quote;
mod record;
mod rows;

pub use call::{call, first, now, rows};
pub use connect::{PINNED, Session, connect};
pub use jobs::jobs;
pub use record::{Record, record};
pub use rows::Rows;
