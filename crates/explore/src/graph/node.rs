//! One explored state.

use super::future::{FutureId, NOTHING};
use super::touch::{LockId, SetId};
use crate::bits::Bits;
use trace::Choice;

/// One explored state.
pub struct Node {
    /// What stands for it.
    pub fingerprint: u128,
    /// Everybody who exists there.
    pub present: Box<[Present]>,
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
    /// How it ends, if nobody can move.
    pub end: End,
    /// Whether nobody's steps may be left out.
    pub whole: bool,
}

/// How a state ends everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It does not: somebody can move.
    No,
    /// As it should.
    Good,
    /// Nobody can move, and that is wrong.
    Stuck,
    /// A failure ended it.
    Failed,
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
    /// Who must move first, but for alarms.
    pub behind: Option<u32>,
    /// What ends its wait in any case.
    pub alarms: SetId,
    /// The locks that it holds.
    pub holds: LockId,
    /// Whether it moves where nobody gets on.
    pub last: bool,
    /// What its choices are about.
    pub sort: u8,
}

/// A step that was taken.
#[derive(Clone, Copy)]
pub struct Edge {
    /// Which of the actor's choices.
    pub index: u32,
    /// By whom.
    pub actor: u32,
    /// What it touched.
    pub set: SetId,
    /// Where it led.
    pub to: u32,
    /// Whether somebody got on.
    pub progress: bool,
    /// Whether something went wrong.
    pub failed: bool,
}

impl Node {
    /// A state without steps.
    pub fn new(fingerprint: u128, present: Vec<Present>, parent: Option<(u32, Choice)>, depth: u32) -> Self {
        let enabled = present.iter().filter(|present| present.choices > 0).map(|present| present.actor).collect();
        Self {
            fingerprint,
            present: present.into(),
            enabled,
            done: Bits::EMPTY,
            todo: Bits::EMPTY,
            edges: Vec::new(),
            before: Vec::new(),
            future: NOTHING,
            parent,
            depth,
            end: End::No,
            whole: false,
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
