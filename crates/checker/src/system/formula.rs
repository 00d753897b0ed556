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
    /// Accepts the runs that violate it.
    pub(crate) monitor: Monitor,
}

impl Formula {
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
