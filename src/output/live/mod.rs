//! The live screen: a table that is redrawn in place, keys, and a terminal that is left as it was.
//!
//! - `terminal`: takes the terminal over and gives it back, whatever happens.
//! - `input`: what a person types, and what the system says of the terminal.
//! - `view`: what is drawn where.
//! - `columns`: how a table is fitted into a width, a line a row.

mod columns;
mod input;
mod terminal;
mod view;

pub use input::Input;
pub use terminal::Live;
pub use view::{Place, View};
