//! Clients that die while they call `job$run`: their connection is cut, or their process killed.
//!
//! - `cutter`: a proxy that can count packets, and cut.
//! - `every_packet`: the cut after each packet of a few cycles.
//! - `dying`: how long the call outlives its client, whatever the body does with its own errors.

mod cutter;
mod dying;
mod every_packet;
