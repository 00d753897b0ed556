//! The kernel by its calls, without processors.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod disk;
mod events;
mod futexes;
mod guest;
mod ipc;
mod locks;
mod overlay;
mod partitions;
mod pass_through;
mod processes;
mod signals;
mod sockets;
mod spaces;
mod table;
mod timers;
