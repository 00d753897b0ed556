//! Formulas of linear temporal logic that every run has to satisfy.

use explore::Monitor;
use explore::system::Failure;
use trace::{FailureKind, Schedule};

/// A formula that every run has to satisfy.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its name, which is its text if it has none.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether steps that change nothing cannot make a difference to it: it has no next-time operator.
    pub is_stutter_invariant: bool,
    /// Propositions that occur only negated, such as `p` in `[] (p -> q)`, each with its bit.
    pub(crate) triggers: Vec<(u32, String)>,
    /// Accepts the runs that violate it.
    pub(crate) monitor: Monitor,
}

impl Formula {
    /// A proposition without which the formula says nothing, and that no state makes true. `seen` has the bits of those that some
    /// state does.
    #[must_use]
    pub fn never_triggered(&self, seen: u64) -> Option<&str> {
        self.triggers.iter().find(|(bit, _)| seen >> bit & 1 == 0).map(|(_, text)| text.as_str())
    }

    /// What goes wrong if a run violates it.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let message = format!("`{}` does not hold on this run", self.text);
        Failure { kind: FailureKind::Ltl, message, fatal: false, property: Some(self.name.clone()) }
    }
}

/// What a search for a run that violates a formula has found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refutation {
    /// A run that violates it.
    Found(Schedule),
    /// There is none.
    Impossible,
    /// The budget was spent before that was known.
    Cut,
}
