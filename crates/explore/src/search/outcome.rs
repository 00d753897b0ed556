//! The outcome of a search: violations, and whether it is complete.

use crate::system::Failure;
use trace::Schedule;

/// The outcome of a search.
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
    /// Whether every state was visited (as far as the store distinguishes states, see
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
    /// Some states at the depth bound have steps that were not taken. All states within the bound are visited.
    DepthBound,
    /// A depth-first search backtracked at the depth bound. States within the bound may be missing, too: successors of a
    /// state that was first reached on a long path.
    TurnedBack,
    /// The bound on states.
    StateBound,
    /// The caller interrupted it.
    Interrupted,
    /// It samples by design: random walks, bitstate.
    Sampled,
    /// It stopped at a violation, as the options say.
    StoppedAtViolation,
    /// The store has no numbers left for further states.
    StoreFull,
    /// What a journal says of an earlier part of the search is not so.
    Journal,
}

impl Incomplete {
    /// Whether a search that ended for this reason could go on with more of something.
    #[must_use]
    pub fn may_go_on(self) -> bool {
        matches!(self, Self::Memory | Self::Time | Self::Interrupted | Self::StoreFull)
    }
}

/// A violated property, with a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The failure at the end of the schedule.
    pub failure: Failure,
    /// In which part of the state space, see [`crate::TransitionSystem::part`].
    pub part: u128,
    /// Choices from the initial state.
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
    /// States expanded only in part, by reduction.
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
    /// Probability that two distinct states were identified.
    pub collision_probability: f64,
    /// Threads.
    pub workers: usize,
    /// Wall-clock time.
    pub seconds: f64,
}
