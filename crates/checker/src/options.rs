//! Options of a search of programs: which failures, at which granularity.

use crate::faults::FaultPlan;

/// What counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// No actor is enabled.
    pub deadlock: bool,
    /// No actor is enabled and a thread spins, where spin loops are blocking operations.
    pub livelock: bool,
    /// A fatal signal.
    pub crash: bool,
    /// `abort(3)`, a failed assertion.
    pub assert: bool,
    /// A started program ends with another code than 0.
    pub exit: bool,
    /// A lock is misused.
    pub misuse: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self { deadlock: true, livelock: true, crash: true, assert: true, exit: true, misuse: true }
    }
}

/// How functions of the C library are executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depth {
    /// Recognised functions are summarised: one step with their specified meaning.
    #[default]
    Summary,
    /// Every instruction of the library is executed as it stands.
    Real,
}

/// When the stores of a thread reach memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// At once: sequential consistency.
    #[default]
    Sequential,
    /// In order, but after later loads (x86-TSO).
    Tso {
        /// Stores of one thread that wait at the same time, at most.
        buffered_max: usize,
    },
}

/// Stores of one thread that wait at the same time, unless users say otherwise.
pub const BUFFERED_MAX: usize = 8;

/// Nanoseconds of virtual time after which runs end unless users say otherwise: one hour.
///
/// A server that does something each second makes thousands of steps until then, not an endless chain.
pub const HORIZON: u64 = 3_600_000_000_000;

/// When a timed wait may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timeouts {
    /// At quiescence: when no other actor is enabled.
    #[default]
    Quiet,
    /// At any time, this often in a schedule.
    Any(u32),
}

/// Deliberately unsound (mutation tests): each reopens a hole that was closed, to test that it is noticed.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Holes {
    /// A memoized step is applied without validating the words of its read set.
    pub memo: bool,
    /// A lock counts as held whatever other threads do to its memory.
    pub locks: bool,
    /// Acquisitions are right movers also of locks that threads find held.
    pub tries: bool,
    /// Accesses do not depend on the mapping of their page.
    pub mappings: bool,
    /// Calls that change mappings touch nothing.
    pub zones: bool,
    /// All read-write locks are of the default kind.
    pub rwlocks: bool,
    /// Every instruction is atomic.
    pub tears: bool,
    /// A rollback within a step does not restore the kernel.
    pub rollback: bool,
    /// What handlers of signals access does not race with what they interrupt.
    pub handlers: bool,
    /// What comes behind a jump out of a handler has nothing to do with the handler.
    pub jumps: bool,
    /// What is said to a peer does not depend on what others say to it.
    pub said: bool,
    /// Reading a clock is no operation, whoever sets it.
    pub clocks: bool,
    /// Instructions that lock memory do not wait for the stores before them.
    pub fences: bool,
    /// No search notices that a program is not robust against store buffers.
    pub triangles: bool,
}

/// Options of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What counts as a failure.
    pub checks: Checks,
    /// How functions of the C library are executed.
    pub depth: Depth,
    /// When stores reach memory.
    pub memory: MemoryModel,
    /// When timed waits may end.
    pub timeouts: Timeouts,
    /// Nanoseconds of virtual time after which runs end.
    pub horizon: u64,
    /// Whether a signal may wake any sleeper; otherwise it wakes the first one.
    pub any_sleeper: bool,
    /// Whether a wait at a condition variable may end without a signal (a spurious wake-up).
    pub spurious: bool,
    /// Whether reads of pipes and connections may return less than is available.
    pub short_reads: bool,
    /// Whether every access to shared memory is a visible operation, not only where threads race.
    pub fine: bool,
    /// Whether steps end only at the user's breakpoints and where threads block.
    pub only_breaks: bool,
    /// Whether spin loops are blocking operations: for searches that count trace classes.
    pub awaits: bool,
    /// Of so many results that are memoized or inherited, one is computed again and compared. Without it none is, or one in
    /// eight where debug assertions are on.
    pub audit: Option<u32>,
    /// Mutation tests.
    #[doc(hidden)]
    pub holes: Holes,
    /// Faults that may happen.
    pub faults: FaultPlan,
    /// What programs read as standard input.
    pub input: std::sync::Arc<[u8]>,
    /// What the search may use: no step is taken once it is spent.
    pub budget: explore::Budget,
}

impl Default for Options {
    fn default() -> Self {
        let (checks, depth, timeouts) = (Checks::default(), Depth::default(), Timeouts::default());
        Self {
            checks,
            depth,
            memory: MemoryModel::default(),
            timeouts,
            horizon: HORIZON,
            any_sleeper: true,
            spurious: false,
            short_reads: false,
            fine: false,
            only_breaks: false,
            awaits: false,
            audit: None,
            holes: Holes::default(),
            faults: FaultPlan::default(),
            input: std::sync::Arc::default(),
            budget: explore::Budget::default(),
        }
    }
}
