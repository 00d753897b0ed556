//! One state of the execution, and what is explored there.

use crate::bits::Bits;
use crate::graph::{Access, Actor};
use std::rc::Rc;

/// A step that need not be taken: everything behind it was explored.
#[derive(Clone)]
pub struct Asleep {
    /// Who.
    pub actor: u32,
    /// Which of its choices.
    pub index: u32,
    /// What it touches.
    pub accesses: Rc<[Access]>,
}

/// One state of the execution, and what is explored there.
pub struct Frame<S> {
    /// The state.
    pub state: S,
    /// Everybody who is there, with dense numbers.
    pub actors: Vec<(u32, Actor)>,
    /// Whose steps are to be explored, or were.
    pub backtrack: Bits,
    /// Whose steps were explored.
    done: Bits,
    /// Who is being explored, and which of its choices is next.
    current: Option<(u32, u32)>,
    /// Steps that need not be taken.
    pub sleep: Vec<Asleep>,
    /// Whether a failure ended everything here.
    pub failed: bool,
    /// What next steps touch, where that was asked.
    pub tried: Vec<(u32, Rc<[Access]>)>,
}

impl<S> Frame<S> {
    /// A state in which nothing is to be explored yet.
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

    /// Nothing more is taken here.
    pub fn give_up(&mut self) {
        (self.backtrack, self.current) = (Bits::EMPTY, None);
    }

    /// Somebody, if there.
    pub fn find(&self, actor: u32) -> Option<&Actor> {
        self.actors.iter().find(|(dense, _)| *dense == actor).map(|(_, actor)| actor)
    }

    /// How many choices somebody has.
    pub fn choices(&self, actor: u32) -> u32 {
        self.find(actor).map_or(0, |actor| actor.choices)
    }

    /// Whether a step need not be taken.
    pub fn is_asleep(&self, actor: u32, index: u32) -> bool {
        self.sleep.iter().any(|asleep| (asleep.actor, asleep.index) == (actor, index))
    }

    /// Whether somebody has a choice that is to be taken.
    pub fn is_awake(&self, actor: u32) -> bool {
        (0..self.choices(actor)).any(|index| !self.is_asleep(actor, index))
    }

    /// Everybody who can move.
    pub fn able(&self) -> Bits {
        self.actors.iter().filter(|(_, actor)| actor.choices > 0).map(|(dense, _)| *dense).collect()
    }

    /// The next step to explore here.
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
