//! One explored state.

use super::future::{FutureId, NOTHING};
use super::touch::SetId;
use crate::bits::Bits;
use trace::Choice;

/// One explored state.
pub struct Node<S> {
    /// Everybody who exists there.
    pub present: Vec<Present>,
    /// Who can move.
    pub enabled: Bits,
    /// Whose steps were taken.
    pub done: Bits,
    /// Whose steps are to be taken.
    pub todo: Bits,
    /// The steps that were taken.
    pub edges: Vec<Edge>,
    /// States with a step to this one.
    pub before: Vec<u32>,
    /// What is about to happen, or happens in the explored future.
    pub future: FutureId,
    /// How it was reached first.
    pub parent: Option<(u32, Choice)>,
    /// Steps from the start on that way.
    pub depth: u32,
    /// The state itself, while it is needed and there is room.
    pub state: Option<S>,
}

/// Somebody in a state; actors by their dense numbers.
#[derive(Clone, Copy)]
pub struct Present {
    /// Who.
    pub actor: u32,
    /// How many choices; 0 if it waits.
    pub choices: u32,
    /// What its next step touches, or what it waits for.
    pub pending: SetId,
    /// Who must move first.
    pub behind: Option<u32>,
}

/// A step that was taken.
#[derive(Clone, Copy)]
pub struct Edge {
    /// Which, as the system numbers it.
    pub choice: Choice,
    /// By whom.
    pub actor: u32,
    /// What it touched.
    pub set: SetId,
    /// Where it led.
    pub to: u32,
}

impl<S> Node<S> {
    /// A state without steps.
    pub fn new(present: Vec<Present>, parent: Option<(u32, Choice)>, depth: u32, state: S) -> Self {
        let mut enabled = Bits::EMPTY;
        present.iter().filter(|present| present.choices > 0).for_each(|present| enabled.insert(present.actor));
        Self {
            present,
            enabled,
            done: Bits::EMPTY,
            todo: Bits::EMPTY,
            edges: Vec::new(),
            before: Vec::new(),
            future: NOTHING,
            parent,
            depth,
            state: Some(state),
        }
    }

    /// Whether not everybody's step was taken.
    pub fn is_partial(&self) -> bool {
        self.done != self.enabled
    }

    /// Somebody, if present.
    pub fn find(&self, actor: u32) -> Option<&Present> {
        self.present.iter().find(|present| present.actor == actor)
    }
}
