//! Emptiness of the product, by Couvreur's algorithm: one depth-first search that merges strongly connected components and
//! collects the acceptance sets of each.
//!
//! **Invariant:** `components` are the components of the search path, by ascending roots; a state with an order number at least
//! that of a root and not dead belongs to that component or a later one. `inside` has all marks of the explored edges between
//! states of the component. A dead state has no accepted run.
//!
//! Couvreur (FM 1999), in the form of Couvreur, Duret-Lutz and Poitrenaud (SPIN 2005). Preferred to
//! nested depth-first search (SPIN's) because it handles several acceptance sets without
//! degeneralising, which is how weak fairness costs one mark per actor instead of a copy of the
//! product, and because it ends as soon as the component that is being built is accepting.
//!
//! Example: path s0, s1, s2 with an edge s2 -> s1 that carries mark {0}. The edge leads back to s1,
//! whose component is on the stack: components of s1 and s2 merge, `inside` becomes {0} and the
//! marks of s1 -> s2. If that is all that is required, the search ends with the component of s1;
//! [`super::lasso`] makes a cycle of it.

use super::graph::{Edge, Graph, Marks, Stop};
use super::product::ProductState;
use super::within::Within;
use crate::search::watch::{Rhythm, Watch};
use crate::search::{Incomplete, Stats};
use crate::store::{Arena, Exhausted, Visited};
use crate::system::{Failure, TransitionSystem};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The order number of states whose component is finished and holds no accepted cycle.
const DEAD: u32 = u32::MAX;

/// What the search ended with.
pub enum Found {
    /// No accepted run among the states searched.
    Nothing,
    /// The component of states whose order number is at least this has an accepted cycle.
    Component(u32),
    /// The state with this number ends a violating prefix.
    Failure(u32, Failure),
}

/// A state on the search path.
struct Frame {
    id: u32,
    /// Where its edges start in `todo`.
    start: usize,
}

/// A component that is still growing.
///
/// Only the marks are kept, not the states: which states belong to it follows from order numbers.
struct Component {
    /// Order number of its first state.
    root: u32,
    /// Marks of the edges inside.
    inside: Marks,
    /// Marks of the edge that led into it.
    entry: Marks,
}

/// Where the search backtracks.
#[derive(Default)]
pub struct Limits {
    /// Length of the search path at which it backtracks; states beyond may be missed.
    pub path: Option<u32>,
    /// States after which it ends. Counted exactly: the outcome must not depend on the machine's speed.
    pub states: Option<u64>,
    /// The states that it may enter, if not all of them.
    pub within: Option<Within>,
}

/// The search.
pub struct Emptiness<'a, 'w, S: TransitionSystem, V: Visited> {
    /// The product.
    pub graph: Graph<'a, S, V>,
    watch: &'w Watch<'w>,
    required: Marks,
    limits: Limits,
    /// When each state was reached, from 1; 0 for states not reached yet.
    pub order: Order,
    frames: Vec<Frame>,
    /// Edges of the frames that have not been taken, those of the last frame at the end.
    todo: Vec<(u32, u32)>,
    components: Vec<Component>,
    /// States of the components, in order.
    live: Vec<u32>,
    names: Names,
    /// Parts of the state space with a violation; `None` if one violation is enough.
    settled: Option<HashSet<u128>>,
    edges: Vec<Edge<ProductState<S::State>>>,
    rhythm: Rhythm,
    /// Counts so far.
    pub stats: Stats,
}

impl<'a, 'w, S: TransitionSystem, V: Visited> Emptiness<'a, 'w, S, V> {
    /// A search for a cycle with all of the `required` marks.
    pub fn new(graph: Graph<'a, S, V>, watch: &'w Watch<'w>, required: Marks, limits: Limits) -> Self {
        Self {
            graph,
            watch,
            required,
            limits,
            order: Order { numbers: Arena::new(1) },
            frames: Vec::new(),
            todo: Vec::new(),
            components: Vec::new(),
            live: Vec::new(),
            names: Names::default(),
            settled: None,
            edges: Vec::new(),
            rhythm: Rhythm::default(),
            stats: Stats { workers: 1, ..Stats::default() },
        }
    }

    /// Searches each part of the state space, see [`Emptiness::resume`].
    pub fn in_each_part(self) -> Self {
        Self { settled: Some(HashSet::new()), ..self }
    }

    /// Whether a violation in each part is wanted.
    pub fn wants_each_part(&self) -> bool {
        self.settled.is_some()
    }

    /// Searches until an accepted run is found, all states are dead, or the watch stops it.
    pub fn run(&mut self) -> Found {
        let found = self.graph.initial().map_err(Stop::Exhausted).and_then(|id| self.enter(id, Marks::NONE));
        let found = found.and_then(|()| self.descend());
        self.found(found)
    }

    /// Goes on after a violation: the next one lies in another part.
    pub fn resume(&mut self) -> Found {
        let found = self.descend();
        self.found(found)
    }

    fn found(&mut self, mut found: Result<Found, Stop>) -> Found {
        while let Err(Stop::Failure(failure)) = found {
            if self.is_first_of_part() {
                found = Ok(Found::Failure(self.here(), failure));
            } else {
                found = self.descend();
            }
        }
        self.stats.steps = self.graph.steps;
        self.stats.reduced = self.graph.reduced;
        found.unwrap_or_else(|stop| {
            match stop {
                Stop::Exhausted(Exhausted::Numbers) => self.watch.stop(Incomplete::StoreFull),
                Stop::Cut => self.watch.cut(0),
                _ => self.watch.stop(Incomplete::Memory),
            }
            Found::Nothing
        })
    }

    /// The state at the end of the search path.
    fn here(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.id)
    }

    /// Which part of the state space the end of the search path lies in.
    pub fn part(&mut self) -> Option<u128> {
        let id = self.here();
        self.graph.part(id)
    }

    /// Whether the violation at the end of the search path is the first one of its part.
    fn is_first_of_part(&mut self) -> bool {
        if self.settled.is_none() {
            return true;
        }
        let part = self.part();
        part.is_none_or(|part| self.settled.as_mut().is_none_or(|settled| settled.insert(part)))
    }

    fn descend(&mut self) -> Result<Found, Stop> {
        while let Some(frame) = self.frames.last() {
            if self.watch.is_stopped() {
                break;
            }
            if self.todo.len() == frame.start {
                self.leave();
                continue;
            }
            let Some((to, name)) = self.todo.pop() else { break };
            let marks = self.names.marks[name as usize];
            match self.order.of(to) {
                0 => match self.limits.cut(self.frames.len(), to) {
                    Some(reason) => self.watch.note(reason),
                    None => self.enter(to, marks)?,
                },
                DEAD => {}
                number => {
                    if self.merge(number, marks) && self.is_first_of_part() {
                        return Ok(Found::Component(self.components.last().map_or(0, |component| component.root)));
                    }
                }
            }
        }
        Ok(Found::Nothing)
    }

    /// Reaches a state for the first time.
    fn enter(&mut self, id: u32, entry: Marks) -> Result<(), Stop> {
        self.stats.states += 1;
        let number = self.stats.states as u32;
        if !self.order.set(id, number) {
            return Err(Stop::Exhausted(Exhausted::Memory));
        }
        self.components.push(Component { root: number, inside: Marks::NONE, entry });
        self.live.push(id);
        self.frames.push(Frame { id, start: self.todo.len() });
        let mut edges = std::mem::take(&mut self.edges);
        let expanded = self.graph.expand(id, &mut edges);
        self.stats.matched += edges.iter().filter(|edge| !edge.new).count() as u64;
        // The last one is taken first: keep the order of choices.
        self.todo.extend(edges.iter().rev().map(|edge| (edge.to, self.names.name(edge.marks))));
        self.edges = edges;
        self.stats.depth_max = self.stats.depth_max.max(self.frames.len() as u32 - 1);
        self.stats.frontier_max = self.stats.frontier_max.max(self.todo.len() as u64);
        if self.rhythm.is_due() {
            self.poll();
        }
        if self.limits.states.is_some_and(|most| self.stats.states >= most) {
            self.watch.stop(Incomplete::StateBound);
        }
        expanded
    }

    /// Closes a cycle back to the state with this order number; whether the component now meets every set.
    ///
    /// Amortised O(1): each component is popped once.
    fn merge(&mut self, number: u32, marks: Marks) -> bool {
        let mut collected = marks;
        while let Some(component) = self.components.pop_if(|component| component.root > number) {
            collected = collected.union(component.inside).union(component.entry);
        }
        self.components.last_mut().is_some_and(|component| {
            component.inside = component.inside.union(collected);
            self.required.minus(component.inside).is_empty()
        })
    }

    /// Goes back from a state all of whose edges have been taken.
    ///
    /// A finished component has no accepted cycle, and neither has anything reachable from it: all
    /// its states are dead.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let number = self.order.of(frame.id);
        if self.components.pop_if(|component| component.root == number).is_some() {
            while let Some(id) = self.live.pop() {
                self.order.set(id, DEAD);
                if id == frame.id {
                    break;
                }
            }
        }
    }

    /// Numbers of the states on the search path.
    pub fn path(&self) -> Vec<u32> {
        self.frames.iter().map(|frame| frame.id).collect()
    }

    fn poll(&mut self) {
        let bytes = self.bytes_beside_store();
        self.graph.session.reserved = bytes;
        self.watch.states.store(self.stats.states, Relaxed);
        self.watch.steps.store(self.graph.steps, Relaxed);
        self.watch.frontier.store(self.todo.len() as u64, Relaxed);
        self.watch.depth.store(self.frames.len() as u32, Relaxed);
        self.watch.bytes_frontier.store(bytes, Relaxed);
        self.stats.bytes_total = self.stats.bytes_total.max(bytes);
        self.watch.poll(self.graph.session.bytes());
    }

    /// Memory of order numbers and stacks.
    pub fn bytes_beside_store(&self) -> u64 {
        let stacks = self.frames.len() * 16 + self.todo.len() * 8 + self.live.len() * 4;
        stacks as u64 + self.stats.states * 4
    }
}

impl Limits {
    /// Why a state that would become the next on a search path of this length is not entered.
    fn cut(&self, path: usize, to: u32) -> Option<Incomplete> {
        if self.within.as_ref().is_some_and(|within| !within.has(to)) {
            return Some(Incomplete::DepthBound);
        }
        self.path.is_some_and(|most| path as u64 > u64::from(most)).then_some(Incomplete::TurnedBack)
    }
}

/// When each state was reached.
pub struct Order {
    numbers: Arena<AtomicU32>,
}

impl Order {
    /// 0 for states not reached yet.
    pub fn of(&self, id: u32) -> u32 {
        self.numbers.try_word(id, 0).map_or(0, |number| number.load(Relaxed))
    }

    fn set(&self, id: u32, number: u32) -> bool {
        let provided = self.numbers.provide(id);
        if provided {
            self.numbers.word(id, 0).store(number, Relaxed);
        }
        provided
    }

    /// Whether a state belongs to the unfinished component that starts at `root`.
    pub fn is_in(&self, id: u32, root: u32) -> bool {
        (root..DEAD).contains(&self.of(id))
    }
}

/// Short names for sets of marks, of which there are few.
#[derive(Default)]
struct Names {
    marks: Vec<Marks>,
    names: HashMap<Marks, u32>,
}

impl Names {
    fn name(&mut self, marks: Marks) -> u32 {
        *self.names.entry(marks).or_insert_with(|| {
            self.marks.push(marks);
            self.marks.len() as u32 - 1
        })
    }
}
