//! Faults: what may go wrong in a run although no program does it: a syscall that fails, a program that is killed.
//!
//! - `plan.rs`: which faults may happen, and how many in a run; how users write them.
//! - `placed.rs`: the same for programs that were started.
//! - `call.rs`: faults of syscalls: further alternatives of the thread that makes the call.
//! - `kill.rs`: programs that are killed: one more actor for each.
//!
//! What has happened so far is part of the state ([`crate::system::state::History`]), so the budget is.

mod call;
mod kill;
mod placed;
mod plan;

pub(crate) use call::CallFault;
pub use kill::is_fault;
pub(crate) use placed::PlacedFaults;
pub use plan::{Effect, Fault, FaultPlan};
