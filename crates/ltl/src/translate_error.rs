//! Why a formula is not translated: bounds on its automaton.

use std::fmt;

/// Most propositions in one formula: the bits of a guard's masks.
pub const PROPOSITIONS_MAX: usize = 64;

/// Why a formula was not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// The formula speaks about more propositions than a guard can hold.
    TooManyPropositions {
        /// How many different atoms are left after simplification.
        count: usize,
    },
    /// The formula is nested too deeply.
    TooDeep {
        /// The deepest nesting that is translated.
        depth_max: usize,
    },
    /// The automaton would grow beyond a bound.
    TooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// The bound.
        bound: usize,
    },
}

impl fmt::Display for TranslateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslateError::TooManyPropositions { count } => {
                write!(out, "the formula has {count} atoms; at most {PROPOSITIONS_MAX} can be handled")
            }
            TranslateError::TooDeep { depth_max } => write!(out, "the formula is nested more than {depth_max} deep"),
            TranslateError::TooLarge { what, bound } => {
                write!(out, "the formula's automaton needs more than {bound} {what}; split the property")
            }
        }
    }
}

impl std::error::Error for TranslateError {}
