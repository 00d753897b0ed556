//! What a search found out, and how much of the state space that is about.

use crate::system::Failure;
use trace::Schedule;

/// What a search found out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Why the search does not cover every state; empty if it does.
    pub incomplete: Vec<Incomplete>,
    /// One for each distinct failure in each part, shortest first.
    pub violations: Vec<Violation>,
    /// Counts.
    pub stats: Stats,
}

impl Outcome {
    /// Whether every state was visited (as far as the store can tell states apart, see
    /// [`Stats::collision_probability`]).
    #[must_use]
    pub fn complete(&self) -> bool {
        self.incomplete.is_empty()
    }
}

/// Why a search does not cover every state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Incomplete {
    /// The memory bound, or the machine's memory.
    Memory,
    /// The time bound.
    Time,
    /// Some states at the depth bound have steps that were not taken. Everything within the bound was seen.
    DepthBound,
    /// A depth-first search turned back at the depth bound. States within the bound may be missing, too: those behind a
    /// state that was first reached by a long way.
    TurnedBack,
    /// The bound on states.
    StateBound,
    /// Somebody asked it to end.
    Interrupted,
    /// It was a sample by nature: random walks, bitstate.
    Sampled,
    /// It was to stop at a violation and did.
    StoppedAtViolation,
    /// The store has no numbers left for further states.
    StoreFull,
}

/// A property that does not hold, with the proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What is wrong at the end of the schedule.
    pub failure: Failure,
    /// In which part of the state space, see [`crate::TransitionSystem::part`].
    pub part: u128,
    /// How to get there from the initial state.
    pub schedule: Schedule,
}

/// Counts of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Distinct states.
    pub states: u64,
    /// Steps computed.
    pub steps: u64,
    /// Steps that led to a state already visited.
    pub matched: u64,
    /// States expanded only in part, thanks to reduction.
    pub reduced: u64,
    /// Longest path followed; breadth first, the largest distance of any state.
    pub depth_max: u32,
    /// Largest number of states waiting to be expanded.
    pub frontier_max: u64,
    /// Memory of the visited store, parent pointers included.
    pub bytes_store: u64,
    /// The same with the largest frontier.
    pub bytes_total: u64,
    /// `bytes_store` over `states`.
    pub bytes_per_state: f64,
    /// For stores of fixed size: how full.
    pub fill: Option<f64>,
    /// Probability that two states were taken for one.
    pub collision_probability: f64,
    /// Threads that took part.
    pub workers: usize,
    /// Wall-clock time.
    pub seconds: f64,
}
