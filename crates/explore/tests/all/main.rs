//! The engines against each other, on small systems.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod differential;
mod engines;
mod graph;
mod journal;
mod runs;
mod sample;
mod search;
mod stateless;
mod toy;
