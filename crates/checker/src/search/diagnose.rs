//! The first step at which a replay differs from the search that found the schedule: a bug of the checker.

use crate::system::programs::Programs;
use explore::graph::{FootprintSystem, Found};
use trace::Choice;

/// How a replay differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// The step of this number (from 1) is not enabled.
    NoStep(usize),
    /// The step of this number leads to another state than the search had there.
    OtherState(usize),
    /// All states are the same, and no failure occurs.
    NoFailure,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoStep(number) => write!(f, "step {number} is not possible when the schedule is executed again"),
            Self::OtherState(number) => write!(f, "step {number} leads to another state than in the search"),
            Self::NoFailure => write!(f, "every step is the same, and nothing fails"),
        }
    }
}

impl Programs {
    /// Fingerprints of the states after the steps of a schedule; nothing if it cannot be executed.
    pub fn fingerprints(&mut self, schedule: &[Choice]) -> Option<Vec<u128>> {
        let mut state = self.initial().state;
        let mut all = Vec::new();
        for choice in schedule {
            let taken = self.step(&state, *choice)?;
            all.push(taken.reached.fingerprint);
            state = taken.reached.state;
        }
        Some(all)
    }

    /// The first difference between what was found and its replay.
    pub fn difference(&mut self, found: &Found) -> Difference {
        let mut state = self.initial().state;
        for (index, choice) in found.schedule.iter().enumerate() {
            let Some(taken) = self.step(&state, *choice) else { return Difference::NoStep(index + 1) };
            let is_same = found.states.get(index).is_none_or(|known| *known == taken.reached.fingerprint);
            if !is_same {
                return Difference::OtherState(index + 1);
            }
            state = taken.reached.state;
        }
        Difference::NoFailure
    }
}
