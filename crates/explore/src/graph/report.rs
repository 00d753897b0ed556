//! The result of a search.

use super::explored::ExploredGraph;
use crate::found::{ChoiceCounts, Found, Stopped};
use crate::race::Race;
use trace::Choice;

/// A fair cycle without progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Livelock {
    /// Choices from the initial state to the cycle.
    pub stem: Vec<Choice>,
    /// Choices around the cycle.
    pub cycle: Vec<Choice>,
    /// The actors that move in it.
    pub actors: Vec<u32>,
}

/// How states and steps were explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// States that are fully expanded.
    pub full: u64,
    /// States that are partly expanded.
    pub partial: u64,
    /// Enabled actors that were not explored, summed over states.
    pub pruned: u64,
    /// States with steps to explore when the search ended.
    pub left: u64,
    /// Trials that no edge uses.
    pub tried: u64,
    /// Steps executed again to restore a state without snapshot.
    pub again: u64,
    /// States with more than one enabled actor.
    pub scheduling: u64,
    /// Choices of other kinds.
    pub choices: ChoiceCounts,
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Failures, each once.
    pub found: Vec<Found>,
    /// Races.
    pub races: Vec<Race>,
    /// For the first of them: a schedule to a state in which both accesses are pending.
    pub race_schedules: Vec<Vec<Choice>>,
    /// States.
    pub states: u64,
    /// Edges between them.
    pub steps: u64,
    /// Steps executed, trials and restored states included.
    pub executed: u64,
    /// The greatest depth of a state.
    pub depth_max: u32,
    /// Whether the conditions hold in all states.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<Stopped>,
    /// Fingerprints of states without enabled actors, sorted; without states after a fatal failure.
    pub ends: Vec<u128>,
    /// How states and steps were explored.
    pub counts: Counts,
    /// Livelocks. That there is no other follows only from a complete search without reduction.
    pub livelocks: Vec<Livelock>,
    /// The graph of a complete search, if it was asked for.
    pub graph: Option<ExploredGraph>,
}
