//! The conditions under which enabled actors need not be explored, enforced until nothing changes.
//!
//! Notation of `mod.rs`: en(s), done(s), F(s). At the fixpoint done(s) is a persistent set at every state. The proof is by
//! induction on the length of an execution `w` of the full graph from `s`: every access in `w` is in F(s), and `w` has an
//! equivalent execution that begins with an actor of done(s).
//!
//! - **C0** keeps the graph from ending where the system does not. `StateGraph::add` establishes it: a state with enabled
//!   actors begins with one of them, and `done` only grows.
//! - **C1'** makes the first step of an actor of done(s) in `w` movable to the front. Let `u` be the first step of `w` that
//!   conflicts with the explored step of `p` at `s`, of an actor outside done(s). The steps before `u` are independent of
//!   `p`'s, so `u` is pending behind it and, by induction, in F(s.p): C1' is violated, and [`StateGraph::conflicting`] adds
//!   `u`'s actor, or actors one of which must move before it (a necessary enabling set). An actor that `p`'s step *ends* has
//!   nothing pending behind it, so its pending step at `s` is compared instead. An access cannot come before `p`'s step if
//!   it is under a lock that `p` holds at `s`, or if its actor moves only when `p` cannot (low priority).
//! - **C2** and fatal steps: a visible step, and one that fails fatally and so prevents all others, depends on everything.
//!   `Search::take` marks its state `expand_fully`.
//! - **C3** keeps an enabled actor from being ignored for ever along a cycle, where each state alone satisfies C1'. It is
//!   checked when all else is stable, on the whole graph, so that it does not depend on the order of the search.
//!
//! F is over *shared* accesses: an object with one actor has no conflicts. When a second actor accesses it, the footprints of
//! earlier steps grow (`FootprintTable::take_grown`), and the futures of all states are computed again.
//!
//! Termination: futures, `done` and the set of shared objects only grow, and are finite for a finite graph.
//!
//! **A worked example.** `T1: x = 1; y = 1` and `T2: a = 1; x = 2`, all of them visible operations,
//! from state `s`:
//!
//! ```text
//! s   starts with T1 (C0):       done = {T1}.   F(s) = {T1:x, T1:y, T2:a, T2:x}
//! s'  = s.T1 (x = 1 is done):    explored on:   F(s') has T2:x, the write that comes later
//! C1' at s: the step x = 1 of T1 conflicts with T2:x in F(s'), and T2 is not in done(s): add T2.
//! s'' = s.T2 (a = 1 is done):    a is T2's alone, so this step conflicts with nothing.
//! Had T2 been first at s: done = {T2}, its step a = 1 conflicts with nothing in the future: T1 is not added,
//! and s has one successor instead of two. `StateGraph::first` prefers such actors.
//! ```
//!
//! The definition of persistent sets is Godefroid's (*Partial-Order Methods for the Verification of
//! Concurrent Systems*, 1996); what is new here is only that they are found as a fixpoint over
//! footprints that steps report after they were executed (decision 9), where Flanagan and
//! Godefroid's dynamic reduction (POPL 2005) works on a stack and stores no states.

use super::actor_table::ActorRecord;
use super::footprint_table::{LockId, UNLOCKED};
use super::future::FutureId;
use super::livelock::{fair_components, is_idle};
use super::node::{Edge, Node};
use super::options::Filter;
use super::scc;
use super::state_graph::StateGraph;
use crate::bits::Bits;

/// States whose future grew are examined in batches of this size, so that most are examined once.
///
/// Propagating after every expansion would visit predecessors again and again; larger batches let
/// the search run ahead with sets that are still too small, which costs nothing but order.
const BATCH: usize = 256;

impl StateGraph {
    /// A state has new edges: its future and those of its predecessors may have grown.
    pub fn note_expanded(&mut self, at: u32) {
        if self.parts.is_none() {
            return;
        }
        self.grown.push(at);
        if self.grown.len() >= BATCH || self.open.is_empty() {
            self.propagate();
        }
    }

    /// Recomputes grown futures, and those of predecessors, and enforces C1' there.
    ///
    /// The states with the largest numbers come first (`grown` is a heap): successors mostly have larger numbers than their
    /// predecessors, so a future is mostly complete when it is used.
    ///
    /// A worklist algorithm: each state is visited as often as its future grows. Futures are
    /// interned, so "grew" is a comparison of two numbers.
    fn propagate(&mut self) {
        while let Some(at) = self.grown.pop() {
            while self.grown.peek() == Some(&at) {
                self.grown.pop();
            }
            let future = self.explored_future(at);
            let changed = future != self.node(at).future;
            self.node_mut(at).future = future;
            self.enforce_c1(at);
            if changed {
                self.nodes[at as usize].predecessors.iter().for_each(|before| self.grown.push(*before));
            }
        }
    }

    /// F(s), as far as it is explored. It begins with the old one, which has the pending accesses: futures only grow.
    fn explored_future(&mut self, at: u32) -> FutureId {
        let mut future = self.node(at).future;
        for index in 0..self.node(at).edges.len() {
            let Edge { set, to, .. } = self.node(at).edges[index];
            let own = self.footprint_future(set);
            future = self.futures.union(future, own);
            future = self.futures.union(future, self.node(to).future);
        }
        future
    }

    /// Adds the actors that C1' demands, or all where the state must be fully expanded.
    fn enforce_c1(&mut self, at: u32) {
        let Some(parts) = self.parts else { return };
        let node = self.node(at);
        if !node.is_partial() {
            return;
        }
        let more = match () {
            () if node.expand_fully => node.enabled,
            () if parts.conflicts => self.conflicting(node),
            () => Bits::EMPTY,
        };
        let node = self.node_mut(at);
        let more = more.minus(node.done);
        if !more.minus(node.todo).is_empty() {
            node.todo = node.todo.union(more);
            self.open.push(at);
        }
    }

    /// Actors that violate C1' at a state, each replaced by its necessary enabling set if it is not enabled.
    ///
    /// O(edges * shared accesses * rivals). `examined` keeps an actor from being replaced by its
    /// enabling set more than once a state.
    fn conflicting(&self, node: &Node) -> Bits {
        let (mut more, mut examined) = (Bits::EMPTY, node.done);
        for edge in &node.edges {
            let future = self.node(edge.to).future;
            let held = self.excluding_locks(node, edge);
            if edge.ends && self.parts.is_some_and(|parts| parts.ends) {
                more = more.union(self.conflicting_pending(node, edge, held));
            }
            for own in self.footprints.shared(edge.set) {
                for (id, rival) in self.footprints.rivals(*own) {
                    if !examined.contains(rival.actor)
                        && self.futures.contains(future, id)
                        && self.can_come_first(edge, held, (rival.actor, rival.locks))
                    {
                        examined.insert(rival.actor);
                        more = more.union(self.necessary_enabling_set(node, rival.actor));
                    }
                }
            }
        }
        more
    }

    /// The same for the pending steps at the state itself: for an edge that ends actors.
    fn conflicting_pending(&self, node: &Node, edge: &Edge, held: LockId) -> Bits {
        let mut more = Bits::EMPTY;
        for other in self.records.of(node.actors) {
            let rival = (other.actor, self.footprints.locks_of(other.pending));
            if self.footprints.conflict(edge.set, other.pending) && self.can_come_first(edge, held, rival) {
                more = more.union(self.necessary_enabling_set(node, other.actor));
            }
        }
        more
    }

    /// Whether an access of `rival` under `locks` can come before a step whose actor holds the locks `held`.
    fn can_come_first(&self, edge: &Edge, held: LockId, (rival, locks): (u32, LockId)) -> bool {
        let comes_last = self.low_priority.contains(rival) && !self.low_priority.contains(edge.actor);
        !comes_last && !self.footprints.share_lock(held, locks)
    }

    /// The lock filter: locks whose holder must move before any other actor's access under them.
    ///
    /// Sound only for locks that nobody but the holder releases; locks that were seen to be taken
    /// away leave the sets before this is asked (decision 14, "locks that are taken away").
    fn excluding_locks(&self, node: &Node, edge: &Edge) -> LockId {
        match self.parts.map_or(Filter::Off, |parts| parts.locks) {
            Filter::Off => UNLOCKED,
            Filter::Held => self.find(node, edge.actor).map_or(UNLOCKED, |record| record.holds),
            Filter::Broken => self.footprints.locks_of(edge.set),
        }
    }

    /// Enabled actors one of which must move before `actor` can: itself if it is enabled, all if that is not known.
    ///
    /// A blocked actor needs the holder of its lock, or a writer of what it waits for in the explored future; an actor that
    /// does not exist yet needs its creator.
    ///
    /// Godefroid's and Valmari's notion: any execution in which the actor moves contains, before
    /// that, a step of one of these. If it cannot be named, all enabled actors are: then the state
    /// is expanded fully.
    fn necessary_enabling_set(&self, node: &Node, actor: u32) -> Bits {
        if node.enabled.contains(actor) {
            return Bits::one(actor);
        }
        let (mut seen, mut open) = (Bits::one(actor), vec![actor]);
        let mut enabling = Bits::EMPTY;
        while let Some(actor) = open.pop() {
            if node.enabled.contains(actor) {
                enabling.insert(actor);
                continue;
            }
            let Some(enablers) = self.enablers(node, actor) else { return node.enabled };
            open.extend(enablers.minus(seen).iter());
            seen = seen.union(enablers);
        }
        enabling
    }

    /// Actors one of which must move before a disabled actor is enabled; nothing if that is not known.
    fn enablers(&self, node: &Node, actor: u32) -> Option<Bits> {
        let Some(record) = self.find(node, actor) else {
            return self.creators.get(&actor).copied();
        };
        let (mut writers, awaited) = match record.blocked_by {
            Some(holder) => (Bits::one(holder), record.interrupts),
            None => (Bits::EMPTY, record.pending),
        };
        for own in self.footprints.shared(awaited) {
            for (id, rival) in self.footprints.rivals(*own) {
                if rival.write && self.futures.contains(node.future, id) {
                    writers.insert(rival.actor);
                }
            }
        }
        Some(writers)
    }

    /// Enforces C1' everywhere, also for objects that have become shared. Those change footprints of steps long explored, so the
    /// futures of all states are computed again; that happens at most once for each object.
    pub fn stabilise(&mut self) {
        self.propagate();
        while self.parts.is_some() && self.footprints.take_grown() {
            self.forget_footprint_futures();
            for at in 0..self.nodes.len() as u32 {
                let pending = self.pending_future(at);
                let future = self.futures.union(pending, self.node(at).future);
                self.node_mut(at).future = future;
            }
            self.grown.extend(0..self.nodes.len() as u32);
            self.propagate();
        }
    }

    /// Enforces C3: one state of each cycle of partly expanded states is fully expanded. True if there was such a cycle.
    ///
    /// Checked on the finished graph instead of on a search stack, so that it does not depend on
    /// the order of the search. One state per strongly connected component and round is enough to
    /// break at least one cycle in it; rounds repeat until none is left.
    pub fn enforce_c3(&mut self) -> bool {
        if !self.parts.is_some_and(|parts| parts.cycles) || !self.has_cycle() {
            return false;
        }
        let mut cycles = Vec::new();
        scc::components(
            &self.nodes,
            |at| self.node(at).is_partial(),
            |_| true,
            |cycle| {
                // The state with the fewest actors left, which costs least; the number makes it the same in every search.
                let left = |at: &&u32| (self.node(**at).enabled.minus(self.node(**at).done).len(), **at);
                cycles.extend(cycle.iter().min_by_key(left));
            },
        );
        for at in &cycles {
            let node = self.node_mut(*at);
            node.expand_fully = true;
            node.todo = node.enabled.minus(node.done);
            self.open.push(*at);
        }
        !cycles.is_empty()
    }

    /// What holds when a search is complete: no step is left that was demanded, and C0.
    ///
    /// # Panics
    /// If it does not: then the search would claim to have seen what it did not see.
    pub fn assert_explored(&self) {
        for node in self.nodes.iter() {
            assert!(node.todo.minus(node.done).is_empty(), "a step was demanded and is not explored");
            assert!(node.enabled.is_empty() || !node.done.is_empty(), "a state with enabled actors has explored steps");
            assert!(node.done.minus(node.enabled).is_empty(), "only enabled actors move");
        }
    }

    /// Enables actors that move at quiescence in states where all others re-read the same values for ever. True if there was
    /// one.
    ///
    /// Time passes when nobody else does anything but look: a polling loop around a clock would
    /// otherwise be explored for ever without the clock moving.
    pub fn enable_at_quiescence(&mut self) -> bool {
        let is_waiting = |record: &ActorRecord| record.on_quiescence && record.choices == 0;
        if !(0..self.nodes.len() as u32).any(|at| self.actors_at(at).any(is_waiting)) {
            return false;
        }
        let quiescent = fair_components((&self.nodes, self.faults), |_| true, is_idle);
        let mut has_enabled = false;
        for at in quiescent.into_iter().flatten() {
            let Some(waiting) = self.actors_at(at).find(|record| is_waiting(record)).copied() else { continue };
            self.records.replace(self.node(at).actors, ActorRecord { choices: 1, ..waiting });
            let node = self.node_mut(at);
            node.enabled.insert(waiting.actor);
            node.todo.insert(waiting.actor);
            self.open.push(at);
            has_enabled = true;
        }
        has_enabled
    }
}
