//! What a search is told.

/// Which steps are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Enough to find every deadlock and every failed step.
    Reduced,
    /// All.
    Full,
    /// All that keep within a bound, without any reduction: the two do not go together.
    Bounded(Bound),
    /// Parts of the reduction only; some of it is unsound. For tests of the tests.
    #[doc(hidden)]
    Partly(Parts),
}

/// What a schedule may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Times that an actor is interrupted although it could go on.
    Preemptions(u32),
    /// Times that the next in turn is passed over. Whoever moves goes on until it waits; then it is the next one's turn.
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
    /// The filter of locks.
    pub locks: Filter,
    /// A state with a fatal step is expanded fully.
    pub fatal: bool,
}

/// What is known about locks.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// Nothing.
    Off,
    /// Whoever holds a lock keeps others from what they do under it.
    Held,
    /// As if whoever is about to take a lock had it. Wrong.
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
    /// Which steps are taken.
    pub mode: Mode,
    /// States that are kept whole; others are reached again from one of them.
    pub kept: usize,
    /// Steps that were tried and are kept, in case that they are taken.
    pub tried: usize,
    /// Memory of the graph, in bytes, kept states not counted.
    pub bytes: u64,
}

impl Options {
    /// The usual ones.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, kept: 5_000, tried: 500, bytes: u64::MAX }
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

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Enough states.
    States,
    /// Enough failures.
    Failures,
    /// Enough memory.
    Memory,
    /// More actors than can be told apart.
    Actors,
    /// A schedule is longer than the bound.
    Depth,
    /// Somebody asked.
    Asked,
}
