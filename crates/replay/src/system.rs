//! What replaying asks of a system: models and programs answer it alike.

use explore::{Bits, Failure, Key, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Choice, Event, Fingerprint, Location};

/// A system whose schedules can be executed again.
pub trait Replayable {
    /// One configuration, cheap to keep.
    type State: Clone;

    /// Where every schedule starts.
    fn initial(&mut self) -> Self::State;

    /// The alternatives of an actor in a state; none if it is blocked.
    fn choices(&mut self, state: &Self::State, actor: u32) -> Vec<Choice>;

    /// Takes a choice; nothing if there is none such.
    fn step(&mut self, state: &Self::State, choice: Choice) -> Option<Stepped<Self::State>>;

    /// The same, with the events of the step.
    fn explain(&mut self, state: &Self::State, choice: Choice) -> Option<Explained<Self::State>>;

    /// The name of an actor in a state.
    fn actor_name(&mut self, state: &Self::State, actor: u32) -> String;

    /// The actors that can move in a state, sorted.
    fn enabled(&mut self, state: &Self::State) -> Vec<u32>;

    /// The actors that a step moves, sorted: both sides of a rendezvous.
    fn moved(&mut self, state: &Self::State, choice: Choice) -> Vec<u32>;

    /// What is wrong with a state because no actor can move in it.
    fn stuck(&mut self, state: &Self::State) -> Option<Failure>;

    /// Whether two states are the same.
    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool;

    /// What stands for a state: states with different ones differ.
    fn fingerprint(&self, state: &Self::State) -> Fingerprint;
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Stepped<S> {
    /// The state after it.
    pub state: S,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
    /// What identifies the step when its number has changed because other steps were left out; nothing where the number
    /// alone identifies it.
    pub label: Option<Label>,
    /// What executing it took, in units of the system's own: a count, so that it is the same on any machine.
    pub work: u64,
}

/// A step that was taken and explained.
#[derive(Clone, Debug)]
pub struct Explained<S> {
    /// The state after it.
    pub state: S,
    /// What happened.
    pub events: Vec<Event>,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
}

/// The statement of a step: its text and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The text.
    pub text: String,
    /// The place.
    pub location: Option<Location>,
}

/// A model, to be replayed.
pub struct ModelReplay<'s, S: TransitionSystem> {
    /// The model.
    pub system: &'s S,
    /// A workspace for questions about it.
    pub scratch: S::Scratch,
}

impl<'s, S: TransitionSystem> ModelReplay<'s, S> {
    /// A model at its beginning.
    pub fn new(system: &'s S) -> Self {
        Self { system, scratch: system.scratch() }
    }
}

impl<S: TransitionSystem> Replayable for ModelReplay<'_, S> {
    type State = S::State;

    fn initial(&mut self) -> S::State {
        self.system.initial(&mut self.scratch)
    }

    fn choices(&mut self, state: &S::State, actor: u32) -> Vec<Choice> {
        let mut choices = Vec::new();
        self.system.steps(&mut self.scratch, state, Selection::Only(Bits::one(actor)), &mut |step| {
            choices.push(step.choice);
            ControlFlow::Continue(())
        });
        choices
    }

    fn step(&mut self, state: &S::State, choice: Choice) -> Option<Stepped<S::State>> {
        let Explained { state, events, failure } = self.explain(state, choice)?;
        let first = events.into_iter().next();
        let label = match first {
            Some(event) => Label { text: event.text, location: event.location },
            None => Label { text: String::new(), location: None },
        };
        Some(Stepped { state, failure, label: Some(label), work: 1 })
    }

    fn explain(&mut self, state: &S::State, choice: Choice) -> Option<Explained<S::State>> {
        // A schedule may come from a file that anyone has edited.
        if choice.actor >= explore::CAPACITY {
            return None;
        }
        let explained = self.system.explain(&mut self.scratch, state, choice)?;
        Some(Explained { state: explained.state, events: explained.events, failure: explained.failure })
    }

    fn actor_name(&mut self, state: &S::State, actor: u32) -> String {
        self.system.actor_name(state, actor)
    }

    fn enabled(&mut self, state: &S::State) -> Vec<u32> {
        self.system.enabled(&mut self.scratch, state).iter().collect()
    }

    fn moved(&mut self, state: &S::State, choice: Choice) -> Vec<u32> {
        let mut moved = Bits::EMPTY;
        let only = Selection::Only(Bits::one(choice.actor));
        self.system.steps(&mut self.scratch, state, only, &mut |step: Step<'_, S::State>| {
            if step.choice != choice {
                return ControlFlow::Continue(());
            }
            moved = step.moved;
            ControlFlow::Break(())
        });
        moved.iter().collect()
    }

    fn stuck(&mut self, state: &S::State) -> Option<Failure> {
        let moves = !self.system.enabled(&mut self.scratch, state).is_empty();
        if moves { None } else { self.system.stuck(&mut self.scratch, state) }
    }

    fn is_same(&self, one: &S::State, other: &S::State) -> bool {
        self.system.key(one) == self.system.key(other)
    }

    fn fingerprint(&self, state: &S::State) -> Fingerprint {
        match self.system.key(state) {
            Key::Vector(bytes) => Fingerprint::new().with(bytes),
            Key::Fingerprint(number) => Fingerprint::new().with(&number.to_le_bytes()),
        }
    }
}
