//! The fixpoint: take what is to be taken, see what it means for the states before, until nothing is left.

use super::future::{FutureId, Futures, NOTHING};
use super::node::{Edge, Node, Present};
use super::path::fewest_switches;
use super::race::Races;
use super::touch::{Actors, SetId, Touches};
use super::{Actor, Race, Reached, Taken, Touch, Traced};
use crate::bits::Bits;
use crate::system::Failure;
use std::collections::HashMap;
use trace::Choice;

/// Which steps are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Enough to find every deadlock and every failed step.
    Reduced,
    /// All.
    Full,
}

/// Where to stop.
pub struct Limits<'a> {
    /// States.
    pub states: usize,
    /// Failures of different kinds or messages.
    pub failures: usize,
    /// Asked now and then with states and steps so far; true stops.
    pub stop: &'a mut dyn FnMut(u64, u64) -> bool,
}

/// Something wrong, and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What.
    pub failure: Failure,
    /// Choices from the start; the last one fails, or leads to the state in which nobody can move.
    pub schedule: Vec<Choice>,
}

/// What a search has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Everything wrong, each once.
    pub found: Vec<Found>,
    /// Races that were met.
    pub races: Vec<Race>,
    /// States.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Steps executed, to look ahead and to come back included.
    pub executed: u64,
    /// The longest way to a state.
    pub depth_max: u32,
    /// Whether everything was seen that had to be.
    pub complete: bool,
    /// Fingerprints of states in which nobody can move, sorted.
    pub ends: Vec<u128>,
}

/// States that are kept whole; others are reached again from one of them.
const KEPT_MAX: usize = 20_000;
/// States this far apart are kept in any case.
const KEPT_EVERY: u32 = 64;

/// Searches until nothing is left, or a limit is reached.
pub fn search<T: Traced>(system: &mut T, mode: Mode, limits: &mut Limits<'_>) -> Report {
    let mut search = Search::new(system, mode);
    let initial = search.system.initial();
    search.arrive(initial, None);
    let complete = search.run(limits);
    search.report(complete)
}

struct Search<'a, T: Traced> {
    system: &'a mut T,
    mode: Mode,
    nodes: Vec<Node<T::State>>,
    ids: HashMap<u128, u32>,
    touches: Touches,
    futures: Futures,
    actors: Actors,
    creators: HashMap<u32, u32>,
    races: Races,
    /// States with steps to take; the last is next.
    open: Vec<u32>,
    /// States whose future grew.
    grown: Vec<u32>,
    kept: std::collections::VecDeque<u32>,
    found: Vec<(Failure, u32, Option<Choice>)>,
    ends: Vec<u128>,
    too_many_actors: bool,
    steps: u64,
    executed: u64,
}

impl<'a, T: Traced> Search<'a, T> {
    fn new(system: &'a mut T, mode: Mode) -> Self {
        Self {
            system,
            mode,
            nodes: Vec::new(),
            ids: HashMap::new(),
            touches: Touches::default(),
            futures: Futures::default(),
            actors: Actors::default(),
            creators: HashMap::new(),
            races: Races::default(),
            open: Vec::new(),
            grown: Vec::new(),
            kept: std::collections::VecDeque::new(),
            found: Vec::new(),
            ends: Vec::new(),
            too_many_actors: false,
            steps: 0,
            executed: 0,
        }
    }

    /// True if nothing was left to do.
    fn run(&mut self, limits: &mut Limits<'_>) -> bool {
        loop {
            while let Some(node) = self.open.pop() {
                self.expand(node);
                let enough = self.found.len() >= limits.failures || self.nodes.len() >= limits.states;
                if enough || self.too_many_actors || (limits.stop)(self.nodes.len() as u64, self.executed) {
                    return false;
                }
                if self.open.is_empty() {
                    self.settle();
                }
            }
            if !self.break_cycles() {
                return true;
            }
        }
    }

    /// Takes the steps that are to be taken in a state.
    fn expand(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        let todo = std::mem::replace(&mut node.todo, Bits::EMPTY).minus(node.done);
        if todo.is_empty() {
            return;
        }
        let state = self.state_of(at);
        for actor in todo.iter() {
            self.nodes[at as usize].done.insert(actor);
            let choices = self.nodes[at as usize].find(actor).map_or(0, |present| present.choices);
            for index in 0..choices {
                self.take(at, &state, actor, index);
            }
        }
        if !self.nodes[at as usize].is_partial() {
            self.nodes[at as usize].state = None;
        }
        self.look_back(at);
    }

    fn take(&mut self, at: u32, state: &T::State, actor: u32, index: u32) {
        let choice = Choice { actor: self.actors.number(actor), index };
        self.executed += 1;
        let Some(Taken { reached, touches, failure, .. }) = self.system.step(state, choice) else { return };
        let set = self.touches.intern(actor, touches);
        let fatal = failure.as_ref().is_some_and(|failure| failure.fatal);
        if let Some(failure) = failure {
            self.fail(failure, at, Some(choice));
        }
        let mut reached = reached;
        if fatal {
            reached.actors.clear();
            reached.stuck = None;
        }
        let to = self.arrive(reached, Some((at, choice, actor, set)));
        self.nodes[at as usize].edges.push(Edge { choice, actor, set, to });
        self.steps += 1;
        if !self.nodes[to as usize].before.contains(&at) {
            self.nodes[to as usize].before.push(at);
        }
    }

    fn fail(&mut self, failure: Failure, at: u32, choice: Option<Choice>) {
        let known = |(other, ..): &(Failure, u32, Option<Choice>)| {
            other.kind == failure.kind && other.message == failure.message
        };
        if !self.found.iter().any(known) {
            self.found.push((failure, at, choice));
        }
    }

    /// The number of a state, new or known.
    fn arrive(&mut self, reached: Reached<T::State>, by: Option<(u32, Choice, u32, SetId)>) -> u32 {
        if let Some(id) = self.ids.get(&reached.fingerprint) {
            return *id;
        }
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 states");
        self.ids.insert(reached.fingerprint, id);
        let present = self.present(&reached, by);
        let depth = by.map_or(0, |(at, ..)| self.nodes[at as usize].depth + 1);
        let parent = by.map(|(at, choice, ..)| (at, choice));
        self.races.look(&present, &self.touches);
        let node = Node::new(present, parent, depth, reached.state);
        let nobody = node.enabled.is_empty();
        self.nodes.push(node);
        self.keep(id, depth);
        if nobody {
            self.ends.push(reached.fingerprint);
            if let Some(failure) = reached.stuck {
                self.fail(failure, id, None);
            }
        }
        self.begin(id, by.map(|(_, _, actor, _)| actor));
        id
    }

    /// Everybody in a state, with what their next steps touch.
    fn present(&mut self, reached: &Reached<T::State>, by: Option<(u32, Choice, u32, SetId)>) -> Vec<Present> {
        let mut present = Vec::new();
        for actor in &reached.actors {
            let Some(dense) = self.actors.dense(actor.number) else {
                self.too_many_actors = true;
                continue;
            };
            let creator = self.actors.dense(actor.creator).unwrap_or(dense);
            self.creators.insert(dense, creator);
            let behind = actor.behind.and_then(|behind| self.actors.dense(behind));
            let pending = self.pending(reached, actor, dense, by);
            present.push(Present { actor: dense, choices: actor.choices, pending, behind });
        }
        present
    }

    /// What somebody is about to touch.
    ///
    /// A step that does not conflict with it has not changed it; otherwise the step is tried.
    fn pending(
        &mut self,
        reached: &Reached<T::State>,
        actor: &Actor,
        dense: u32,
        by: Option<(u32, Choice, u32, SetId)>,
    ) -> SetId {
        if actor.choices == 0 {
            let awaits = actor.awaits.iter().map(|object| Touch { object: *object, write: false, plain: false });
            return self.touches.intern(dense, awaits.collect());
        }
        if let Some((at, _, mover, set)) = by
            && mover != dense
            && let Some(before) = self.nodes[at as usize].find(dense).copied()
            && before.choices == actor.choices
            && !self.touches.conflict(set, before.pending)
        {
            return before.pending;
        }
        let mut all = Vec::new();
        for index in 0..actor.choices {
            self.executed += 1;
            if let Some(taken) = self.system.step(&reached.state, Choice { actor: actor.number, index }) {
                all.extend(taken.touches);
            }
        }
        self.touches.intern(dense, all)
    }

    /// Decides what to take first in a new state: the one who moved last, if it can go on.
    fn begin(&mut self, id: u32, last: Option<u32>) {
        self.nodes[id as usize].future = self.own_future(id);
        let node = &mut self.nodes[id as usize];
        node.todo = match self.mode {
            Mode::Full => node.enabled,
            Mode::Reduced => {
                let first = last.filter(|last| node.enabled.contains(*last)).or_else(|| node.enabled.iter().next());
                first.map_or(Bits::EMPTY, Bits::one)
            }
        };
        if !node.todo.is_empty() {
            self.open.push(id);
        }
    }

    /// What is about to happen in a state, and what its own steps touched.
    fn own_future(&mut self, id: u32) -> FutureId {
        let node = &self.nodes[id as usize];
        let pending = node.present.iter().map(|present| present.pending);
        let sets: Vec<SetId> = pending.chain(node.edges.iter().map(|edge| edge.set)).collect();
        let accesses: Vec<u32> = sets.iter().flat_map(|set| self.touches.shared(*set)).copied().collect();
        self.futures.with(NOTHING, &accesses)
    }

    /// A state has new steps: its future has grown, and so have those before it.
    fn look_back(&mut self, at: u32) {
        if self.mode == Mode::Full {
            return;
        }
        self.grown.push(at);
        self.propagate();
    }

    fn propagate(&mut self) {
        while let Some(at) = self.grown.pop() {
            let mut future = self.own_future(at);
            future = self.futures.union(future, self.nodes[at as usize].future);
            for index in 0..self.nodes[at as usize].edges.len() {
                let to = self.nodes[at as usize].edges[index].to;
                future = self.futures.union(future, self.nodes[to as usize].future);
            }
            let changed = future != self.nodes[at as usize].future;
            self.nodes[at as usize].future = future;
            self.check(at);
            if changed {
                self.grown.extend_from_slice(&self.nodes[at as usize].before);
            }
        }
    }

    /// Condition C1': whoever could come first and matter is taken, too.
    fn check(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        if !node.is_partial() {
            return;
        }
        let mut more = Bits::EMPTY;
        for edge in &node.edges {
            for access in self.futures.iter(self.nodes[edge.to as usize].future) {
                let actor = self.touches.access(access).actor;
                if !node.done.contains(actor) && self.touches.meets(edge.set, access) {
                    more = more.union(self.needed(node, actor));
                }
            }
        }
        let node = &mut self.nodes[at as usize];
        let more = more.minus(node.done);
        if !more.minus(node.todo).is_empty() {
            node.todo = node.todo.union(more);
            self.open.push(at);
        }
    }

    /// Who must be taken so that `actor` can come first: itself, whoever it waits for, or whoever creates it.
    fn needed(&self, node: &Node<T::State>, mut actor: u32) -> Bits {
        for _ in 0..=self.creators.len() {
            if node.done.contains(actor) {
                return Bits::EMPTY;
            }
            if node.enabled.contains(actor) {
                return Bits::one(actor);
            }
            let next = match node.find(actor) {
                Some(present) => present.behind,
                None => self.creators.get(&actor).copied().filter(|creator| *creator != actor),
            };
            match next {
                Some(next) => actor = next,
                None => break,
            }
        }
        node.enabled
    }

    /// Objects that turned out to be shared change what earlier steps mean.
    fn settle(&mut self) {
        if self.mode == Mode::Reduced && self.touches.take_grown() {
            self.grown.extend(0..self.nodes.len() as u32);
            self.propagate();
        }
    }

    /// Condition C3: a cycle of partly expanded states gets one that is expanded fully. True if there was one.
    fn break_cycles(&mut self) -> bool {
        let cycles = super::path::cycles(&self.nodes);
        for at in &cycles {
            let node = &mut self.nodes[*at as usize];
            node.todo = node.enabled.minus(node.done);
            self.open.push(*at);
        }
        !cycles.is_empty()
    }

    fn keep(&mut self, id: u32, depth: u32) {
        if depth.is_multiple_of(KEPT_EVERY) {
            return;
        }
        self.kept.push_back(id);
        if self.kept.len() > KEPT_MAX
            && let Some(old) = self.kept.pop_front()
        {
            self.nodes[old as usize].state = None;
        }
    }

    /// The state itself, reached again from the nearest one that was kept.
    fn state_of(&mut self, at: u32) -> T::State {
        let mut way = Vec::new();
        let mut from = at;
        while self.nodes[from as usize].state.is_none() {
            match self.nodes[from as usize].parent {
                Some((before, choice)) => {
                    way.push(choice);
                    from = before;
                }
                None => break,
            }
        }
        let mut state = match &self.nodes[from as usize].state {
            Some(state) => state.clone(),
            None => self.system.initial().state,
        };
        for choice in way.into_iter().rev() {
            self.executed += 1;
            state = self.system.step(&state, choice).expect("what was done can be done again").reached.state;
        }
        state
    }

    fn report(self, complete: bool) -> Report {
        let found = self.found.iter().map(|(failure, at, choice)| {
            let mut schedule = fewest_switches(&self.nodes, *at);
            schedule.extend(choice);
            Found { failure: failure.clone(), schedule }
        });
        let race = |race: &Race| Race {
            one: (self.actors.number(race.one.0), race.one.1),
            other: (self.actors.number(race.other.0), race.other.1),
            ..*race
        };
        let mut ends = self.ends.clone();
        ends.sort_unstable();
        Report {
            found: found.collect(),
            races: self.races.found.iter().map(race).collect(),
            states: self.nodes.len() as u64,
            steps: self.steps,
            executed: self.executed,
            depth_max: self.nodes.iter().map(|node| node.depth).max().unwrap_or(0),
            complete,
            ends,
        }
    }
}
