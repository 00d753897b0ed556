//! What debug information says about programs that stand still inside a world, compared with what they say themselves.

#[path = "../inside/mod.rs"]
mod inside;
mod modules;
mod standing;
