//! A state on the stack: its backtrack set and its sleep set.

use crate::bits::Bits;
use crate::footprint::Access;
use crate::footprint_system::Actor;
use std::rc::Rc;

/// A step in a sleep set.
#[derive(Clone)]
pub struct Asleep {
    /// Its actor.
    pub actor: u32,
    /// The index of its choice.
    pub index: u32,
    /// Its footprint, normalised.
    pub accesses: Rc<[Access]>,
}

/// A state on the stack.
///
/// **Invariant:** a step in `sleep` is independent of everything that was taken since it fell
/// asleep; `done` is a subset of `backtrack`.
pub struct Frame<S> {
    /// The state.
    pub state: S,
    /// All actors, with dense numbers.
    pub actors: Vec<(u32, Actor)>,
    /// Actors whose steps are to be explored, or are explored: a source set when the state is popped.
    pub backtrack: Bits,
    /// Actors all of whose choices are explored.
    done: Bits,
    /// The actor that is being explored, and its next choice.
    current: Option<(u32, u32)>,
    /// The sleep set.
    pub sleep: Vec<Asleep>,
    /// Whether a step from here failed fatally.
    pub failed: bool,
    /// Footprints of next steps, where a backtrack point needed them.
    pub tried: Vec<(u32, Rc<[Access]>)>,
}

impl<S> Frame<S> {
    /// A state with an empty backtrack set.
    pub fn new(state: S, actors: Vec<(u32, Actor)>, sleep: Vec<Asleep>) -> Self {
        Self {
            state,
            actors,
            backtrack: Bits::EMPTY,
            done: Bits::EMPTY,
            current: None,
            sleep,
            failed: false,
            tried: Vec::new(),
        }
    }

    /// Explores nothing more here.
    pub fn give_up(&mut self) {
        (self.backtrack, self.current) = (Bits::EMPTY, None);
    }

    /// An actor, if it exists here.
    pub fn find(&self, actor: u32) -> Option<&Actor> {
        self.actors.iter().find(|(dense, _)| *dense == actor).map(|(_, actor)| actor)
    }

    /// How many choices an actor has.
    pub fn choices(&self, actor: u32) -> u32 {
        self.find(actor).map_or(0, |actor| actor.choices)
    }

    /// Whether a step is asleep.
    pub fn is_asleep(&self, actor: u32, index: u32) -> bool {
        self.sleep.iter().any(|asleep| (asleep.actor, asleep.index) == (actor, index))
    }

    /// Whether an actor has a choice that is not asleep.
    pub fn is_awake(&self, actor: u32) -> bool {
        (0..self.choices(actor)).any(|index| !self.is_asleep(actor, index))
    }

    /// The enabled actors.
    pub fn enabled(&self) -> Bits {
        self.actors.iter().filter(|(_, actor)| actor.choices > 0).map(|(dense, _)| *dense).collect()
    }

    /// The next step to explore here.
    ///
    /// Choices of one actor are explored one after the other: data nondeterminism is not subject to
    /// reversal.
    pub fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            if let Some((actor, index)) = self.current {
                if let Some(index) = (index..self.choices(actor)).find(|index| !self.is_asleep(actor, *index)) {
                    self.current = Some((actor, index + 1));
                    return Some((actor, index));
                }
                self.current = None;
                self.done.insert(actor);
            }
            let actor = self.backtrack.minus(self.done).iter().next()?;
            self.current = Some((actor, 0));
        }
    }
}
