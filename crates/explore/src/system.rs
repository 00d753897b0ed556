//! What can be checked: one trait for Promela models of fifty bytes and worlds of megabytes.

use crate::bits::Bits;
use crate::patience::Patience;
use std::ops::ControlFlow;
use trace::{Choice, Event, FailureKind};

/// Something that can be checked.
///
/// Everything that can move is an *actor*: a process, a thread, a timer, a fault injector. In each state every actor has
/// a number of choices (zero if it waits); taking one is a step and gives the next state.
///
/// Two kinds of system share this trait without paying for each other. A model's state is a short byte vector that the
/// store keeps losslessly ([`Key::Vector`]) and gives back ([`TransitionSystem::restore`]), so a frontier holds four-byte
/// ids; a world's state is a persistent value that is cheap to clone and identified by a fingerprint
/// ([`Key::Fingerprint`]). Independent steps must commute bit for bit, and the choices of a state and their order must
/// depend on nothing but the state.
pub trait TransitionSystem: Sync {
    /// One configuration: everything that the future depends on.
    type State: Clone + Send + Sync;
    /// What one worker needs while it computes steps: buffers, never part of a state.
    type Scratch: Send;

    /// A fresh workspace for one worker.
    fn scratch(&self) -> Self::Scratch;

    /// The state in which everything starts.
    fn initial(&self, scratch: &mut Self::Scratch) -> Self::State;

    /// What identifies a state.
    fn key<'a>(&self, state: &'a Self::State) -> Key<'a>;

    /// The state with this vector; only for systems whose key is a vector. Writes into `state` to spare an allocation.
    ///
    /// `vector` is as long as the longest vector that the search has met so far, padded with zeros: a system whose
    /// vectors differ in length must find the length from the content.
    fn restore(&self, vector: &[u8], state: &mut Self::State) -> bool {
        let _ = (vector, state);
        false
    }

    /// Hands every step of the given actors to `visit`, actor by actor, choices ascending, until it breaks.
    fn steps(
        &self,
        scratch: &mut Self::Scratch,
        state: &Self::State,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Self::State>) -> ControlFlow<()>,
    );

    /// Lets steps that are computed with this workspace be given up when patience is over.
    fn limit(&self, scratch: &mut Self::Scratch, patience: &Patience) {
        let _ = (scratch, patience);
    }

    /// Whether a step was given up in this workspace: then a state may have more steps than were handed out.
    fn was_cut(&self, scratch: &Self::Scratch) -> bool {
        let _ = scratch;
        false
    }

    /// What is wrong with a state in which nothing can move; `None` if the system may end there.
    fn stuck(&self, scratch: &mut Self::Scratch, state: &Self::State) -> Option<Failure>;

    /// The truth of the propositions that `observer` (an index the caller registered with the system) asks for.
    fn observe(&self, scratch: &mut Self::Scratch, state: &Self::State, observer: usize) -> Result<u64, Failure>;

    /// Actors that could move in `state`, for weak fairness, sampling and reduction.
    fn enabled(&self, scratch: &mut Self::Scratch, state: &Self::State) -> Bits {
        let mut enabled = Bits::EMPTY;
        self.steps(scratch, state, Selection::All, &mut |step| {
            enabled.insert(step.choice.actor);
            ControlFlow::Continue(())
        });
        enabled
    }

    /// Every actor that exists in `state`, moving or waiting, with what the reduction must know about it. Leaves
    /// `actors` empty where reduction does not apply, so that the state is expanded fully.
    fn pending(&self, scratch: &mut Self::Scratch, state: &Self::State, actors: &mut Vec<Pending>) {
        let _ = (scratch, state);
        actors.clear();
    }

    /// One of the actors `moved` that goes on by itself: its next step touches nothing that anybody else ever touches
    /// and closes no cycle of its control flow. `None` if there is none, or if nobody knows.
    fn private(&self, scratch: &mut Self::Scratch, state: &Self::State, moved: Bits) -> Option<u32> {
        let _ = (scratch, state, moved);
        None
    }

    /// Which part of the state space a state lies in. Violations are told apart by the part in which they happen, and no
    /// cycle leads through two parts: what a run has been through so far (the faults it met, say) never changes back.
    fn part(&self, state: &Self::State) -> u128 {
        let _ = state;
        0
    }

    /// Objects that the propositions of `observer` read: steps that write one of them are visible.
    fn observed(&self, observer: usize) -> Bits {
        let _ = observer;
        Bits::ALL
    }

    /// Takes one choice and tells what happened, for people. `None` if there is no such choice in `state`.
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
    /// 128 bits that stand for a state too large to keep.
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
    /// Who moves, and which of its choices.
    pub choice: Choice,
    /// Everyone who took part: a rendezvous moves two actors. Empty for what happens *to* the system (a fault): it need
    /// not happen, so a state in which nothing else can is stuck all the same.
    pub moved: Bits,
    /// Where it leads. After a failure that does not end the world (an assertion) search may go on from here.
    pub state: &'a S,
    /// What went wrong on the way, if anything.
    pub failure: Option<&'a Failure>,
}

/// Something that a step or a stuck state does wrong.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Failure {
    /// The property it violates.
    pub kind: FailureKind,
    /// One line for people: `assertion violated: (x == 1)`.
    pub message: String,
    /// Whether there is no meaningful state after it, so that search does not go on.
    pub fatal: bool,
    /// The property that it is about, if it has a name of its own.
    pub property: Option<String>,
}

/// What a reduction must know about one actor in one state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// The actor.
    pub actor: u32,
    /// Whether it has a choice now.
    pub enabled: bool,
    /// Whether a step of it may close a cycle of its own control flow; such steps are never taken alone (condition C3,
    /// made static: every cycle of states contains a step that closes a control cycle of each actor in it).
    pub closes_cycle: bool,
    /// What its next step touches, including what could enable it while it waits.
    pub next: Footprint,
    /// What it, or any actor it may create, may touch from here on.
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
    /// Touches nothing.
    pub const NOTHING: Self = Self { reads: Bits::EMPTY, writes: Bits::EMPTY };
    /// Touches everything: what to say when in doubt.
    pub const EVERYTHING: Self = Self { reads: Bits::ALL, writes: Bits::ALL };

    /// Whether the order of two steps with these footprints may matter.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        self.writes.meets(&other.writes) || self.writes.meets(&other.reads) || self.reads.meets(&other.writes)
    }

    /// Both together.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { reads: self.reads.union(other.reads), writes: self.writes.union(other.writes) }
    }
}

/// A step told for people.
#[derive(Clone, Debug)]
pub struct Explained<S> {
    /// Where it led.
    pub state: S,
    /// What happened on the way, in order: an atomic sequence has one event for each statement.
    pub events: Vec<Event>,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
}
