//! The language: front end, meaning, faults.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod agreement;
mod choices;
mod faults;
mod front_corpus;
mod front_errors;
mod front_fuzz;
mod front_gcc;
mod front_snippets;
mod front_trees;
mod notation;
mod sound;
#[cfg(feature = "native")]
mod spin;
