//! The demo's world: a throw-away server with jobctl and a small shop in it.
//!
//! - `program`: finds a server program on this machine.
//! - `fetch`: brings one from Debian's archive.
//! - `server`: runs it in a temporary folder; `guard.sh` removes all of it again, whatever becomes of us.
//! - `shop`: what happens in it.

mod fetch;
mod program;
mod server;
mod shop;

pub use fetch::fetch;
pub use program::Program;
pub use server::Server;
pub use shop::{how_to_connect, open};
