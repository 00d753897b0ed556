//! From formulas to automata that are ready for use.

use crate::automaton::Automaton;
use crate::formula::Formula;
use crate::tableau::tableau;
use crate::translate_error::TranslateError;

/// The reduced transition-based generalised Buchi automaton that accepts the words satisfying the formula.
///
/// To check that a system satisfies `f`, translate `f.not()` and search for an accepted word.
pub fn translate(formula: &Formula) -> Result<Automaton, TranslateError> {
    tableau(formula).map(Automaton::reduced)
}

/// The reduced state-based Buchi automaton that accepts the words satisfying the formula, as a never claim has it.
pub fn translate_to_buchi(formula: &Formula) -> Result<Automaton, TranslateError> {
    translate(formula).map(|automaton| automaton.degeneralised())
}
