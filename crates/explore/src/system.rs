//! What can be checked: one trait for Promela models of fifty bytes and worlds of megabytes.

use crate::bits::Bits;
use crate::patience::Patience;
use std::ops::ControlFlow;
use trace::{Choice, Event, FailureKind};

/// Something that can be checked.
///
/// Everything that can move is an *actor*: a process, a thread, a timer, a fault injector. In each state every actor has
/// a number of choices (zero if it is blocked); taking one is a step and gives the next state.
///
/// Two kinds of system share this trait without paying for each other. A model's state is a short byte vector that the
/// store keeps losslessly ([`Key::Vector`]) and gives back ([`TransitionSystem::restore`]), so a frontier holds four-byte
/// ids; a world's state is a persistent value that is cheap to clone and identified by a fingerprint
/// ([`Key::Fingerprint`]). Independent steps must commute bit for bit, and the choices of a state and their order must
/// depend on nothing but the state.
pub trait TransitionSystem: Sync {
    /// One configuration: everything that the future depends on.
    type State: Clone + Send + Sync;
    /// Buffers of one worker, never part of a state.
    type Scratch: Send;

    /// A fresh workspace for one worker.
    fn scratch(&self) -> Self::Scratch;

    /// The initial state.
    fn initial(&self, scratch: &mut Self::Scratch) -> Self::State;

    /// What identifies a state.
    fn key<'a>(&self, state: &'a Self::State) -> Key<'a>;

    /// The state with this vector; only for systems whose key is a vector. Writes into `state` to spare an allocation.
    ///
    /// `vector` is as long as the longest vector of the search so far, padded with zeros: a system whose
    /// vectors differ in length must find the length from the content.
    fn restore(&self, vector: &[u8], state: &mut Self::State) -> bool {
        let _ = (vector, state);
        false
    }

    /// Whether this is the vector of a state, so that [`TransitionSystem::restore`] may be asked for it; for vectors that come
    /// from a file. Of a state only: what leads there nobody knows.
    fn is_state(&self, vector: &[u8]) -> bool {
        let _ = vector;
        true
    }

    /// What the system has noted while it took steps: marks that are set and never cleared.
    fn marks(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Sets marks that were noted in an earlier part of a search, beside those that are set; `false` if they are those of another
    /// system.
    fn set_marks(&self, marks: &[u8]) -> bool {
        marks.is_empty()
    }

    /// Hands every step of the given actors to `visit`, actor by actor, choices ascending, until it breaks.
    fn steps(
        &self,
        scratch: &mut Self::Scratch,
        state: &Self::State,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Self::State>) -> ControlFlow<()>,
    );

    /// Cuts steps that are computed with this workspace when patience is over.
    fn limit(&self, scratch: &mut Self::Scratch, patience: &Patience) {
        let _ = (scratch, patience);
    }

    /// Whether a step was cut in this workspace: then a state may have more steps than were handed out.
    fn was_cut(&self, scratch: &Self::Scratch) -> bool {
        let _ = scratch;
        false
    }

    /// The failure of a state without enabled actors; `None` if the system may end there.
    fn stuck(&self, scratch: &mut Self::Scratch, state: &Self::State) -> Option<Failure>;

    /// The truth of the propositions that `observer` (an index the caller registered with the system) asks for.
    fn observe(&self, scratch: &mut Self::Scratch, state: &Self::State, observer: usize) -> Result<u64, Failure>;

    /// The enabled actors, for weak fairness, sampling and reduction.
    fn enabled(&self, scratch: &mut Self::Scratch, state: &Self::State) -> Bits {
        let mut enabled = Bits::EMPTY;
        self.steps(scratch, state, Selection::All, &mut |step| {
            enabled.insert(step.choice.actor);
            ControlFlow::Continue(())
        });
        enabled
    }

    /// Every actor that exists in `state`, enabled or blocked, with its footprints. Leaves `actors` empty where reduction does
    /// not apply, so that the state is fully expanded.
    fn pending(&self, scratch: &mut Self::Scratch, state: &Self::State, actors: &mut Vec<Pending>) {
        let _ = (scratch, state);
        actors.clear();
    }

    /// One of the actors `moved` whose next step is local: independent of all future steps of other actors, and it closes no
    /// cycle of its control flow. `None` if there is none, or if that is not known.
    fn private(&self, scratch: &mut Self::Scratch, state: &Self::State, moved: Bits) -> Option<u32> {
        let _ = (scratch, state, moved);
        None
    }

    /// The part of the state space that a state lies in. Violations in different parts are different ones, and no cycle leads
    /// through two parts: a part is a history that only grows (the faults of the run, say).
    fn part(&self, state: &Self::State) -> u128 {
        let _ = state;
        0
    }

    /// Objects that the propositions of `observer` read: steps that write one of them are visible.
    fn observed(&self, observer: usize) -> Bits {
        let _ = observer;
        Bits::ALL
    }

    /// Takes one choice and narrates it. `None` if there is no such choice in `state`.
    fn explain(
        &self,
        scratch: &mut Self::Scratch,
        state: &Self::State,
        choice: Choice,
    ) -> Option<Explained<Self::State>>;

    /// The name of an actor in `state`, such as `client:2`.
    fn actor_name(&self, state: &Self::State, actor: u32) -> String;
}

/// What identifies a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key<'a> {
    /// The whole state as bytes, a multiple of eight: kept losslessly.
    Vector(&'a [u8]),
    /// Fingerprint of a state too large to store.
    Fingerprint(u128),
}

/// Which actors to step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// Every actor.
    All,
    /// Only these.
    Only(Bits),
}

impl Selection {
    /// Whether the actor is selected.
    #[inline]
    #[must_use]
    pub fn contains(&self, actor: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(bits) => bits.contains(actor),
        }
    }
}

/// One step, lent to the visitor of [`TransitionSystem::steps`].
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, S> {
    /// The actor, and which of its choices.
    pub choice: Choice,
    /// All actors that move: a rendezvous moves two. Empty for a fault: it need not happen, so a state in which nothing else
    /// can is stuck all the same.
    pub moved: Bits,
    /// Its successor. After a failure that is not fatal (an assertion) the search may go on from here.
    pub state: &'a S,
    /// Its failure.
    pub failure: Option<&'a Failure>,
}

/// The failure of a step or of a stuck state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Failure {
    /// The property it violates.
    pub kind: FailureKind,
    /// One line for people: `assertion violated: (x == 1)`.
    pub message: String,
    /// Whether no meaningful state follows, so that the search does not go on.
    pub fatal: bool,
    /// The property that it is about, if it has a name of its own.
    pub property: Option<String>,
}

/// An actor in a state, for the reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// The actor.
    pub actor: u32,
    /// Whether it has a choice now.
    pub enabled: bool,
    /// Whether a step of it may close a cycle of its own control flow; such steps are never taken alone (condition C3,
    /// made static: every cycle of states contains a step that closes a control cycle of each actor in it).
    pub closes_cycle: bool,
    /// The footprint of its next step, including what could enable it while it is blocked.
    pub next: Footprint,
    /// The union of the footprints of all its future steps, and of the actors that it may create.
    pub future: Footprint,
}

/// Objects that are read and written. Two footprints conflict if they share an object that one of them writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Footprint {
    /// Objects read.
    pub reads: Bits,
    /// Objects written.
    pub writes: Bits,
}

impl Footprint {
    /// No access.
    pub const NOTHING: Self = Self { reads: Bits::EMPTY, writes: Bits::EMPTY };
    /// All accesses: when in doubt.
    pub const EVERYTHING: Self = Self { reads: Bits::ALL, writes: Bits::ALL };

    /// Whether steps with these footprints are dependent.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        self.writes.meets(&other.writes) || self.writes.meets(&other.reads) || self.reads.meets(&other.writes)
    }

    /// The union.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { reads: self.reads.union(other.reads), writes: self.writes.union(other.writes) }
    }
}

/// A narrated step.
#[derive(Clone, Debug)]
pub struct Explained<S> {
    /// Its successor.
    pub state: S,
    /// Its events, in order: an atomic sequence has one for each statement.
    pub events: Vec<Event>,
    /// Its failure.
    pub failure: Option<Failure>,
}
