//! The search: take what is to be taken, see what it means for the states before, until nothing is left.

use super::bounded;
use super::footprint_table::FootprintId;
use super::kept::{States, TrialCache};
use super::node::{Edge, End, Node};
use super::options::{Limits, Mode, Options, Stopped};
use super::present::Present;
use super::race::Races;
use super::report::{Counts, Report};
use super::state_graph::StateGraph;
use super::workers::{Ahead, Crew, Standing};
use super::{FootprintSystem, Reached, Step, Taken, graph_report};
use crate::bits::Bits;
use crate::system::Failure;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::PoisonError;
use trace::Choice;

/// Searches until nothing is left, or a limit is reached.
pub fn search<T: FootprintSystem>(system: &mut T, mode: Mode, limits: &mut Limits<'_>) -> Report {
    search_with(system, Options::new(mode), limits)
}

/// The same with more to say about it.
pub fn search_with<T: FootprintSystem>(system: &mut T, options: Options, limits: &mut Limits<'_>) -> Report {
    search_in(system, options, limits, None)
}

/// The same, perhaps with others who take steps.
pub fn search_in<'s, T: FootprintSystem>(
    system: &'s mut T,
    options: Options,
    limits: &mut Limits<'_>,
    crew: Option<Crew<'s, T::State>>,
) -> Report {
    let mut search = Search::new(system, options, crew);
    let initial = search.system.initial();
    search.arrive(initial.map(Some), None, false);
    let stopped = match options.mode {
        Mode::Bounded(bound) => bounded::run(&mut search, bound, limits),
        _ => search.run(limits),
    };
    graph_report::report(&search, stopped)
}

/// A step on its way into the graph: from where, who, what it touched.
#[derive(Clone, Copy)]
pub struct By {
    pub(super) at: u32,
    choice: Choice,
    pub(super) actor: u32,
    pub(super) set: FootprintId,
}

/// A failure, and where it was met.
pub(super) struct FoundAt {
    pub failure: Failure,
    /// The state in which nobody can move, or from which a step fails.
    pub at: u32,
    /// The step.
    pub choice: Option<Choice>,
    /// Where it leads.
    pub fingerprint: u128,
}

/// A search under way.
pub struct Search<'a, T: FootprintSystem> {
    pub(super) system: &'a mut T,
    pub(super) options: Options,
    pub(super) graph: StateGraph,
    pub(super) ids: FxHashMap<(u128, bool), u32>,
    pub(super) states: States<T::State>,
    pub(super) trials: TrialCache<T::State>,
    /// Next steps that somebody else has tried in states that are about to be reached.
    pub(super) ahead: HashMap<u128, Vec<Ahead<T::State>>>,
    /// Others who take steps.
    pub(super) crew: Option<Crew<'a, T::State>>,
    /// States whose steps were posted to them.
    pub(super) posted: FxHashSet<u32>,
    pub(super) races: Races,
    pub(super) found: Vec<FoundAt>,
    pub(super) too_many_actors: bool,
    pub(super) steps: u64,
    pub(super) executed: u64,
    pub(super) counts: Counts,
}

impl<'a, T: FootprintSystem> Search<'a, T> {
    fn new(system: &'a mut T, options: Options, crew: Option<Crew<'a, T::State>>) -> Self {
        Self {
            system,
            options,
            graph: StateGraph::new(options.mode.parts()),
            ids: FxHashMap::default(),
            states: States::new(options.kept),
            trials: TrialCache::new(options.tried),
            ahead: HashMap::new(),
            crew,
            posted: FxHashSet::default(),
            races: Races::default(),
            found: Vec::new(),
            too_many_actors: false,
            steps: 0,
            executed: 0,
            counts: Counts::default(),
        }
    }

    /// Nothing if nothing was left to do.
    fn run(&mut self, limits: &mut Limits<'_>) -> Option<Stopped> {
        loop {
            while let Some(at) = self.graph.open.pop() {
                self.hear(at);
                self.expand(at);
                self.graph.look_back(at);
                self.post();
                let stopped = self.stopped(limits);
                if stopped.is_some() {
                    return stopped;
                }
                if self.graph.open.is_empty() {
                    self.graph.settle();
                }
            }
            if !self.graph.break_cycles() && !self.graph.let_last_move() {
                return None;
            }
        }
    }

    /// Whether a limit is reached.
    pub(super) fn stopped(&self, limits: &mut Limits<'_>) -> Option<Stopped> {
        let states = self.graph.nodes.len();
        let polled = states.is_multiple_of(1024);
        match () {
            () if self.too_many_actors => Some(Stopped::Actors),
            () if self.found.len() >= limits.failures => Some(Stopped::Failures),
            () if states >= limits.states => Some(Stopped::States),
            () if polled && self.graph.bytes() > self.options.bytes => Some(Stopped::Memory),
            () if (limits.stop)(states as u64, self.executed) => Some(Stopped::Asked),
            () => None,
        }
    }

    /// Takes the steps that are to be taken in a state.
    fn expand(&mut self, at: u32) {
        let node = self.graph.node_mut(at);
        let todo = std::mem::replace(&mut node.todo, Bits::EMPTY).minus(node.done);
        todo.iter().for_each(|actor| self.take_all(at, actor));
    }

    /// Takes all choices of an actor.
    pub(super) fn take_all(&mut self, at: u32, actor: u32) {
        self.graph.node_mut(at).done.insert(actor);
        let choices = self.graph.find(self.graph.node(at), actor).map_or(0, |present| present.choices);
        (0..choices).for_each(|index| self.take(at, actor, index));
        if !self.graph.node(at).is_partial() {
            self.states.drop(at);
        }
    }

    fn take(&mut self, at: u32, actor: u32, index: u32) {
        let choice = Choice { actor: self.graph.actors.number(actor), index };
        let Some(taken) = self.execute(at, actor, choice) else { return };
        let fatal = taken.is_fatal();
        let Taken { reached, accesses, failure, progress, visible } = taken;
        let mover = self.graph.find(self.graph.node(at), actor);
        let locks = mover.map(|present| self.graph.accesses.locks_of(present.pending));
        let set = self.graph.accesses.intern(actor, locks.expect("who moves is there"), &accesses);
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.fail(FoundAt { failure, at, choice: Some(choice), fingerprint: reached.fingerprint });
        }
        let obeys = self.options.mode.parts().is_none_or(|parts| parts.fatal);
        self.graph.node_mut(at).whole |= (fatal || visible) && obeys;
        let to = self.arrive(reached, Some(By { at, choice, actor, set }), fatal);
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
            // It was only tried, and counts once.
            self.executed -= 1;
        }
        let state = self.state_of(at)?;
        let present: SmallVec<[Present; 16]> = self.graph.everybody(at).copied().collect();
        self.step_with(&state, choice, (actor, &present, Bits::EMPTY), false)
    }

    pub(super) fn fail(&mut self, found: FoundAt) {
        let key = |found: &FoundAt| (found.failure.kind, found.failure.message.clone());
        if !self.found.iter().any(|known| key(known) == key(&found)) {
            self.found.push(found);
        }
    }

    /// The number of a state, new or known. Nobody moves after a fatal failure.
    fn arrive(&mut self, mut reached: Reached<Option<T::State>>, by: Option<By>, fatal: bool) -> u32 {
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
        if let Some(crew) = self.crew.as_ref().filter(|_| !fatal) {
            crew.known.write().unwrap_or_else(PoisonError::into_inner).insert(reached.fingerprint, Standing::Stored);
        }
        let (present, stay, failing) = self.present(id, &reached, by);
        self.ahead.remove(&reached.fingerprint);
        self.races.look(id, &present, stay, &self.graph.accesses);
        let depth = by.map_or(0, |by| self.graph.node(by.at).depth + 1);
        let enabled = present.iter().filter(|present| present.choices > 0).map(|present| present.actor).collect();
        let everybody = (self.graph.presents.add(&present), enabled);
        let mut node = Node::new(reached.fingerprint, everybody, by.map(|by| (by.at, by.choice)), depth);
        if node.enabled.is_empty() {
            node.end = match (fatal, &reached.stuck) {
                (true, _) => End::Failed,
                (false, Some(_)) => End::Stuck,
                (false, None) => End::Good,
            };
        } else {
            self.states.put(id, depth, reached.state.take().expect("a state that nobody knows is worked out"));
        }
        self.graph.add(node, by.map(|by| by.actor));
        if let Some(failure) = reached.stuck.filter(|_| self.graph.node(id).enabled.is_empty()) {
            self.fail(FoundAt { failure, at: id, choice: None, fingerprint: reached.fingerprint });
        }
        // A step that fails when it is tried is taken: nobody's order may hide it.
        let node = self.graph.node_mut(id);
        node.todo = node.todo.union(failing.intersection(node.enabled));
        if !self.graph.node(id).todo.is_empty() {
            self.graph.open.push(id);
        }
        id
    }

    /// The state itself, reached again from the nearest one that is kept; nothing if the system takes no more steps.
    pub(super) fn state_of(&mut self, at: u32) -> Option<T::State> {
        let (mut way, mut from) = (Vec::new(), at);
        let mut state = loop {
            if let Some(state) = self.states.get(from) {
                break state.clone();
            }
            let Some((before, choice)) = self.graph.node(from).parent else { break self.system.initial().state };
            way.push((from, choice));
            from = before;
        };
        for (to, choice) in way.into_iter().rev() {
            self.executed += 1;
            self.counts.again += 1;
            state = self.system.step(&state, choice)?.reached.state;
            // Whoever comes back to a state comes back to the one before it next.
            if to == at || self.graph.node(to).is_partial() {
                self.states.put(to, self.graph.node(to).depth, state.clone());
            }
        }
        Some(state)
    }
}
