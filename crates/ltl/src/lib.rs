//! Linear temporal logic: formulas, parser, Buchi automata.
//!
//! Text goes through [`parse`] to a [`Formula`], whose negation goes through [`translate`] (or [`translate_to_buchi`]) to an
//! [`Automaton`] that accepts exactly the violating runs. Atoms are indices; the caller gives them their meaning.
//!
//! ```
//! let parsed = ltl::parse("[](request -> <>granted)").unwrap();
//! let violations = ltl::translate_to_buchi(&parsed.formula.not()).unwrap();
//! assert_eq!(violations.states.len(), 2);
//! assert_eq!(violations.kind(), ltl::Kind::Weak);
//! ```
//!
//! The way of a formula: `lexer`, `atom`, `parser` (text to tree); `normal` and `rewrite` (negation
//! normal form, simplified); `tableau` (formula to a generalised automaton); `reduce` and
//! `simulation` (smaller); `degeneralise` and `print` (for other tools). `translate.rs` puts them
//! together.
//!
//! Why an own translator: Spot, the best one, is C++ under the GPL, and SPIN's knows neither
//! several acceptance sets nor marks on edges.

mod atom;
mod automaton;
mod classify;
mod degeneralise;
mod formula;
mod guard;
mod language;
mod lasso;
mod lexer;
mod normal;
mod parse_error;
mod parser;
mod polarity;
mod print;
pub mod random;
mod reduce;
mod rewrite;
mod scc;
mod simulation;
mod tableau;
mod translate;
mod translate_error;

pub use automaton::{Automaton, Edge, State};
pub use classify::Kind;
pub use formula::{DEPTH_MAX, Formula};
pub use guard::Guard;
pub use lasso::{Lasso, holds};
pub use parse_error::ParseError;
pub use parser::{AtomText, Parsed, Warning, parse};
pub use print::{to_hoa, to_never_claim};
pub use translate::{translate, translate_to_buchi};
pub use translate_error::{PROPOSITIONS_MAX, TranslateError};
