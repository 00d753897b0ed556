//! The product of a system and a monitor: a system again.

use super::monitor::{Monitor, MonitorEdge};
use crate::bits::Bits;
use crate::patience::Patience;
use crate::reduce;
use crate::system::{Explained, Failure, Key, Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Choice, Schedule};

/// The actor of a stutter step: the system does not move, because no actor is enabled or because the run ends.
pub const STUTTER: u32 = u32::MAX;

/// A system and a monitor, moving in turns: the monitor reads the state, then the system steps.
///
/// Where no actor is enabled the last state stutters for ever, unless the monitor accepts infinite runs only. Where the monitor
/// cannot move there are no steps. An edge into a violating state is a fatal failure of a stutter step, so it ends the path in
/// the state that it read. Steps of the system that fail fatally are left out (they end a run, and the search of the system
/// itself reports them); other failures are ignored.
pub struct Product<'a, S> {
    system: &'a S,
    monitor: &'a Monitor,
    observer: usize,
    failure: Failure,
    width: u32,
    /// For each edge of each monitor state: whether some run took it.
    reached: Vec<Vec<AtomicBool>>,
}

/// A state of the system and one of the monitor.
#[derive(Clone, Debug)]
pub struct ProductState<T> {
    system: T,
    monitor: u32,
    /// The monitor's state in the first chunk, then the system's vector, if it has one.
    vector: Vec<u8>,
}

/// A worker's buffers.
pub struct ProductScratch<T, W> {
    system: W,
    next: Option<ProductState<T>>,
    edges: Vec<(u32, u32)>,
}

impl<'a, S: TransitionSystem> Product<'a, S> {
    /// Watches `system` through the propositions of `observer`; arriving at a violating state is `failure`.
    #[must_use]
    pub fn new(system: &'a S, monitor: &'a Monitor, observer: usize, failure: Failure) -> Self {
        let reached = monitor.states.iter().map(|state| state.edges.iter().map(|_| AtomicBool::new(false)).collect());
        let reached = reached.collect();
        let failure = Failure { fatal: true, ..failure };
        Self { system, monitor, observer, failure, width: monitor.width(), reached }
    }

    /// For each edge of each monitor state: whether some run took it.
    #[must_use]
    pub fn reached(&self) -> Vec<Vec<bool>> {
        self.reached.iter().map(|edges| edges.iter().map(|edge| edge.load(Relaxed)).collect()).collect()
    }

    /// The monitor's edge that a choice of the product takes from `state`.
    #[must_use]
    pub fn edge(&self, state: &ProductState<S::State>, choice: Choice) -> &MonitorEdge {
        &self.monitor.states[state.monitor as usize].edges[(choice.index % self.width) as usize]
    }

    /// The system's part of a schedule of the product. A cycle of stutter steps becomes an empty cycle at the end: the last
    /// state repeats for ever.
    #[must_use]
    pub fn system_schedule(&self, schedule: &Schedule) -> Schedule {
        let moves = |choices: &[Choice]| -> Vec<Choice> {
            let real = choices.iter().filter(|choice| choice.actor != STUTTER);
            real.map(|choice| Choice { actor: choice.actor, index: choice.index / self.width }).collect()
        };
        let start = schedule.cycle_start.unwrap_or(schedule.choices.len());
        let (mut choices, cycle) = (moves(&schedule.choices[..start]), moves(&schedule.choices[start..]));
        let cycle_start = schedule.cycle_start.map(|_| choices.len());
        choices.extend(cycle);
        Schedule { choices, cycle_start }
    }

    fn place(&self, next: &mut Option<ProductState<S::State>>, system: &S::State, monitor: u32) {
        match next {
            Some(next) => next.system.clone_from(system),
            None => *next = Some(ProductState { system: system.clone(), monitor, vector: Vec::new() }),
        }
        if let Some(next) = next {
            self.set_vector(next);
            self.enter(next, monitor);
        }
    }

    fn set_vector(&self, state: &mut ProductState<S::State>) {
        state.vector.clear();
        if let Key::Vector(vector) = self.system.key(&state.system) {
            state.vector.extend_from_slice(&[0; 8]);
            state.vector.extend_from_slice(vector);
        }
    }

    fn enter(&self, state: &mut ProductState<S::State>, monitor: u32) {
        state.monitor = monitor;
        if let Some(first) = state.vector.first_chunk_mut::<4>() {
            *first = monitor.to_le_bytes();
        }
    }

    /// Collects the edges that the monitor may take as (number, target); whether one of them is a violation.
    fn collect_edges(&self, monitor: u32, valuation: u64, edges: &mut Vec<(u32, u32)>) -> bool {
        edges.clear();
        let mut violated = false;
        for (number, edge) in self.monitor.states[monitor as usize].edges.iter().enumerate() {
            if !edge.admits(valuation) {
                continue;
            }
            let reached = &self.reached[monitor as usize][number];
            if !reached.load(Relaxed) {
                reached.store(true, Relaxed);
            }
            if self.monitor.states[edge.to as usize].violates {
                violated = true;
            } else {
                edges.push((number as u32, edge.to));
            }
        }
        violated
    }
}

impl<S: TransitionSystem> TransitionSystem for Product<'_, S> {
    type State = ProductState<S::State>;
    type Scratch = ProductScratch<S::State, S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        ProductScratch { system: self.system.scratch(), next: None, edges: Vec::new() }
    }

    fn initial(&self, scratch: &mut Self::Scratch) -> Self::State {
        let system = self.system.initial(&mut scratch.system);
        let mut state = ProductState { system, monitor: self.monitor.initial, vector: Vec::new() };
        self.set_vector(&mut state);
        self.enter(&mut state, self.monitor.initial);
        state
    }

    fn key<'k>(&self, state: &'k Self::State) -> Key<'k> {
        match self.system.key(&state.system) {
            Key::Vector(_) => Key::Vector(&state.vector),
            // An odd multiplier keeps distinct states distinct for each monitor state.
            Key::Fingerprint(bits) => Key::Fingerprint(
                bits.wrapping_add(u128::from(state.monitor)).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645),
            ),
        }
    }

    fn restore(&self, vector: &[u8], state: &mut Self::State) -> bool {
        let Some((first, rest)) = vector.split_first_chunk::<8>() else { return false };
        state.monitor = u64::from_le_bytes(*first) as u32;
        state.vector.clear();
        state.vector.extend_from_slice(vector);
        self.system.restore(rest, &mut state.system)
    }

    fn steps(
        &self,
        scratch: &mut Self::Scratch,
        state: &Self::State,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Self::State>) -> ControlFlow<()>,
    ) {
        let ProductScratch { system: inner, next, edges } = scratch;
        let ends = |failure: &Failure, visit: &mut dyn FnMut(Step<'_, Self::State>) -> ControlFlow<()>| {
            let failure = Failure { fatal: true, ..failure.clone() };
            let choice = Choice { actor: STUTTER, index: 0 };
            visit(Step { choice, moved: Bits::EMPTY, state, failure: Some(&failure) })
        };
        let violated = match self.system.observe(inner, &state.system, self.observer) {
            Ok(valuation) => self.collect_edges(state.monitor, valuation, edges),
            Err(failure) => {
                let _ = ends(&failure, visit);
                return;
            }
        };
        if violated && ends(&self.failure, visit).is_break() || edges.is_empty() {
            return;
        }
        let mut moves = false;
        reduce::steps(self.system, inner, &state.system, actors, &mut |step| {
            moves |= !step.moved.is_empty();
            if step.failure.is_some_and(|failure| failure.fatal) {
                return ControlFlow::Continue(());
            }
            self.place(next, step.state, state.monitor);
            let Some(next) = next.as_mut() else { return ControlFlow::Continue(()) };
            for (number, to) in edges.iter() {
                self.enter(next, *to);
                let choice = Choice { actor: step.choice.actor, index: step.choice.index * self.width + number };
                visit(Step { choice, moved: step.moved, state: next, failure: None })?;
            }
            ControlFlow::Continue(())
        });
        if moves || self.monitor.infinite_only {
            return;
        }
        self.place(next, &state.system, state.monitor);
        let Some(next) = next.as_mut() else { return };
        for (index, to) in edges.iter() {
            self.enter(next, *to);
            let choice = Choice { actor: STUTTER, index: *index };
            if visit(Step { choice, moved: Bits::EMPTY, state: next, failure: None }).is_break() {
                return;
            }
        }
    }

    fn limit(&self, scratch: &mut Self::Scratch, patience: &Patience) {
        self.system.limit(&mut scratch.system, patience);
    }

    fn was_cut(&self, scratch: &Self::Scratch) -> bool {
        self.system.was_cut(&scratch.system)
    }

    /// Never: a path on which the monitor cannot move is rejected, one on which the system is stuck stutters.
    fn stuck(&self, _: &mut Self::Scratch, _: &Self::State) -> Option<Failure> {
        None
    }

    fn observe(&self, scratch: &mut Self::Scratch, state: &Self::State, observer: usize) -> Result<u64, Failure> {
        self.system.observe(&mut scratch.system, &state.system, observer)
    }

    fn enabled(&self, scratch: &mut Self::Scratch, state: &Self::State) -> Bits {
        self.system.enabled(&mut scratch.system, &state.system)
    }

    fn part(&self, state: &Self::State) -> u128 {
        self.system.part(&state.system)
    }

    fn pending(&self, scratch: &mut Self::Scratch, state: &Self::State, actors: &mut Vec<Pending>) {
        self.system.pending(&mut scratch.system, &state.system, actors);
    }

    fn observed(&self, observer: usize) -> Bits {
        self.system.observed(observer)
    }

    fn explain(
        &self,
        scratch: &mut Self::Scratch,
        state: &Self::State,
        choice: Choice,
    ) -> Option<Explained<Self::State>> {
        let edge = *self.monitor.states[state.monitor as usize].edges.get((choice.index % self.width) as usize)?;
        let mut next = state.clone();
        let mut events = Vec::new();
        if choice.actor != STUTTER {
            let inner = Choice { actor: choice.actor, index: choice.index / self.width };
            let explained = self.system.explain(&mut scratch.system, &state.system, inner)?;
            next.system = explained.state;
            events = explained.events;
        }
        self.set_vector(&mut next);
        self.enter(&mut next, edge.to);
        Some(Explained { state: next, events, failure: None })
    }

    fn actor_name(&self, state: &Self::State, actor: u32) -> String {
        match actor {
            STUTTER => "nobody".to_owned(),
            actor => self.system.actor_name(&state.system, actor),
        }
    }
}
