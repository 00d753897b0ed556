//! States to expand, and what a worker reports about them.

use super::origin::Origin;
use crate::system::Failure;
use trace::Choice;

/// States to expand: their numbers, how they were reached, and the states themselves if the store cannot restore them.
pub struct Frontier<S> {
    /// Their numbers.
    pub ids: Vec<u32>,
    /// The last choice of each path, if the order of the search needs it.
    pub choices: Vec<Choice>,
    /// The states, unless the store restores them.
    pub states: Vec<S>,
    /// In a level that workers share: from where each was reached.
    pub origins: Vec<Origin>,
}

impl<S> Default for Frontier<S> {
    fn default() -> Self {
        Self { ids: Vec::new(), choices: Vec::new(), states: Vec::new(), origins: Vec::new() }
    }
}

impl<S> Frontier<S> {
    /// Moves everything from `other` to the end.
    pub fn append(&mut self, other: &mut Self) {
        self.ids.append(&mut other.ids);
        self.choices.append(&mut other.choices);
        self.states.append(&mut other.states);
        self.origins.append(&mut other.origins);
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.ids.len()
    }
}

/// A failure: of a step, or of a stuck state.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The failure.
    pub failure: Failure,
    /// In which part of the state space.
    pub part: u128,
    /// The state.
    pub id: u32,
    /// The choice taken there; `None` if the state is stuck.
    pub choice: Option<Choice>,
    /// Its place in the level.
    pub index: usize,
}

/// Counts of one worker.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// New states.
    pub states: u64,
    /// Steps.
    pub steps: u64,
    /// Steps to visited states.
    pub matched: u64,
    /// States expanded in part.
    pub reduced: u64,
}

impl Counts {
    /// Those of all workers together.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, more| Self {
            states: sum.states + more.states,
            steps: sum.steps + more.steps,
            matched: sum.matched + more.matched,
            reduced: sum.reduced + more.reduced,
        })
    }
}
