//! The engine: transition systems, search, reduction, visited stores, cycles.
//!
//! Knows no operating system, processor or language.

pub mod bits;
pub mod system;

pub use bits::Bits;
pub use system::{Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
