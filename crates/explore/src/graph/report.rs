//! What a search has seen.

use super::Race;
use super::options::Stopped;
use crate::system::Failure;
use trace::Choice;

/// Something wrong, and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What.
    pub failure: Failure,
    /// Choices from the start; the last one fails, or leads to the state in which nobody can move.
    pub schedule: Vec<Choice>,
    /// After so many of them nothing could save it any more; nothing where that is not known.
    pub inevitable_from: Option<usize>,
    /// Where the schedule leads.
    pub fingerprint: u128,
    /// Where each of its steps leads, as far as the engine remembers: to tell where a replay differs.
    pub states: Vec<u128>,
}

/// A cycle in which somebody moves for ever and nobody gets on, although everybody who always could move does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Livelock {
    /// Choices from the start to the cycle.
    pub stem: Vec<Choice>,
    /// Choices around the cycle.
    pub cycle: Vec<Choice>,
    /// Who moves in it.
    pub actors: Vec<u32>,
}

/// What became of states and steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// States in which everybody's steps were taken.
    pub full: u64,
    /// States in which some were left out.
    pub partial: u64,
    /// Actors' steps that were left out.
    pub pruned: u64,
    /// States with steps that were to be taken when the search ended.
    pub left: u64,
    /// Steps executed to see what they touch, and not used.
    pub tried: u64,
    /// Steps executed again to come back to a state.
    pub again: u64,
    /// States in which there was more than one choice of who moves.
    pub scheduling: u64,
    /// Choices of other sorts, by the numbers that the system gives them.
    pub sorts: Sorts,
}

/// Sorts of choices that can be told apart; the first stands for none.
pub const SORTS: usize = 8;

/// How often choices of one sort were met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Met {
    /// States in which there was one.
    pub states: u64,
    /// Ways that were taken there.
    pub taken: u64,
}

/// How often choices of each sort were met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sorts([Met; SORTS]);

impl Sorts {
    /// Choices of one sort.
    #[must_use]
    pub fn of(&self, sort: u8) -> Met {
        self.0[usize::from(sort)]
    }

    /// A state in which actors have choices of these sorts.
    pub fn meet(&mut self, sorts: impl Iterator<Item = u8>) {
        let mut met = [false; SORTS];
        sorts.for_each(|sort| met[usize::from(sort)] = true);
        let own = self.0.iter_mut().zip(met).skip(1);
        own.for_each(|(own, met)| own.states += u64::from(met));
    }

    /// A way that is taken, of so many choices of a sort.
    pub fn take(&mut self, sort: u8) {
        self.0[usize::from(sort)].taken += u64::from(sort > 0);
    }
}

/// What a search has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Everything wrong, each once.
    pub found: Vec<Found>,
    /// Races that were met.
    pub races: Vec<Race>,
    /// For the first of them: choices from the start to a state in which both accesses come next.
    pub race_ways: Vec<Vec<Choice>>,
    /// States.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Steps executed, to look ahead and to come back included.
    pub executed: u64,
    /// The longest way to a state.
    pub depth_max: u32,
    /// Whether everything was seen that had to be.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<Stopped>,
    /// Fingerprints of states in which nobody can move, sorted. States after a fatal failure are not among them.
    pub ends: Vec<u128>,
    /// What became of states and steps.
    pub counts: Counts,
    /// Cycles without progress. Each is one; that there is no other is known only of a complete search without reduction.
    pub livelocks: Vec<Livelock>,
}
