//! The machine that runs programs: processors, memory and kernel together, from executable files to steps.
//!
//! A [`World`] is a value that holds all processes with their threads, memory, files and sockets. [`run::run`] executes it
//! once, in a fixed order; nothing in it depends on the host but the files under declared roots ([`host`]).

pub mod doctor;
pub mod fingerprint;
pub mod host;
pub mod load;
pub mod refusal;
pub mod run;
pub mod signal_frame;
pub mod step;
pub mod strace;
pub mod tracer;
pub mod trap;
pub mod trial;
pub mod world;

pub use refusal::{Cause, Frame, Refusal};
pub use world::{Command, Pace, StartError, User, World};
