//! What the searches ask of a system, and what it answers.

use crate::system::Failure;
use trace::Choice;

/// A system whose steps tell what they touch.
///
/// Independent steps must commute bit for bit: two steps of different actors that touch no common object with a write lead
/// to the same fingerprint in either order. A step reads everything that decides what it does: another's step that touches
/// none of it with a write has not changed it.
pub trait FootprintSystem {
    /// One configuration, cheap to keep.
    type State: Clone;

    /// Where everything starts.
    fn initial(&mut self) -> Reached<Self::State>;

    /// Takes a choice; nothing if there is none such, or if the system takes no more steps because a budget is spent.
    fn step(&mut self, state: &Self::State, choice: Choice) -> Option<Taken<Self::State>>;

    /// The same for somebody who knows a thing or two about where the step begins and leads: that need not be worked out
    /// again.
    fn step_with(
        &mut self,
        state: &Self::State,
        choice: Choice,
        around: &mut dyn StepContext,
    ) -> Option<Step<Self::State>> {
        let _ = around;
        self.step(state, choice).map(|taken| taken.map(Some))
    }

    /// Whether a race shows that steps are too coarse: a search has to begin anew once that is known, and need not go on.
    fn is_news(&self, race: &Race) -> bool {
        let _ = race;
        false
    }

    /// Whether a footprint that is inherited from the state before is to be worked out again and compared.
    fn is_audited(&mut self) -> bool {
        false
    }

    /// Whether the footprint of a step, inherited from the state before one that does not conflict with it, contains its own.
    fn covers(&self, inherited: &[Access], own: &[Access]) -> bool {
        inherited == own
    }

    /// An actor, or the footprint of its next step, is not what was inherited.
    fn differs(&mut self, actor: u32, what: &str) {
        panic!("actor {actor}: {what}");
    }
}

/// What is known around a step.
pub trait StepContext {
    /// Whether a state is known, by fingerprint and whether the step to it failed for good.
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool;

    /// Whether a step is only tried to see what it touches: where it leads need not be worked out if that takes time.
    fn is_trial(&self) -> bool {
        false
    }

    /// Those whom a step that touches this leaves as they are, by number and with how many choices they have.
    fn untouched(&mut self, accesses: &[Access]) -> Vec<(u32, u32)> {
        let _ = accesses;
        Vec::new()
    }
}

/// A step that was taken, without its state if that is known, or not wanted yet.
pub type Step<S> = Taken<Option<S>>;

/// A state that was reached.
#[derive(Clone, Debug)]
pub struct Reached<S> {
    /// The state.
    pub state: S,
    /// What stands for it.
    pub fingerprint: u128,
    /// Everybody who exists there.
    pub actors: Vec<Actor>,
    /// What is wrong with it if nobody can move; nothing if the system may end there.
    pub stuck: Option<Failure>,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken<S> {
    /// Where it led.
    pub reached: Reached<S>,
    /// Its footprint.
    pub accesses: Vec<Access>,
    /// What went wrong on the way.
    pub failure: Option<Failure>,
    /// Whether somebody got on with its work: a cycle without such a step is a livelock.
    pub progress: bool,
    /// Whether a proposition that somebody asks about may have changed: such steps keep their order.
    pub visible: bool,
}

impl<S> Reached<S> {
    /// The same with another state.
    pub fn map<R>(self, change: impl FnOnce(S) -> R) -> Reached<R> {
        let Self { state, fingerprint, actors, stuck } = self;
        Reached { state: change(state), fingerprint, actors, stuck }
    }
}

impl<S> Reached<Option<S>> {
    /// A state that is known already, or is not wanted yet.
    #[must_use]
    pub fn known(fingerprint: u128) -> Self {
        Self { state: None, fingerprint, actors: Vec::new(), stuck: None }
    }

    /// The state, of which nobody knew.
    ///
    /// # Panics
    /// If somebody did.
    pub fn new_state(&self) -> &S {
        self.state.as_ref().expect("a state that nobody knows is worked out")
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
    /// A step that went well, is progress, and changed no proposition.
    pub fn new(reached: Reached<S>, accesses: Vec<Access>) -> Self {
        Self { reached, accesses, failure: None, progress: true, visible: false }
    }
}

/// Somebody in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Actor {
    /// Its number, the same in every state and every order of creation.
    pub number: u32,
    /// How many choices it has; 0 if it is blocked.
    pub choices: u32,
    /// What its choices are about, where they are choices: a number of the system's below [`super::SORTS`], from 1.
    pub choice_kind: u8,
    /// The objects that it waits for: it stays blocked until one of them is written.
    pub awaits: Vec<u64>,
    /// The holder of the lock that it waits for: that actor must move first, unless an interrupt comes. Nothing if another
    /// actor may free the lock in some schedule.
    pub blocked_by: Option<u32>,
    /// Those of the objects it waits for that end its wait whoever blocks it: a signal may come at any time.
    pub interrupts: Vec<u64>,
    /// The actor that created it; itself if it was there from the start.
    pub creator: u32,
    /// Exclusive locks that it holds, and that no other actor releases in any schedule (by initialising, overwriting or
    /// unlocking what it does not hold).
    pub holds: Vec<u64>,
    /// The lock that its next step acquires, enabled or blocked: that step is disabled while another holds it, whatever the
    /// state is. (An attempt that may fail acquires nothing.) The step does not also release it.
    pub takes: Option<u64>,
    /// Whether it moves only when no other actor can: time that passes.
    pub low_priority: bool,
    /// Whether its next step re-reads what has not changed: an equivalent execution without this iteration covers it. Only
    /// the search that counts trace classes asks.
    pub redundant: bool,
    /// Whether it is enabled only at quiescence: where all other actors re-read the same values for ever.
    pub on_quiescence: bool,
    /// Whether it is as it was before the step, as [`StepContext::untouched`] says. Then its number and choices are set, and
    /// the rest only if `told` says so.
    pub unchanged: bool,
    /// Whether all is set although it is unchanged: then it is compared.
    pub told: bool,
}

/// An access of a step to an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Access {
    /// The object: a word of memory, a pipe, a lock.
    pub object: u64,
    /// Whether it may have been changed.
    pub write: bool,
    /// Whether it is a plain (not atomic) access to memory, which races with concurrent ones.
    pub plain: bool,
}

/// Two accesses that must not happen at the same time, and can.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Race {
    /// The word.
    pub object: u64,
    /// Whether both accesses are plain; otherwise one synchronises, and the word may be meant to be used like that.
    pub plain: bool,
    /// One actor and whether it writes.
    pub one: (u32, bool),
    /// The other.
    pub other: (u32, bool),
}
