//! One instance of a program on the host, driven over its connections.
//!
//! A *keeper* (`keeper/`) is a small process between us and the program. It is the first process of namespaces of their own, where
//! the system allows that; it starts the program, answers its questions for the time and for random bytes, opens sockets on its
//! network for us, and ends with us: what it started ends with it. [`Instance`] is our side.
//!
//! When the program has answered is observed (`rest.rs`): all of its threads are blocked, everything that we sent has arrived,
//! and everything that it sent has been received. Time decides nothing but when to give up: sleeps of the program end when we say
//! so (`passing.rs`).
//!
//! **Invariant:** nothing that was started here outlives this process, however it ends.
#![allow(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "its point is processes of the host, and how long they take"
)]

mod connection;
mod diag;
mod instance;
mod keeper;
mod output;
mod passing;
mod probe;
mod problem;
mod rest;
mod spec;
mod sys;
mod threads;
mod wire;

pub use connection::{End, Stream};
pub use instance::Instance;
pub use keeper::keep_if_asked;
pub use probe::{Probe, probes};
pub use problem::{Problem, Status};
pub use spec::{Clock, Network, Spec};
