//! The conditions under which steps may be left out, enforced until nothing changes.

use super::footprint_table::{LockId, UNLOCKED};
use super::future::FutureId;
use super::livelock::{fair_components, is_idle};
use super::node::{Edge, Node};
use super::options::Filter;
use super::present::Present;
use super::scc;
use super::state_graph::StateGraph;
use crate::bits::Bits;

/// States whose future grew are looked at in heaps of this size: together, so that most are looked at once.
const BATCH: usize = 256;

impl StateGraph {
    /// A state has new steps: its future has grown, and so have those before it.
    pub fn look_back(&mut self, at: u32) {
        if self.parts.is_none() {
            return;
        }
        self.grown.push(at);
        if self.grown.len() >= BATCH || self.open.is_empty() {
            self.propagate();
        }
    }

    fn propagate(&mut self) {
        while let Some(at) = self.grown.pop() {
            while self.grown.peek() == Some(&at) {
                self.grown.pop();
            }
            let future = self.future_behind(at);
            let changed = future != self.node(at).future;
            self.node_mut(at).future = future;
            self.check(at);
            if changed {
                self.nodes[at as usize].before.iter().for_each(|before| self.grown.push(*before));
            }
        }
    }

    fn future_behind(&mut self, at: u32) -> FutureId {
        let mut future = self.node(at).future;
        for index in 0..self.node(at).edges.len() {
            let Edge { set, to, .. } = self.node(at).edges[index];
            let own = self.set_future(set);
            future = self.futures.union(future, own);
            future = self.futures.union(future, self.node(to).future);
        }
        future
    }

    /// Whoever could come first and matter is taken, too.
    fn check(&mut self, at: u32) {
        let Some(parts) = self.parts else { return };
        let node = self.node(at);
        if !node.is_partial() {
            return;
        }
        let more = match () {
            () if node.whole => node.enabled,
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

    /// Condition C1': actors whose explored future conflicts with a step that was taken, or those who must move first.
    ///
    /// Actors that the step ends have no future behind it: their pending steps are compared with it instead.
    fn conflicting(&self, node: &Node) -> Bits {
        // Whoever is taken, or has been looked at, need not be looked at again.
        let (mut more, mut seen) = (Bits::EMPTY, node.done);
        for edge in &node.edges {
            let future = self.node(edge.to).future;
            let held = self.filtering(node, edge);
            if edge.ends && self.parts.is_some_and(|parts| parts.ends) {
                more = more.union(self.conflicting_pending(node, edge, held));
            }
            for own in self.accesses.shared(edge.set) {
                for (id, rival) in self.accesses.rivals(*own) {
                    if !seen.contains(rival.actor)
                        && self.futures.contains(future, id)
                        && self.can_come_first(edge, held, (rival.actor, rival.locks))
                    {
                        seen.insert(rival.actor);
                        more = more.union(self.needed(node, rival.actor));
                    }
                }
            }
        }
        more
    }

    /// Actors whose pending step conflicts with a step that was taken, or those who must move before them.
    fn conflicting_pending(&self, node: &Node, edge: &Edge, held: LockId) -> Bits {
        let mut more = Bits::EMPTY;
        for other in self.presents.of(node.present) {
            let locks = self.accesses.locks_of(other.pending);
            if self.accesses.conflict(edge.set, other.pending) && self.can_come_first(edge, held, (other.actor, locks))
            {
                more = more.union(self.needed(node, other.actor));
            }
        }
        more
    }

    fn can_come_first(&self, edge: &Edge, held: LockId, (rival, locks): (u32, LockId)) -> bool {
        let comes_last = self.low_priority.contains(rival) && !self.low_priority.contains(edge.actor);
        !comes_last && !self.accesses.have_common(held, locks)
    }

    /// The filter of locks: whoever holds one must move before anybody does something under it.
    fn filtering(&self, node: &Node, edge: &Edge) -> LockId {
        match self.parts.map_or(Filter::Off, |parts| parts.locks) {
            Filter::Off => UNLOCKED,
            Filter::Held => self.find(node, edge.actor).map_or(UNLOCKED, |present| present.holds),
            Filter::Broken => self.accesses.locks_of(edge.set),
        }
    }

    /// Who must be taken so that `actor` can come first: itself, or everybody who can move and begin what lets it.
    ///
    /// Somebody who waits for a lock needs its holder; somebody who waits for objects needs one of those who write them in
    /// the explored future; somebody who does not exist yet needs its creator.
    fn needed(&self, node: &Node, actor: u32) -> Bits {
        if node.enabled.contains(actor) {
            return Bits::one(actor);
        }
        let (mut seen, mut open) = (Bits::one(actor), vec![actor]);
        let mut needed = Bits::EMPTY;
        while let Some(actor) = open.pop() {
            if node.enabled.contains(actor) {
                needed.insert(actor);
                continue;
            }
            let Some(before) = self.before(node, actor) else { return node.enabled };
            open.extend(before.minus(seen).iter());
            seen = seen.union(before);
        }
        needed
    }

    /// One of these must move before somebody who cannot; nothing if it is not known who.
    fn before(&self, node: &Node, actor: u32) -> Option<Bits> {
        let Some(present) = self.find(node, actor) else {
            return self.creators.get(&actor).filter(|creator| **creator != actor).map(|creator| Bits::one(*creator));
        };
        let (mut writers, awaited) = match present.behind {
            Some(behind) => (Bits::one(behind), present.alarms),
            None => (Bits::EMPTY, present.pending),
        };
        for own in self.accesses.shared(awaited) {
            for (id, rival) in self.accesses.rivals(*own) {
                if rival.write && self.futures.contains(node.future, id) {
                    writers.insert(rival.actor);
                }
            }
        }
        Some(writers)
    }

    /// Objects that turned out to be shared change what earlier steps mean.
    pub fn settle(&mut self) {
        self.propagate();
        while self.parts.is_some() && self.accesses.take_grown() {
            self.forget_set_futures();
            for at in 0..self.nodes.len() as u32 {
                let pending = self.pending_future(at);
                let future = self.futures.union(pending, self.node(at).future);
                self.node_mut(at).future = future;
            }
            self.grown.extend(0..self.nodes.len() as u32);
            self.propagate();
        }
    }

    /// Condition C3: a cycle of partly expanded states gets one that is expanded fully. True if there was one.
    pub fn break_cycles(&mut self) -> bool {
        if !self.parts.is_some_and(|parts| parts.cycles) || !self.has_cycle() {
            return false;
        }
        let mut cycles = Vec::new();
        scc::components(
            &self.nodes,
            |at| self.node(at).is_partial(),
            |_| true,
            |cycle| {
                let left = |at: &&u32| (self.node(**at).enabled.minus(self.node(**at).done).len(), **at);
                cycles.extend(cycle.iter().min_by_key(left));
            },
        );
        for at in &cycles {
            let node = self.node_mut(*at);
            node.whole = true;
            node.todo = node.enabled.minus(node.done);
            self.open.push(*at);
        }
        !cycles.is_empty()
    }

    /// Time passes where everybody who can move only looks, for ever. True if it did.
    pub fn let_last_move(&mut self) -> bool {
        let is_last = |present: &Present| present.last && present.choices == 0;
        if !(0..self.nodes.len() as u32).any(|at| self.everybody(at).any(is_last)) {
            return false;
        }
        let idle = fair_components(&self.nodes, |_| true, is_idle);
        let mut has_moved = false;
        for at in idle.into_iter().flatten() {
            let Some(last) = self.everybody(at).find(|present| is_last(present)).copied() else { continue };
            self.presents.replace(self.node(at).present, Present { choices: 1, ..last });
            let node = self.node_mut(at);
            node.enabled.insert(last.actor);
            node.todo.insert(last.actor);
            self.open.push(at);
            has_moved = true;
        }
        has_moved
    }
}
