//! Options and limits of a search.

/// Which steps are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Persistent sets: all deadlocks and failed steps are found.
    Reduced,
    /// All steps.
    Full,
    /// All schedules within a bound, without reduction: combined, they would be unsound.
    Bounded(Bound),
    /// Parts of the reduction; some are unsound without the others. For mutation tests.
    #[doc(hidden)]
    Partly(Parts),
}

/// A bound on schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Switches away from an enabled actor.
    Preemptions(u32),
    /// Deviations from the round-robin scheduler, under which an actor moves until it is blocked.
    Delays(u32),
}

/// Parts of the reduction.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// Condition C1'.
    pub conflicts: bool,
    /// Condition C1' for actors that a step ends.
    pub ends: bool,
    /// Condition C3.
    pub cycles: bool,
    /// The lock filter of C1'.
    pub locks: Filter,
    /// A state with a fatal step is expanded fully.
    pub fatal: bool,
}

/// How C1' uses locks.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// Not at all.
    Off,
    /// An actor that holds a lock moves before other actors' accesses under that lock.
    Held,
    /// Deliberately unsound (mutation test): treats a pending acquire as held.
    Broken,
}

impl Parts {
    /// All of it.
    pub const ALL: Self = Self { conflicts: true, ends: true, cycles: true, locks: Filter::Held, fatal: true };
}

impl Mode {
    /// The parts of the reduction, if there is any.
    pub(super) fn parts(self) -> Option<Parts> {
        match self {
            Self::Reduced => Some(Parts::ALL),
            Self::Partly(parts) => Some(parts),
            Self::Full | Self::Bounded(_) => None,
        }
    }
}

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which steps are explored.
    pub mode: Mode,
    /// Snapshots in the cache; states without one are reached again from an ancestor.
    pub snapshots: usize,
    /// Trials in the cache.
    pub trials: usize,
    /// Memory of the graph in bytes, without snapshots.
    pub bytes: u64,
    /// Whether the report has the graph of a complete search.
    pub keeps_graph: bool,
}

impl Options {
    /// The default for a mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, snapshots: 5_000, trials: 500, bytes: u64::MAX, keeps_graph: false }
    }
}

/// Where to stop.
pub struct Limits<'a> {
    /// States.
    pub states: usize,
    /// Failures of different kinds or messages.
    pub failures: usize,
    /// Asked now and then with states and steps so far; true stops.
    pub stop: &'a mut dyn FnMut(u64, u64) -> bool,
}
