//! Formulas and automata, against the definition of truth and against SPIN.

mod claim;
mod language;
mod parse;
mod sizes;
mod spin;
