//! The product as a graph: numbered states, and edges with marks of acceptance sets.

use super::Fairness;
use super::monitor::Monitor;
use super::product::{Product, ProductState, STUTTER};
use crate::bits::Bits;
use crate::patience::Patience;
use crate::reduce::Reducer;
use crate::search::session::Session;
use crate::store::{Exhausted, Visited};
use crate::system::{Failure, Selection, TransitionSystem};
use std::collections::HashMap;
use std::ops::ControlFlow;
use trace::Choice;

/// Acceptance sets: the monitor's, and one for each actor that must be treated fairly.
///
/// Transition-based generalised Büchi acceptance: a run is accepted if it takes edges of every set
/// infinitely often. Fairness is one more set for each actor: an edge is in it if the actor moves
/// or is disabled before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Marks {
    monitor: u64,
    fair: Bits,
}

impl Marks {
    /// No set.
    pub const NONE: Self = Self { monitor: 0, fair: Bits::EMPTY };

    /// Every set that an accepted cycle must meet.
    pub fn required(monitor: &Monitor, fairness: Fairness) -> Self {
        let fair = if fairness == Fairness::Weak { Bits::ALL } else { Bits::EMPTY };
        Self { monitor: monitor.all_marks(), fair }
    }

    /// The union.
    pub fn union(self, other: Self) -> Self {
        Self { monitor: self.monitor | other.monitor, fair: self.fair.union(other.fair) }
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Self {
        Self { monitor: self.monitor & !other.monitor, fair: self.fair.minus(other.fair) }
    }

    /// Whether the two share a set.
    pub fn meets(&self, other: &Self) -> bool {
        self.monitor & other.monitor != 0 || self.fair.meets(&other.fair)
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.monitor == 0 && self.fair.is_empty()
    }
}

/// An edge of the graph.
pub struct Edge<S> {
    /// Its successor.
    pub to: u32,
    /// Whether that is new.
    pub new: bool,
    /// Its choice.
    pub choice: Choice,
    /// Its acceptance sets.
    pub marks: Marks,
    /// The successor, if the store cannot restore it.
    pub state: Option<S>,
}

/// Why a state could not be expanded.
pub enum Stop {
    /// The store cannot take another state.
    Exhausted(Exhausted),
    /// The prefix violates the property already.
    Failure(Failure),
    /// A step was cut.
    Cut,
}

/// The product as a graph.
pub struct Graph<'a, S: TransitionSystem, V: Visited> {
    product: &'a Product<'a, S>,
    /// The store.
    pub session: Session<'a, V>,
    scratch: <Product<'a, S> as TransitionSystem>::Scratch,
    reducer: Option<Reducer>,
    fairness: Fairness,
    /// Room to restore a state into.
    spare: Option<ProductState<S::State>>,
    /// States that are reached and not expanded, if the store cannot restore them.
    waiting: HashMap<u32, ProductState<S::State>>,
    /// Steps computed.
    pub steps: u64,
    /// States expanded in part.
    pub reduced: u64,
}

impl<'a, S: TransitionSystem, V: Visited> Graph<'a, S, V> {
    /// A graph of which nothing is known yet.
    pub fn new(
        product: &'a Product<'a, S>,
        session: Session<'a, V>,
        reducer: Option<Reducer>,
        fairness: Fairness,
    ) -> Self {
        let mut scratch = product.scratch();
        let spare = Some(product.initial(&mut scratch));
        let waiting = HashMap::new();
        Self { product, session, scratch, reducer, fairness, spare, waiting, steps: 0, reduced: 0 }
    }

    /// The number of the initial state.
    pub fn initial(&mut self) -> Result<u32, Exhausted> {
        let state = self.initial_state();
        let visit = self.session.visit(self.product.key(&state))?;
        if !V::RESTORES {
            self.waiting.insert(visit.id, state);
        }
        Ok(visit.id)
    }

    /// Keeps a state that will be expanded later, if the store cannot restore it.
    pub fn keep(&mut self, id: u32, state: &ProductState<S::State>) {
        if !V::RESTORES {
            self.waiting.insert(id, state.clone());
        }
    }

    /// The initial state.
    pub fn initial_state(&mut self) -> ProductState<S::State> {
        self.product.initial(&mut self.scratch)
    }

    /// The edges of a state that the search reaches for the first time.
    pub fn expand(&mut self, id: u32, edges: &mut Vec<Edge<ProductState<S::State>>>) -> Result<(), Stop> {
        let state = if V::RESTORES {
            self.restore(id)
        } else {
            self.waiting.remove(&id).expect("a state waits from when it is reached until it is expanded")
        };
        let expanded = self.edges_of(&state, edges);
        self.spare = Some(state);
        expanded?;
        for edge in edges.iter_mut().filter(|edge| edge.new && !V::RESTORES) {
            if let Some(state) = edge.state.take() {
                self.waiting.insert(edge.to, state);
            }
        }
        Ok(())
    }

    /// The edges of any state, each with the state it leads to.
    ///
    /// The reducer is asked for product states, so that visibility is relative to what the monitor
    /// reads.
    pub fn edges_of(
        &mut self,
        state: &ProductState<S::State>,
        edges: &mut Vec<Edge<ProductState<S::State>>>,
    ) -> Result<(), Stop> {
        edges.clear();
        let selection = match &mut self.reducer {
            Some(reducer) => reducer.select(self.product, &mut self.scratch, state),
            None => Selection::All,
        };
        self.reduced += u64::from(selection != Selection::All);
        let idle = match self.fairness {
            Fairness::Off => Bits::EMPTY,
            Fairness::Weak => Bits::ALL.minus(self.product.enabled(&mut self.scratch, state)),
        };
        let (product, fairness, session, steps) = (self.product, self.fairness, &mut self.session, &mut self.steps);
        let mut stop = None;
        product.steps(&mut self.scratch, state, selection, &mut |step| {
            *steps += 1;
            if let Some(failure) = step.failure {
                stop = Some(Stop::Failure(failure.clone()));
                return ControlFlow::Break(());
            }
            let fair = match fairness {
                Fairness::Off => Bits::EMPTY,
                // No actor is enabled, so none is treated unfairly.
                Fairness::Weak if step.choice.actor == STUTTER => Bits::ALL,
                Fairness::Weak => idle.union(step.moved),
            };
            let marks = Marks { monitor: product.edge(state, step.choice).marks, fair };
            match session.visit(product.key(step.state)) {
                Ok(visit) => {
                    let state = (!V::RESTORES).then(|| step.state.clone());
                    edges.push(Edge { to: visit.id, new: visit.new, choice: step.choice, marks, state });
                    ControlFlow::Continue(())
                }
                Err(exhausted) => {
                    stop = Some(Stop::Exhausted(exhausted));
                    ControlFlow::Break(())
                }
            }
        });
        if stop.is_none() && self.product.was_cut(&self.scratch) {
            stop = Some(Stop::Cut);
        }
        stop.map_or(Ok(()), Err)
    }

    /// Cuts steps that take long.
    pub fn limit(&mut self, patience: &Patience) {
        self.product.limit(&mut self.scratch, patience);
    }

    /// The part of the state space that a state lies in; `None` if the store cannot restore states.
    pub fn part(&mut self, id: u32) -> Option<u128> {
        let state = V::RESTORES.then(|| self.restore(id))?;
        let part = self.product.part(&state);
        self.spare = Some(state);
        Some(part)
    }

    /// The state at the other end of an edge.
    pub fn follow(&mut self, edge: &Edge<ProductState<S::State>>) -> ProductState<S::State> {
        if let Some(state) = &edge.state {
            return state.clone();
        }
        self.restore(edge.to)
    }

    fn restore(&mut self, id: u32) -> ProductState<S::State> {
        let mut state = self.spare.take().unwrap_or_else(|| self.product.initial(&mut self.scratch));
        let restored = self.product.restore(self.session.load(id), &mut state);
        assert!(restored, "a system with vector keys restores its states");
        state
    }
}
