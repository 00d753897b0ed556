//! One explored state.

use super::footprint_table::FootprintId;
use super::future::{FutureId, NOTHING};
use super::present::Everybody;
use crate::bits::Bits;
use smallvec::SmallVec;
use trace::Choice;

/// One explored state. All of it lies together in most cases: a search waits for memory more than for anything else.
pub struct Node {
    /// What stands for it.
    pub fingerprint: u128,
    /// Everybody who exists there.
    pub present: Everybody,
    /// Who can move.
    pub enabled: Bits,
    /// Whose steps were taken.
    pub done: Bits,
    /// Whose steps are to be taken.
    pub todo: Bits,
    /// The steps that were taken.
    pub edges: SmallVec<[Edge; 1]>,
    /// States with a step to this one.
    pub before: SmallVec<[u32; 4]>,
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

/// A step that was taken.
#[derive(Clone, Copy)]
pub struct Edge {
    /// Which of the actor's choices.
    pub index: u32,
    /// By whom.
    pub actor: u32,
    /// What it touched.
    pub set: FootprintId,
    /// Where it led.
    pub to: u32,
    /// Whether somebody got on.
    pub progress: bool,
    /// Whether something went wrong.
    pub failed: bool,
    /// Whether it ended actors other than its own.
    pub ends: bool,
}

impl Node {
    /// A state without steps.
    pub fn new(
        fingerprint: u128,
        (present, enabled): (Everybody, Bits),
        parent: Option<(u32, Choice)>,
        depth: u32,
    ) -> Self {
        Self {
            fingerprint,
            present,
            enabled,
            done: Bits::EMPTY,
            todo: Bits::EMPTY,
            edges: SmallVec::new(),
            before: SmallVec::new(),
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
}
