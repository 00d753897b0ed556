//! One instance of a program on the host, driven over its connections.
//!
//! A *supervisor* (`supervisor/`) is a small process between us and the program. It is the first process of namespaces of their own, where
//! the system allows that; it starts the program, answers its questions for the time and for random bytes, opens sockets on its
//! network for us, and ends with us: what it started ends with it. [`Instance`] is our side.
//!
//! When the program has answered is observed (`rest.rs`): all of its threads are blocked, everything that we sent has arrived,
//! and everything that it sent has been received. Time decides nothing but when to give up: sleeps of the program end when we say
//! so (`passing.rs`).
//!
//! All of this is x86-64 Linux. It is in `linux/`; for other systems `absent.rs` has the same names, and says that there are no native peers.
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

mod address;
mod datagram;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "linux/mod.rs"]
mod host;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "absent.rs"]
mod host;
mod last_words;
mod problem;
mod spec;
mod stream;
mod transfer;

pub use address::Address;
pub use datagram::Datagram;
pub use host::{Instance, Link, probes, run, supervise_if_asked};
pub use last_words::LastWords;
pub use problem::{Problem, Status};
pub use spec::{Clock, Network, Role, Spec, find_program, in_words};
pub use stream::{End, Stream};
pub use transfer::{Received, Wanted, break_off};

/// Something that native peers need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// What.
    pub name: &'static str,
    /// What follows from its absence; nothing if it is there.
    pub missing: Option<String>,
}
