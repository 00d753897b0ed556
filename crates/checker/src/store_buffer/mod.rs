//! x86-TSO: stores of a thread that have not reached memory yet.
//!
//! A plain store to a racing word enters the store buffer of its thread. A drain, the step of an actor of its own, takes the
//! oldest store to memory. A load looks into the buffer of its own thread first. Instructions that lock memory, fences and
//! syscalls wait until the buffer is empty (Owens, Sarkar, Sewell: A Better x86 Memory Model: x86-TSO, 2009).
//!
//! **Why racing words are enough.** Accesses to any other word are ordered by operations that wait for the buffer (locks,
//! syscalls) on the side of the store: nobody can tell when it reached memory.
//!
//! **Why buffers are seldom needed.** A program without triangular races has only sequentially consistent executions (Owens:
//! Reasoning about the Implementation of Concurrency Abstractions on x86-TSO, 2010). A search begins without buffers and
//! looks for such races; the first one is a refinement, from which on stores are buffered.
//!
//! - `buffer.rs`: stores enter, and loads look at them.
//! - `drain.rs`: the actors that take them to memory.
//! - `fence.rs`: the operations that wait for them.
//! - `triangular.rs`: races that show that buffers matter.

mod buffer;
mod drain;
mod fence;
mod triangular;

pub(crate) use buffer::BufferOverflow;
pub use buffer::StoreBuffers;
pub(crate) use drain::{drained_thread, is_drain, is_of_one_thread};
pub(crate) use triangular::TriangularRaces;
