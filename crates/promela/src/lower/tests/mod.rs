//! Tests of lowering as a whole.

mod spin;

use crate::parse::{ParseOptions, Parsed, parse_text};

/// Parses a model that is known to be right.
fn parsed(text: &str) -> Parsed {
    parse_text("m.pml", text, &ParseOptions::default()).unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics))
}
