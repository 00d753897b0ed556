//! What debug information says about programs that stand still inside a world, compared with what they say themselves.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod damaged;
mod hostile;
#[path = "../../../world/tests/all/inside.rs"]
mod inside;
mod lines;
mod modules;
mod reached;
mod standing;
mod variables;
