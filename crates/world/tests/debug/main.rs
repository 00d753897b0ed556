//! What debug information says about programs that stand still inside a world, compared with what they say themselves.

mod damaged;
#[path = "../inside/mod.rs"]
mod inside;
mod lines;
mod modules;
mod reached;
mod standing;
mod variables;
