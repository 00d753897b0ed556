//! Programs: processors, memory and kernel together, from executable files to steps.
//!
//! A [`World`] is a value that holds all processes with their threads, memory, files and sockets. [`run::run`] executes it
//! once, in a fixed order; nothing in it depends on the host but the files under declared roots ([`host`]).

pub mod check;
pub mod debug;
pub mod doctor;
pub mod fingerprint;
pub mod host;
pub mod load;
pub mod proposition;
pub mod refusal;
pub mod run;
pub mod signal_frame;
mod similar;
pub mod stack;
pub mod step;
pub mod strace;
pub mod tracer;
pub mod trap;
pub mod world;

pub use refusal::{Cause, Refusal};
pub use world::{Command, StartError, World};
