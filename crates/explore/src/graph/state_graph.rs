//! The explored graph, and everything that is kept once for all of it.

use super::footprint_table::{Actors, FootprintId, FootprintTable};
use super::future::{FutureId, Futures, NOTHING};
use super::node::Node;
use super::options::{Filter, Parts};
use super::present::{Present, Presents};
use super::scc;
use crate::bits::Bits;
use crate::chunked_vec::Pieces;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BinaryHeap;

/// The explored graph.
pub struct StateGraph {
    /// States, in the order in which they were reached first.
    pub nodes: Pieces<Node>,
    /// Who is in them.
    pub presents: Presents,
    /// What steps touch.
    pub accesses: FootprintTable,
    /// What happens behind states.
    pub futures: Futures,
    /// Everybody.
    pub actors: Actors,
    /// Those who move only when nobody else can.
    pub low_priority: Bits,
    /// Who created whom.
    pub creators: FxHashMap<u32, u32>,
    /// States with steps to take; the last is next.
    pub open: Vec<u32>,
    /// States whose steps, or whose future, grew.
    pub(super) grown: BinaryHeap<u32>,
    pub(super) parts: Option<Parts>,
    /// What sets of touches add to a future, by number.
    set_futures: Vec<Option<FutureId>>,
    edges: u64,
    /// Whether there is a cycle, and how many steps there were when somebody looked.
    cyclic: Cell<(u64, bool)>,
}

impl StateGraph {
    /// Nothing yet.
    pub fn new(parts: Option<Parts>) -> Self {
        Self {
            nodes: Pieces::default(),
            presents: Presents::default(),
            accesses: FootprintTable::default(),
            futures: Futures::default(),
            actors: Actors::default(),
            low_priority: Bits::EMPTY,
            creators: FxHashMap::default(),
            open: Vec::new(),
            grown: BinaryHeap::new(),
            parts,
            set_futures: Vec::new(),
            edges: 0,
            cyclic: Cell::new((0, false)),
        }
    }

    /// One state.
    pub fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// One state, to be changed.
    pub fn node_mut(&mut self, id: u32) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// Everybody in a state.
    pub fn everybody(&self, id: u32) -> impl ExactSizeIterator<Item = &Present> {
        self.presents.of(self.node(id).present)
    }

    /// Somebody in a state, if present.
    pub fn find(&self, node: &Node, actor: u32) -> Option<&Present> {
        self.presents.find(node.present, actor)
    }

    /// Adds a state, and decides what is taken there first.
    pub fn add(&mut self, node: Node, last: Option<u32>) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 states");
        self.nodes.push(node);
        let todo = match self.parts {
            None => self.node(id).enabled,
            Some(_) => self.first(id, last).map_or(Bits::EMPTY, Bits::one),
        };
        if self.parts.is_some() {
            self.node_mut(id).future = self.pending_future(id);
        }
        self.node_mut(id).todo = todo;
        id
    }

    /// Whether somebody other than the mover is in one state and not in the next.
    pub fn ends_others(&self, at: u32, mover: u32, to: u32) -> bool {
        let lives_on = |other: &Present| self.find(self.node(to), other.actor).is_some();
        self.everybody(at).any(|other| other.actor != mover && !lives_on(other))
    }

    /// Adds a step.
    pub fn connect(&mut self, at: u32, edge: super::node::Edge) {
        self.edges += 1;
        let before = &mut self.nodes[edge.to as usize].before;
        if before.last() != Some(&at) {
            before.push(at);
        }
        self.node_mut(at).edges.push(edge);
    }

    /// Whether some way leads back to where it began. Most programs have none, and then nobody need look at cycles any closer.
    pub fn has_cycle(&self) -> bool {
        if self.cyclic.get().0 != self.edges {
            let mut is_cyclic = false;
            scc::components(&self.nodes, |_| true, |_| true, |_| is_cyclic = true);
            self.cyclic.set((self.edges, is_cyclic));
        }
        self.cyclic.get().1
    }

    /// Who begins in a state: somebody whose step is nobody else's business, the one who moved last, a holder of locks.
    fn first(&self, id: u32, last: Option<u32>) -> Option<u32> {
        let able = self.everybody(id).filter(|present| present.choices > 0);
        let key = |present: &&Present| {
            let holds_nothing = present.holds == super::footprint_table::UNLOCKED;
            (self.is_exposed(present), Some(present.actor) != last, holds_nothing, present.actor)
        };
        able.min_by_key(key).map(|present| present.actor)
    }

    /// Whether a next step touches what others touch, and they could come first.
    fn is_exposed(&self, present: &Present) -> bool {
        let shared = self.accesses.shared(present.pending);
        let uses_locks = self.parts.is_some_and(|parts| parts.locks != Filter::Off);
        let held = |locks| uses_locks && self.accesses.have_common(present.holds, locks);
        shared.iter().any(|own| self.accesses.rivals(*own).any(|(_, rival)| !held(rival.locks)))
    }

    /// What is about to happen in a state.
    pub(super) fn pending_future(&mut self, id: u32) -> FutureId {
        let pending: SmallVec<[FootprintId; 16]> = self.everybody(id).map(|present| present.pending).collect();
        let futures: SmallVec<[FutureId; 16]> = pending.into_iter().map(|set| self.set_future(set)).collect();
        self.futures.union_of(futures.into_iter())
    }

    /// The accesses of a step that may matter.
    pub(super) fn set_future(&mut self, set: FootprintId) -> FutureId {
        let index = set.0 as usize;
        if let Some(Some(future)) = self.set_futures.get(index) {
            return *future;
        }
        let future = self.futures.with(NOTHING, self.accesses.shared(set));
        self.set_futures.resize(self.set_futures.len().max(index + 1), None);
        self.set_futures[index] = Some(future);
        future
    }

    /// Objects that turned out to be shared change what earlier steps mean.
    pub(super) fn forget_set_futures(&mut self) {
        self.set_futures.clear();
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        let node = size_of::<Node>() + size_of::<((u128, bool), u32)>();
        let edges = self.edges * (size_of::<super::node::Edge>() as u64 + 8);
        self.nodes.len() as u64 * node as u64
            + edges
            + self.presents.bytes()
            + self.accesses.bytes()
            + self.futures.bytes()
    }
}
