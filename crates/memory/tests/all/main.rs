//! Memory against a naive one, and against Linux.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod basics;
mod effect;
mod limit;
mod linux;
mod naive;
mod random;
mod unchanged;
mod watch;
