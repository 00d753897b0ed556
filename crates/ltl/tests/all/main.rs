//! Formulas and automata, against the definition of truth and against SPIN.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod claim;
mod language;
mod parse;
mod sizes;
mod spin;
