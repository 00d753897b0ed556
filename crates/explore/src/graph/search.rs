//! The search: explores steps, and enforces the conditions on the states before, until nothing is left.
//!
//! **Order.** States are expanded last in, first out, with workers running ahead. Nothing in the
//! result depends on it but numbers of states: the conditions are checked on the graph, and reports
//! sort.

use super::actor_table::{ActorRecord, NewActors, Surroundings};
use super::footprint_table::FootprintId;
use super::job::{Standing, TriedStep, Workers};
use super::node::{Edge, End, Node};
use super::options::{Limits, Options};
use super::races::Races;
use super::report::Counts;
use super::snapshot_cache::SnapshotCache;
use super::state_graph::StateGraph;
use super::trial_cache::TrialCache;
use crate::bits::Bits;
use crate::footprint_system::{FootprintSystem, Reached, Step, Taken};
use crate::found::Stopped;
use crate::outdated::Outdated;
use crate::system::Failure;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::PoisonError;
use trace::Choice;

/// The step that leads to a state which is being added.
#[derive(Clone, Copy)]
pub struct Incoming {
    pub(super) at: u32,
    choice: Choice,
    pub(super) actor: u32,
    pub(super) set: FootprintId,
}

/// A failure, and where it occurs.
pub(super) struct FoundAt {
    pub failure: Failure,
    /// The state that is stuck, or from which a step fails.
    pub at: u32,
    /// The step.
    pub choice: Option<Choice>,
    /// Fingerprint of the state behind it.
    pub fingerprint: u128,
}

/// A search under way.
///
/// **Invariant:** `ids` has exactly the states of the graph. A state after a fatal failure is another one than the same
/// state reached otherwise, because nothing follows it.
pub struct Search<'a, T: FootprintSystem> {
    pub(super) system: &'a mut T,
    pub(super) options: Options,
    pub(super) graph: StateGraph,
    /// States by fingerprint, and whether the step to them failed fatally.
    pub(super) ids: FxHashMap<(u128, bool), u32>,
    pub(super) snapshots: SnapshotCache<T::State>,
    pub(super) trials: TrialCache<T::State>,
    /// Next steps that workers have tried in states that are not stored yet, by fingerprint.
    pub(super) lookahead: HashMap<u128, Vec<TriedStep<T::State>>>,
    pub(super) workers: Option<Workers<'a, T::State>>,
    /// States whose steps were posted to the workers.
    pub(super) posted: FxHashSet<u32>,
    pub(super) races: Races,
    outdated: Outdated,
    pub(super) found: Vec<FoundAt>,
    pub(super) too_many_actors: bool,
    pub(super) steps: u64,
    pub(super) executed: u64,
    pub(super) counts: Counts,
}

impl<'a, T: FootprintSystem> Search<'a, T> {
    /// A search of a graph that has the initial state.
    pub fn new(system: &'a mut T, options: Options, workers: Option<Workers<'a, T::State>>) -> Self {
        let mut search = Self {
            system,
            options,
            graph: StateGraph::new(options.mode.parts()),
            ids: FxHashMap::default(),
            snapshots: SnapshotCache::new(options.snapshots),
            trials: TrialCache::new(options.trials),
            lookahead: HashMap::new(),
            workers,
            posted: FxHashSet::default(),
            races: Races::default(),
            outdated: Outdated::default(),
            found: Vec::new(),
            too_many_actors: false,
            steps: 0,
            executed: 0,
            counts: Counts::default(),
        };
        let initial = search.system.initial();
        search.arrive(initial.map(Some), None, false);
        search
    }

    /// Explores until the conditions hold everywhere; otherwise says why it stopped.
    ///
    /// The cheap condition first: C1' is enforced while states are expanded, in batches, and everywhere once nothing is open. C3
    /// and quiescence look at the whole graph, so they are asked only when C1' holds, and what they open begins anew.
    pub fn run(&mut self, limits: &mut Limits<'_>) -> Option<Stopped> {
        loop {
            while let Some(at) = self.graph.open.pop() {
                self.collect_outcomes(at);
                self.expand(at);
                self.graph.note_expanded(at);
                self.post_jobs();
                let stopped = self.stopped(limits);
                if stopped.is_some() {
                    return stopped;
                }
                if self.graph.open.is_empty() {
                    self.graph.stabilise();
                }
            }
            if !self.graph.enforce_c3() && !self.graph.enable_at_quiescence() {
                self.graph.assert_explored();
                return None;
            }
        }
    }

    /// The limit that is reached, if any.
    pub(super) fn stopped(&mut self, limits: &mut Limits<'_>) -> Option<Stopped> {
        let states = self.graph.nodes.len();
        let polled = states.is_multiple_of(1024);
        match () {
            () if self.too_many_actors => Some(Stopped::Actors),
            () if self.found.len() >= limits.failures => Some(Stopped::Failures),
            () if states >= limits.states => Some(Stopped::States),
            () if polled && self.graph.bytes() > self.options.bytes => Some(Stopped::Memory),
            () if self.is_outdated() => Some(Stopped::Asked),
            () if (limits.stop)(states as u64, self.executed) => Some(Stopped::Asked),
            () => None,
        }
    }

    /// Whether races have shown for long enough that the abstraction is too coarse. States are counted, because they come in
    /// the same order for any number of workers.
    fn is_outdated(&mut self) -> bool {
        let (races, system) = (&self.races.found, &*self.system);
        let needs_refinement = || races.keys().any(|race| system.needs_refinement(race));
        self.outdated.is_over(races.len(), self.graph.nodes.len() as u64, needs_refinement)
    }

    fn expand(&mut self, at: u32) {
        let node = self.graph.node_mut(at);
        let todo = std::mem::replace(&mut node.todo, Bits::EMPTY).minus(node.done);
        todo.iter().for_each(|actor| self.take_all(at, actor));
    }

    /// Explores all choices of an actor.
    pub(super) fn take_all(&mut self, at: u32, actor: u32) {
        self.graph.node_mut(at).done.insert(actor);
        let choices = self.graph.find(self.graph.node(at), actor).map_or(0, |record| record.choices);
        (0..choices).for_each(|index| self.take(at, actor, index));
        if !self.graph.node(at).is_partial() {
            self.snapshots.remove(at);
        }
    }

    /// The edge is added after the successor: `arrive` may add states, but never touches this one.
    fn take(&mut self, at: u32, actor: u32, index: u32) {
        let choice = Choice { actor: self.graph.actors.number(actor), index };
        let Some(taken) = self.execute(at, actor, choice) else { return };
        let fatal = taken.is_fatal();
        let Taken { reached, accesses, failure, progress, visible } = taken;
        let mover = self.graph.find(self.graph.node(at), actor).expect("an actor that moves exists");
        let locks = self.graph.footprints.locks_of(mover.pending);
        let set = self.graph.footprints.intern(actor, locks, &accesses);
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.fail(FoundAt { failure, at, choice: Some(choice), fingerprint: reached.fingerprint });
        }
        // C2. A fatal step prevents all others, so none of them is independent of it.
        let obeys = self.options.mode.parts().is_none_or(|parts| parts.fatal);
        self.graph.node_mut(at).expand_fully |= (fatal || visible) && obeys;
        let to = self.arrive(reached, Some(Incoming { at, choice, actor, set }), fatal);
        let ends = self.graph.ends_others(at, actor, to);
        self.graph.connect(at, Edge { index, actor, set, to, progress, failed, ends });
        self.steps += 1;
    }

    fn execute(&mut self, at: u32, actor: u32, choice: Choice) -> Option<Step<T::State>> {
        if let Some(tried) = self.trials.take(at, actor, choice.index) {
            let is_known =
                |tried: &Step<T::State>| self.ids.contains_key(&(tried.reached.fingerprint, tried.is_fatal()));
            if tried.reached.state.is_some() || is_known(&tried) {
                return Some(tried);
            }
            // A trial without successor is executed again, and counted once.
            self.executed -= 1;
        }
        let state = self.state_of(at)?;
        let records: SmallVec<[ActorRecord; 16]> = self.graph.actors_at(at).copied().collect();
        let surroundings = Surroundings { mover: actor, records: &records, unknown: Bits::EMPTY };
        self.step_with(&state, choice, surroundings, false)
    }

    pub(super) fn fail(&mut self, found: FoundAt) {
        let key = |found: &FoundAt| (found.failure.kind, found.failure.message.clone());
        if !self.found.iter().any(|known| key(known) == key(&found)) {
            self.found.push(found);
        }
    }

    /// The number of a state, which is added if it is new. No actor is enabled after a fatal failure.
    ///
    /// **Invariant:** a state is in `ids` before its actors are computed, so that trials which lead
    /// back to it find it.
    fn arrive(&mut self, mut reached: Reached<Option<T::State>>, incoming: Option<Incoming>, fatal: bool) -> u32 {
        let key = (reached.fingerprint, fatal);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        if fatal {
            reached.actors.clear();
            reached.stuck = None;
        }
        let id = self.graph.nodes.len() as u32;
        self.ids.insert(key, id);
        if let Some(workers) = self.workers.as_ref().filter(|_| !fatal) {
            let mut known = workers.known.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(reached.fingerprint, Standing::Stored);
        }
        let is_end = reached.is_end();
        let NewActors { records, unchanged, failing } = self.actors_of(id, &reached, incoming);
        self.lookahead.remove(&reached.fingerprint);
        self.races.compare_all(id, &records, unchanged, &self.graph.footprints);
        let depth = incoming.map_or(0, |incoming| self.graph.node(incoming.at).depth + 1);
        let enabled = records.iter().filter(|record| record.choices > 0).map(|record| record.actor).collect();
        let actors = (self.graph.records.add(&records), enabled);
        let parent = incoming.map(|incoming| (incoming.at, incoming.choice));
        let mut node = Node { valuation: reached.valuation, ..Node::new(reached.fingerprint, actors, parent, depth) };
        if is_end {
            node.end = match (fatal, &reached.stuck) {
                (true, _) => End::Failed,
                (false, Some(_)) => End::Stuck,
                (false, None) => End::Good,
            };
        }
        if !node.enabled.is_empty() {
            let state = reached.state.take().expect("a state that is not stored is computed");
            self.snapshots.insert(id, depth, state);
        }
        let added = self.graph.add(node, incoming.map(|incoming| incoming.actor));
        assert_eq!(added, id, "a state has the number under which it is found");
        if let Some(failure) = reached.stuck.filter(|_| is_end) {
            self.fail(FoundAt { failure, at: id, choice: None, fingerprint: reached.fingerprint });
        }
        // A step that fails in a trial is explored: the graph has to show the failure.
        let node = self.graph.node_mut(id);
        node.todo = node.todo.union(failing.intersection(node.enabled));
        if !self.graph.node(id).todo.is_empty() {
            self.graph.open.push(id);
        }
        id
    }

    /// A state, executed again from its nearest ancestor with a snapshot; nothing if the system takes no more steps.
    ///
    /// Executing at most [`super::snapshot_cache`]'s 64 steps again, since every 64th depth is
    /// pinned. Snapshots of a whole graph would not fit into memory.
    pub(super) fn state_of(&mut self, at: u32) -> Option<T::State> {
        let (mut path, mut from) = (Vec::new(), at);
        let mut state = loop {
            if let Some(state) = self.snapshots.get(from) {
                break state.clone();
            }
            let Some((before, choice)) = self.graph.node(from).parent else { break self.system.initial().state };
            path.push((from, choice));
            from = before;
        };
        for (to, choice) in path.into_iter().rev() {
            self.executed += 1;
            self.counts.again += 1;
            state = self.system.step(&state, choice)?.reached.state;
            // The search often goes on with the ancestors of a state that it comes back to.
            if to == at || self.graph.node(to).is_partial() {
                self.snapshots.insert(to, self.graph.node(to).depth, state.clone());
            }
        }
        Some(state)
    }
}
