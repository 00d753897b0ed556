//! Worlds as something to be searched: every schedule of real programs.

pub mod programs;
pub mod touch;

pub use programs::{Programs, Snapshot};
