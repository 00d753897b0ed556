//! Options of a search: order, store, workers, bounds, and how to watch it.

use crate::journal::Journal;
use crate::store::StoreKind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trace::FailureKind;

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which states to expand first.
    pub order: Order,
    /// How visited states are kept.
    pub store: StoreKind,
    /// Threads; only a breadth-first search and samples use more than one.
    pub workers: usize,
    /// Partial-order reduction.
    pub reduction: Reduction,
    /// Whether [`Reduction::Safety`] also merges local steps.
    pub merging: bool,
    /// Where to end early.
    pub bounds: Bounds,
    /// What to do once a property is violated.
    pub after_violation: AfterViolation,
    /// Failures of these kinds are not reported.
    pub ignored: Vec<FailureKind>,
    /// Whether a long breadth-first search also probes the depth, by depth-first search and random walks.
    pub probes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            order: Order::Breadth,
            store: StoreKind::Tree,
            workers: 1,
            reduction: Reduction::Off,
            merging: true,
            bounds: Bounds::default(),
            after_violation: AfterViolation::Stop,
            ignored: Vec::new(),
            probes: false,
        }
    }
}

/// Which states to expand first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Level by level: the counterexample is a shortest one. A bitstate store cannot do this, it goes depth first.
    Breadth,
    /// Deepest first, on one worker; choices in random order if a seed is given.
    Depth {
        /// Shuffles the choices of each state.
        seed: Option<u64>,
    },
}

/// Partial-order reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Every interleaving.
    Off,
    /// Persistent sets that keep stuck states and failures of steps.
    Safety,
    /// Persistent sets that keep properties without next-time over the propositions of this observer.
    Observed(usize),
    /// Deliberately unsound, for mutation tests.
    #[doc(hidden)]
    Broken(crate::reduce::LeftOut),
}

/// Where to end early. Each end is reported as incomplete.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Steps from the initial state.
    pub depth: Option<u32>,
    /// Length of a search path at which a search for cycles backtracks. Not a bound on the states that it covers, as `depth`
    /// is: a depth-first search follows a counter to its end before anything else, and this lets it try nearby states first.
    pub path: Option<u32>,
    /// Distinct states.
    pub states: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Memory of store and frontier, in bytes.
    pub bytes: Option<u64>,
}

/// What to do once a property is violated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterViolation {
    /// End. A breadth-first search finishes its level first, so that the counterexample is a shortest one whatever the
    /// number of workers.
    Stop,
    /// Go on and record the first counterexample of each distinct failure in each part.
    Continue {
        /// End after this many more states.
        states: Option<u64>,
    },
    /// As [`AfterViolation::Continue`] without end; and the search for cycles goes on, too, until it has searched for one
    /// in each part of the state space (see [`crate::TransitionSystem::part`]).
    EachPart,
}

/// How to watch a search and how to end it.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// The search ends soon after this becomes true.
    pub interrupt: Option<&'a Arc<AtomicBool>>,
    /// Called about five times a second.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
    /// Called by every worker whenever it polls its bounds; the search pauses until it returns.
    pub pause: Option<&'a (dyn Fn() + Sync)>,
    /// Where the search is kept while it goes on, and begins if it was kept before. Obeyed by [`super::search`] alone, of
    /// systems whose keys are vectors.
    pub journal: Option<&'a dyn Journal>,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Distinct states.
    pub states: u64,
    /// Steps computed.
    pub steps: u64,
    /// States waiting to be expanded, as of the last level.
    pub frontier: u64,
    /// Depth reached.
    pub depth: u32,
    /// Distinct states a second since the start.
    pub rate: f64,
    /// Memory of store and frontier.
    pub bytes: u64,
    /// Estimated total of distinct states, if the levels have been shrinking steadily enough.
    pub states_estimate: Option<u64>,
    /// Time since the start.
    pub elapsed: Duration,
}
