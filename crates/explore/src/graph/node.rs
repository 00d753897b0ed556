//! An explored state.

use super::actor_table::ActorList;
use super::footprint_table::FootprintId;
use super::future::{EMPTY, FutureId};
use crate::bits::Bits;
use smallvec::SmallVec;
use trace::Choice;

/// An explored state. Most of it lies together in memory: cache misses dominate the search.
///
/// **Invariant:** `done` and `todo` are subsets of `enabled`; every actor in `done` has an edge for each of its choices,
/// unless the system takes no more steps.
pub struct Node {
    /// Its fingerprint.
    pub fingerprint: u128,
    /// All actors that exist there.
    pub actors: ActorList,
    /// Actors that are enabled.
    pub enabled: Bits,
    /// Actors whose steps are explored.
    pub done: Bits,
    /// Actors whose steps are to be explored.
    pub todo: Bits,
    /// The explored steps.
    ///
    /// One in place: most states of a reduced search have one successor.
    pub edges: SmallVec<[Edge; 1]>,
    /// States with an edge to this one.
    ///
    /// For propagating futures backwards; a state that is reached often by one predecessor is
    /// listed once in a row.
    pub predecessors: SmallVec<[u32; 4]>,
    /// The explored future: pending accesses here, and those of everything reachable.
    pub future: FutureId,
    /// The first edge to this state.
    pub parent: Option<(u32, Choice)>,
    /// Steps from the initial state over parents.
    pub depth: u32,
    /// Which propositions are true there.
    pub valuation: u64,
    /// How it ends, if no actor is enabled.
    pub end: End,
    /// Whether all enabled actors must be explored: C2, C3, or a fatal step.
    pub expand_fully: bool,
}

/// Whether and how executions end in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// They do not: an actor is enabled.
    No,
    /// The system may end there.
    Good,
    /// Stuck: no actor is enabled, and that is a failure.
    Stuck,
    /// The step to it failed fatally.
    Failed,
}

/// An explored step.
#[derive(Clone, Copy)]
pub struct Edge {
    /// The index of the choice.
    pub index: u32,
    /// The actor.
    pub actor: u32,
    /// Its footprint.
    pub set: FootprintId,
    /// Its successor.
    pub to: u32,
    /// Whether it is progress.
    pub progress: bool,
    /// Whether it failed.
    pub failed: bool,
    /// Whether it ended actors other than its own.
    pub ends: bool,
}

impl Node {
    /// A state without edges.
    pub fn new(
        fingerprint: u128,
        (actors, enabled): (ActorList, Bits),
        parent: Option<(u32, Choice)>,
        depth: u32,
    ) -> Self {
        Self {
            fingerprint,
            actors,
            enabled,
            done: Bits::EMPTY,
            todo: Bits::EMPTY,
            edges: SmallVec::new(),
            predecessors: SmallVec::new(),
            future: EMPTY,
            parent,
            depth,
            valuation: 0,
            end: End::No,
            expand_fully: false,
        }
    }

    /// Whether it is partly expanded: steps of some enabled actor are not explored.
    pub fn is_partial(&self) -> bool {
        self.done != self.enabled
    }
}
