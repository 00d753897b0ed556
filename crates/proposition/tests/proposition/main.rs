//! Propositions: what they mean, what is said about wrong ones, and that no text makes them panic.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod in_a_world;
#[path = "../../../world/tests/all/inside.rs"]
mod inside;
mod meaning;
mod told;
mod wrong;
