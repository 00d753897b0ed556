//! What functions of the C library mean to a search: synchronisation is one step with its specified meaning, and what the
//! library does inside is nobody's business.
//!
//! Locks stay in the guest's memory, in the library's own format; so code that was not recognised finds them as it expects.
//! What has no place there, such as who sleeps at a condition variable, is kept here.

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
mod time;

pub use functions::{FUNCTIONS, Function, Whole};
pub use heap::{Allocation, Buried, Heap, Problem};
pub use hooks::{Hook, Hooks};
pub use layout::Flavour;
pub use operation::{Done, Operation, Seen, living, thread};

/// Functions that are carried out as a whole return here, where nothing is mapped.
pub const RETURN: u64 = 0x7fff_ffff_e000;
