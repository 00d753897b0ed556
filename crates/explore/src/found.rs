//! What the engines for programs report alike: failures, why they stopped, and choices by kind.

use crate::system::Failure;
use trace::Choice;

/// A failure, and a schedule that leads to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The failure.
    pub failure: Failure,
    /// Choices from the initial state; the last one fails, or leads to the state that is stuck.
    pub schedule: Vec<Choice>,
    /// The failure is inevitable after so many of them; nothing where that is not known.
    pub inevitable_from: Option<usize>,
    /// Fingerprint of the last state.
    pub fingerprint: u128,
    /// Fingerprints of the states after each step, as far as the engine stores them: to show where a replay diverges.
    pub states: Vec<u128>,
}

impl Found {
    /// Whether this is the same failure, by kind and message.
    pub(crate) fn is(&self, failure: &Failure) -> bool {
        (self.failure.kind, &self.failure.message) == (failure.kind, &failure.message)
    }
}

/// Why a search ended before it was complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The bound on states.
    States,
    /// The bound on failures.
    Failures,
    /// The bound on memory.
    Memory,
    /// More actors than a set can hold.
    Actors,
    /// A schedule is longer than the bound.
    Depth,
    /// The caller asked for it.
    Asked,
}

/// Kinds of choices that a system may have; kind 0 is scheduling.
pub const CHOICE_KINDS: usize = 8;

/// Choices of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChoiceCount {
    /// States with such a choice.
    pub states: u64,
    /// Steps that take one.
    pub taken: u64,
}

/// Choices by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChoiceCounts([ChoiceCount; CHOICE_KINDS]);

impl ChoiceCounts {
    /// Choices of one kind.
    #[must_use]
    pub fn of(&self, kind: u8) -> ChoiceCount {
        self.0[usize::from(kind)]
    }

    /// Counts a state whose enabled actors have choices of these kinds.
    pub(crate) fn count_state(&mut self, kinds: impl Iterator<Item = u8>) {
        let mut present = [false; CHOICE_KINDS];
        kinds.for_each(|kind| present[usize::from(kind)] = true);
        let counts = self.0.iter_mut().zip(present).skip(1);
        counts.for_each(|(count, present)| count.states += u64::from(present));
    }

    /// Counts a step that takes a choice of this kind.
    pub(crate) fn count_step(&mut self, kind: u8) {
        self.0[usize::from(kind)].taken += u64::from(kind > 0);
    }
}
