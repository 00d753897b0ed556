//! Tests of lowering as a whole.

mod errors;
mod graph;
mod layout;
mod spin;
