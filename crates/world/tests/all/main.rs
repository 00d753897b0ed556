//! The machine against the host: programs, calls of the kernel.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod contained;
mod debian;
mod determinism;
mod inside;
mod kernel;
