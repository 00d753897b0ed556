//! Faults: what may go wrong in a run although no program does it: a syscall that fails, a datagram that is lost, a program
//! that is killed.
//!
//! - `plan.rs`: which faults may happen, and how many in a run; how users write them.
//! - `placed.rs`: the same for programs that were started.
//! - `path_pattern.rs`, `descriptor_kind.rs`: on which files, and which kinds of descriptors, a call must be.
//! - `call.rs`: faults of syscalls and of datagrams: further alternatives of the thread that makes the call.
//! - `actors.rs`: the other faults, and what they leave to come: one more actor for each.
//! - `stop.rs`: programs that are killed, restarted or paused.
//! - `signal.rs`: signals that somebody outside sends to a program.
//! - `reset.rs`: connections that are reset.
//! - `time.rs`: timed waits that end early, clocks that are set.
//! - `crash.rs`: power that fails, and what is asked about the disk then.
//!
//! What has happened so far is part of the state ([`crate::system::state::History`]), so the budget is.

mod actors;
mod call;
mod crash;
mod descriptor_kind;
mod path_pattern;
mod placed;
mod plan;
mod reset;
mod signal;
mod stop;
mod time;

pub(crate) use actors::Healing;
pub use actors::is_fault;
pub(crate) use call::CallFault;
pub(crate) use placed::PlacedFaults;
pub use plan::{Effect, Fault, FaultPlan};
