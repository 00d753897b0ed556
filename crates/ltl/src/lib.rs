//! Linear temporal logic: formulas, parser, Buchi automata.

mod atom;
mod formula;
mod lexer;
mod parser;
pub mod random;

pub use formula::{DEPTH_MAX, Formula};
pub use parser::{AtomText, ParseError, Parsed, Warning, parse};
