//! Summaries of C library functions: a synchronising function is one step with its specified meaning, and operations
//! inside the library are local.
//!
//! Locks stay in the guest's memory, in the library's own format, so that code that was not recognised finds them as it
//! expects. What has no place there, such as the sleepers of a condition variable, is kept in the overlay.

mod act;
pub mod allocation;
pub mod callbacks;
pub mod calls;
mod functions;
mod heap;
mod hooks;
mod layout;
mod operation;
mod sleep;
mod table;
mod time;

pub use functions::{ClockOf, Does, Function, Limit, Synchronising, Whole};
pub use heap::{Allocation, Buried, Heap, Problem};
pub use hooks::{Hook, Hooks};
pub use layout::Flavour;
pub use operation::{Done, Operation, Seen, living, thread};
pub use table::{FUNCTIONS, Manner, Narration, Row};

/// The return address of functions that are executed as a whole. Nothing is mapped there, so that the return traps.
pub const RETURN: u64 = 0x7fff_ffff_e000;
