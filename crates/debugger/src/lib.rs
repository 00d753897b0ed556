//! A debugger's view of a schedule: forwards and backwards through time, over gdb's remote protocol.
//!
//! Three layers, as in rr:
//!
//! - `protocol/`: packets, and what gdb asks for, one row for each kind of packet. Knows bytes.
//! - [`target`]: threads, registers, memory and breakpoints of one process where we are. Knows a process.
//! - [`past`], [`travel`]: where we are, and how to get elsewhere. Knows steps and ticks.
//!
//! **Invariant:** the past cannot be changed. Nothing here writes to a state; every state that is shown was executed.
//! **Invariant:** whatever a client sends, the session goes on or ends; it does not panic.

mod links;
pub mod past;
mod protocol;
pub mod script;
pub mod target;
pub mod travel;

pub use past::{NotExecuted, Past, Position};
pub use protocol::{Connection, serve};
pub use script::Script;
pub use target::Target;
