//! What a search of programs looks for, and how closely it looks.

/// What counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Nobody can go on.
    pub deadlock: bool,
    /// Somebody waits for ever in a loop, where loops that wait are operations.
    pub livelock: bool,
    /// A fatal signal.
    pub crash: bool,
    /// `abort(3)`, a failed assertion.
    pub assert: bool,
    /// A started program ends with another code than 0.
    pub exit: bool,
    /// A lock is used as it may not be.
    pub misuse: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self { deadlock: true, livelock: true, crash: true, assert: true, exit: true, misuse: true }
    }
}

/// How deep into the C library a search looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depth {
    /// Recognised functions are one step with their specified meaning.
    #[default]
    Summary,
    /// Every instruction of the library is executed as it stands.
    Real,
}

/// When a timed wait may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timeouts {
    /// When nobody else can move.
    #[default]
    Quiet,
    /// At any time, this often in a run.
    Any(u32),
}

/// Holes that were closed, opened again: what notices them is tested by that.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Holes {
    /// A memoized step is taken without comparing the words that it looks at.
    pub memo: bool,
    /// Whoever holds a lock keeps it, whatever others do to its memory.
    pub locks: bool,
    /// Accesses do not depend on the mapping of their page.
    pub mappings: bool,
    /// All locks for readers and writers are of the default kind.
    pub rwlocks: bool,
    /// What one instruction does happens at once.
    pub tears: bool,
    /// A step that goes back behind its operation leaves the kernel as it is.
    pub rollback: bool,
}

/// How a search looks at programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What counts as a failure.
    pub checks: Checks,
    /// How deep into the C library.
    pub depth: Depth,
    /// When timed waits may end.
    pub timeouts: Timeouts,
    /// Whether any sleeper may be the one whom a signal wakes; otherwise the one that sleeps longest.
    pub any_sleeper: bool,
    /// Whether a wait at a condition variable may end although nobody has signalled.
    pub spurious: bool,
    /// Whether reads of pipes and connections may return less than there is.
    pub short_reads: bool,
    /// Whether every access to shared memory is a step of its own, not only where threads race.
    pub fine: bool,
    /// Whether threads take turns only where the user says, and where they wait.
    pub only_breaks: bool,
    /// Whether a loop that only reads is taken as an operation that waits: for counting schedules.
    pub awaits: bool,
    /// Of so many results that are memoized or inherited, one is worked out again and compared.
    pub audit: Option<u32>,
    /// For tests of the tests.
    #[doc(hidden)]
    pub holes: Holes,
    /// What programs read as standard input.
    pub input: std::sync::Arc<[u8]>,
    /// What may be used: no step is taken once it is spent.
    pub budget: explore::Budget,
}

impl Default for Options {
    fn default() -> Self {
        let (checks, depth, timeouts) = (Checks::default(), Depth::default(), Timeouts::default());
        Self {
            checks,
            depth,
            timeouts,
            any_sleeper: true,
            spurious: false,
            short_reads: false,
            fine: false,
            only_breaks: false,
            awaits: false,
            audit: None,
            holes: Holes::default(),
            input: std::sync::Arc::default(),
            budget: explore::Budget::default(),
        }
    }
}
