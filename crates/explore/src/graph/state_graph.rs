//! The explored graph, with all that its states share.

use super::actor_table::{ActorRecord, ActorTable};
use super::footprint_table::{FootprintId, FootprintTable, UNLOCKED};
use super::future::{EMPTY, FutureId, Futures};
use super::node::{Edge, Node};
use super::options::{Filter, Parts};
use super::scc;
use crate::actor_ids::ActorIds;
use crate::bits::Bits;
use crate::chunked_vec::ChunkedVec;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BinaryHeap;

/// The explored graph.
pub struct StateGraph {
    /// States in the order in which they were reached; a state's number is its index.
    pub nodes: ChunkedVec<Node>,
    /// Their actors.
    pub records: ActorTable,
    /// Footprints of steps.
    pub footprints: FootprintTable,
    /// Explored futures of states.
    pub futures: Futures,
    /// Dense numbers of actors.
    pub actors: ActorIds,
    /// Actors that move only when no other can.
    pub low_priority: Bits,
    /// Actors whose steps are faults.
    pub faults: Bits,
    /// Actors whose steps no scheduler decides: faults, time, and other parts of the environment.
    pub environment: Bits,
    /// Who creates each actor; nobody is known for those that are there from the start.
    pub creators: FxHashMap<u32, Bits>,
    /// States with steps to explore; the last is next.
    pub open: Vec<u32>,
    /// States whose edges, or whose successors' futures, grew.
    pub(super) grown: BinaryHeap<u32>,
    /// The conditions that are enforced; nothing for a search without reduction.
    pub(super) parts: Option<Parts>,
    /// Memoized futures of footprints, by number.
    footprint_futures: Vec<Option<FutureId>>,
    edges: u64,
    /// Memoized: whether there is a cycle, and for how many edges that was found.
    cyclic: Cell<(u64, bool)>,
}

impl StateGraph {
    /// An empty graph.
    pub fn new(parts: Option<Parts>) -> Self {
        Self {
            nodes: ChunkedVec::default(),
            records: ActorTable::default(),
            footprints: FootprintTable::default(),
            futures: Futures::default(),
            actors: ActorIds::default(),
            low_priority: Bits::EMPTY,
            faults: Bits::EMPTY,
            environment: Bits::EMPTY,
            creators: FxHashMap::default(),
            open: Vec::new(),
            grown: BinaryHeap::new(),
            parts,
            footprint_futures: Vec::new(),
            edges: 0,
            cyclic: Cell::new((0, false)),
        }
    }

    /// A state.
    pub fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// A state, to be changed.
    pub fn node_mut(&mut self, id: u32) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// The actors of a state.
    pub fn actors_at(&self, id: u32) -> impl ExactSizeIterator<Item = &ActorRecord> {
        self.records.of(self.node(id).actors)
    }

    /// An actor of a state, if it exists there.
    pub fn find(&self, node: &Node, actor: u32) -> Option<&ActorRecord> {
        self.records.find(node.actors, actor)
    }

    /// Adds a state, and the actors that are explored first: one (C0), or all without reduction.
    ///
    /// Establishes C0. `done` and `todo` only grow from here on.
    pub fn add(&mut self, node: Node, last: Option<u32>) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 states");
        self.nodes.push(node);
        let todo = match self.parts {
            None => self.node(id).enabled,
            Some(_) => self.first(id, last).map_or(Bits::EMPTY, Bits::one),
        };
        assert!(self.node(id).enabled.is_empty() || !todo.is_empty(), "condition C0");
        if self.parts.is_some() {
            self.node_mut(id).future = self.pending_future(id);
        }
        self.node_mut(id).todo = todo;
        id
    }

    /// Whether an actor other than the mover exists in one state and not in the next.
    ///
    /// Steps that end actors need the second half of C1'.
    pub fn ends_others(&self, at: u32, mover: u32, to: u32) -> bool {
        let lives_on = |other: &ActorRecord| self.find(self.node(to), other.actor).is_some();
        self.actors_at(at).any(|other| other.actor != mover && !lives_on(other))
    }

    /// Adds an edge.
    pub fn connect(&mut self, at: u32, edge: Edge) {
        self.edges += 1;
        let predecessors = &mut self.nodes[edge.to as usize].predecessors;
        if predecessors.last() != Some(&at) {
            predecessors.push(at);
        }
        self.node_mut(at).edges.push(edge);
    }

    /// Whether the graph has a cycle. Most programs have none: then C3 holds and there is no livelock.
    pub fn has_cycle(&self) -> bool {
        if self.cyclic.get().0 != self.edges {
            let mut is_cyclic = false;
            scc::components(&self.nodes, |_| true, |_| true, |_| is_cyclic = true);
            self.cyclic.set((self.edges, is_cyclic));
        }
        self.cyclic.get().1
    }

    /// The actor that is explored first in a state: best one of the component of the conflict relation that moved last,
    /// then one whose next step is independent of all others so far, then the one that moved last, then one that holds
    /// locks.
    ///
    /// A heuristic: any enabled actor would be sound, but for faults, which come last. So the steps that are explored without
    /// them are a persistent set of the system without faults, whose ends are reached. An actor whose step conflicts with nothing
    /// seen so far often stays alone, which is where the reduction comes from.
    fn first(&self, id: u32, last: Option<u32>) -> Option<u32> {
        let enabled = self.actors_at(id).filter(|record| record.choices > 0);
        let key = |record: &&ActorRecord| {
            let (holds_nothing, is_other) = (record.holds == UNLOCKED, Some(record.actor) != last);
            let component = self.footprints.component(record.actor);
            let rank = (last.map(|last| self.footprints.component(last)) != Some(component), component);
            let is_fault = self.faults.contains(record.actor);
            (is_fault, rank, self.is_dependent(record), is_other, holds_nothing, record.actor)
        };
        enabled.min_by_key(key).map(|record| record.actor)
    }

    /// Whether a pending step conflicts with any access of another actor so far that could come first.
    fn is_dependent(&self, record: &ActorRecord) -> bool {
        let shared = self.footprints.shared(record.pending);
        let uses_locks = self.parts.is_some_and(|parts| parts.locks != Filter::Off);
        let excludes = |locks| uses_locks && self.footprints.share_lock(record.holds, locks);
        shared.iter().any(|own| self.footprints.rivals(*own).any(|(_, rival)| !excludes(rival.locks)))
    }

    /// The pending accesses of a state.
    pub(super) fn pending_future(&mut self, id: u32) -> FutureId {
        let pending: SmallVec<[FootprintId; 16]> = self.actors_at(id).map(|record| record.pending).collect();
        let futures: SmallVec<[FutureId; 16]> = pending.into_iter().map(|set| self.footprint_future(set)).collect();
        self.futures.union_of(futures.into_iter())
    }

    /// The shared accesses of a footprint.
    pub(super) fn footprint_future(&mut self, set: FootprintId) -> FutureId {
        let index = set.0 as usize;
        if let Some(Some(future)) = self.footprint_futures.get(index) {
            return *future;
        }
        let future = self.futures.with(EMPTY, self.footprints.shared(set));
        self.footprint_futures.resize(self.footprint_futures.len().max(index + 1), None);
        self.footprint_futures[index] = Some(future);
        future
    }

    /// Forgets the futures of footprints: objects have become shared.
    pub(super) fn forget_footprint_futures(&mut self) {
        self.footprint_futures.clear();
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        let node = size_of::<Node>() + size_of::<((u128, bool), u32)>();
        let edges = self.edges * (size_of::<Edge>() as u64 + 8);
        self.nodes.len() as u64 * node as u64
            + edges
            + self.records.bytes()
            + self.footprints.bytes()
            + self.futures.bytes()
    }
}
