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
//! All of this is x86-64 Linux. On other systems `elsewhere.rs` has the same names, and says that there are no native peers.
//!
//! **Invariant:** nothing that was started here outlives this process, however it ends.
#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(dead_code, reason = "there are no native peers elsewhere")
)]
#![allow(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "its point is processes of the host, and how long they take"
)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod command;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod connection;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod diag;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod instance;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod keeper;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod link;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod output;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod passing;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod probe;
mod problem;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod rest;
mod spec;
mod stream;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sys;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod threads;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod wire;

pub use problem::{Problem, Status};
pub use spec::{Clock, Network, Role, Spec, find_program};
pub use stream::{End, Stream};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use command::run;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::{Instance, Link, Probe, Received, Wanted, keep_if_asked, probes, run};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use instance::Instance;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use keeper::keep_if_asked;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use link::{Link, Received, Wanted};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use probe::{Probe, probes};
