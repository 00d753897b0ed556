//! What the engines for programs need of a system: steps that report footprints.

use crate::footprint::Access;
use crate::race::Race;
use crate::system::Failure;
use trace::Choice;

/// A system whose steps report their footprints.
///
/// **Independent steps commute:** two steps of different actors whose footprints do not conflict lead to the same
/// fingerprint in either order. **Footprints are complete:** a step reads everything that decides what it does, so that a
/// step of another actor that is independent of it leaves it, its choices and its footprint unchanged. All reductions rest
/// on these two.
pub trait FootprintSystem {
    /// A state, cheap to clone.
    type State: Clone;

    /// The initial state.
    fn initial(&mut self) -> Reached<Self::State>;

    /// Takes a choice; nothing if the state has no such choice, or if the system takes no more steps because a budget is
    /// spent.
    fn step(&mut self, state: &Self::State, choice: Choice) -> Option<Taken<Self::State>>;

    /// The same for a caller that knows the successor, or actors that the step leaves unchanged: those need not be computed.
    fn step_with(
        &mut self,
        state: &Self::State,
        choice: Choice,
        context: &mut dyn StepContext,
    ) -> Option<Step<Self::State>> {
        let _ = context;
        self.step(state, choice).map(|taken| taken.map(Some))
    }

    /// Whether a race shows that steps are too coarse, and the refinement does not have its word yet. Then the search will
    /// be restarted and need not go on.
    fn needs_refinement(&self, race: &Race) -> bool {
        let _ = race;
        false
    }

    /// Whether the next inherited footprint is to be computed as well, and compared (an audit).
    fn is_audited(&mut self) -> bool {
        false
    }

    /// Whether an inherited footprint covers the one that the step really has.
    fn covers(&self, inherited: &[Access], own: &[Access]) -> bool {
        inherited == own
    }

    /// An audit failed: an actor, or the footprint of its next step, is not what it inherited.
    fn differs(&mut self, actor: u32, what: &str) {
        panic!("actor {actor}: {what}");
    }
}

/// What the caller of a step knows.
pub trait StepContext {
    /// Whether a state is stored, by fingerprint and whether the step to it failed fatally.
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool;

    /// Whether only the footprint is wanted: the successor need not be computed if that takes time.
    fn is_trial(&self) -> bool {
        false
    }

    /// Actors that are independent of a step with this footprint, each with its number of choices.
    fn untouched(&mut self, accesses: &[Access]) -> Vec<(u32, u32)> {
        let _ = accesses;
        Vec::new()
    }
}

/// A step that was taken, without its successor if that is known or not wanted yet.
pub type Step<S> = Taken<Option<S>>;

/// A state that was reached.
#[derive(Clone, Debug)]
pub struct Reached<S> {
    /// The state.
    pub state: S,
    /// Its fingerprint.
    pub fingerprint: u128,
    /// All actors that exist there.
    pub actors: Vec<Actor>,
    /// The failure if nothing can happen but faults; nothing if the system may end there.
    pub stuck: Option<Failure>,
    /// Which propositions are true there, one bit each.
    pub valuation: u64,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken<S> {
    /// Its successor.
    pub reached: Reached<S>,
    /// Its footprint.
    pub accesses: Vec<Access>,
    /// Its failure.
    pub failure: Option<Failure>,
    /// Whether it is progress: a fair cycle without such a step is a livelock.
    pub progress: bool,
    /// Whether it may change a proposition that a property reads: visible steps keep their order (condition C2).
    pub visible: bool,
}

impl<S> Reached<S> {
    /// Whether nothing can happen here but faults.
    pub fn is_end(&self) -> bool {
        self.actors.iter().all(|actor| actor.choices == 0 || actor.is_fault)
    }

    /// The same with another state.
    pub fn map<R>(self, change: impl FnOnce(S) -> R) -> Reached<R> {
        let Self { state, fingerprint, actors, stuck, valuation } = self;
        Reached { state: change(state), fingerprint, actors, stuck, valuation }
    }
}

impl<S> Reached<Option<S>> {
    /// A state that is stored, or is not wanted yet.
    #[must_use]
    pub fn known(fingerprint: u128) -> Self {
        Self { state: None, fingerprint, actors: Vec::new(), stuck: None, valuation: 0 }
    }

    /// The state, which was not known.
    ///
    /// # Panics
    /// If it was.
    pub fn new_state(&self) -> &S {
        self.state.as_ref().expect("a state that is not stored is computed")
    }
}

impl<S> Taken<S> {
    /// The same with another state.
    pub fn map<R>(self, change: impl FnOnce(S) -> R) -> Taken<R> {
        let Self { reached, accesses, failure, progress, visible } = self;
        Taken { reached: reached.map(change), accesses, failure, progress, visible }
    }

    /// Whether it failed so that nothing follows.
    pub fn is_fatal(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.fatal)
    }

    /// A step that does not fail, is progress, and is invisible.
    pub fn new(reached: Reached<S>, accesses: Vec<Access>) -> Self {
        Self { reached, accesses, failure: None, progress: true, visible: false }
    }
}

/// An actor in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Actor {
    /// Its number, the same in every state and every order of creation.
    pub number: u32,
    /// How many choices it has; 0 if it is blocked.
    pub choices: u32,
    /// The kind of its choices where they are not scheduling: from 1, below [`crate::found::CHOICE_KINDS`].
    pub choice_kind: u8,
    /// The objects that it waits for: it stays blocked until one of them is written.
    pub awaits: Vec<u64>,
    /// The holder of the lock that it waits for: that actor must move first, unless an interrupt comes. Nothing if another
    /// actor may free the lock in some schedule.
    pub blocked_by: Option<u32>,
    /// Those of the awaited objects that end the wait whatever the holder of the lock does: a signal may come at any time.
    pub interrupts: Vec<u64>,
    /// The actor that created it; itself if it exists in the initial state.
    pub creator: u32,
    /// Exclusive locks that it holds, and that no other actor releases in any schedule (by initialising, overwriting or
    /// unlocking what it does not hold).
    pub holds: Vec<u64>,
    /// The lock that its next step acquires, enabled or blocked: that step is disabled while another holds it, whatever the
    /// state is. (An attempt that may fail acquires nothing.) The step does not also release it.
    pub takes: Option<u64>,
    /// Whether it moves only when no other actor can: time that passes.
    pub low_priority: bool,
    /// Whether its steps are faults: they happen to the system, which is stuck although one could happen, and no fairness demands
    /// one.
    pub is_fault: bool,
    /// Whether its steps are no decision of the scheduler: a store reaches memory, a message arrives. Bounds on preemptions and
    /// delays count neither these nor faults nor time that passes.
    pub is_environment: bool,
    /// Whether its steps conflict with all others, whatever these do: time, or what a fault has left to come.
    pub conflicts_with_all: bool,
    /// Whether its next step re-reads what has not changed: an equivalent execution without this iteration covers it. Only
    /// the search that counts trace classes asks.
    pub redundant: bool,
    /// Whether it is enabled only at quiescence: where all other actors re-read the same values for ever.
    pub on_quiescence: bool,
    /// Whether it is as it was before the step, as [`StepContext::untouched`] says. Then its number and choices are set, and
    /// the rest only if it is audited.
    pub unchanged: bool,
    /// Whether all fields are set although it is unchanged: then it is compared with what it inherits.
    pub audited: bool,
}
