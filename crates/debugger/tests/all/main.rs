//! Time travel without gdb: positions, searches, and clients that mean no good.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod client;
mod start;
mod time;
