//! Depth-first search on an explicit stack.

use super::frontier::{Counts, Frontier, Sighting};
use super::merge::spell_out;
use super::options::AfterViolation;
use super::origin::Member;
use super::outcome::{Incomplete, Outcome, Violation};
use super::shared::Shared;
use super::watch::Rhythm;
use super::worker::Worker;
use crate::random::Random;
use crate::store::Visited;
use crate::system::TransitionSystem;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Choice, Schedule};

/// A state to expand.
struct Entry<S> {
    id: u32,
    depth: u32,
    /// The last choice of its path.
    choice: Choice,
    /// The state, unless the store restores it.
    state: Option<S>,
}

/// The stack and the path to the state on top of it.
///
/// Siblings lie on the stack side by side, each with its depth. What is popped at depth d was pushed when the last
/// state at depth d - 1 was popped, so the choices before it on the path are still the right ones.
struct Descent<'a, 'b, S: TransitionSystem, V: Visited> {
    shared: &'b Shared<'a, S, V>,
    worker: Worker<'b, S, V>,
    stack: Vec<Entry<S::State>>,
    path: Vec<Choice>,
    random: Option<Random>,
    violations: Vec<Violation>,
    /// States at which the search ends, and why. Counted exactly, not when the bounds are polled: the outcome must not depend
    /// on the machine's speed.
    states_end: (u64, Incomplete),
    depth_max: u32,
    frontier_max: usize,
}

/// Searches deepest first; `seed` shuffles the choices of each state.
pub fn search<S: TransitionSystem, V: Visited>(shared: &Shared<'_, S, V>, seed: Option<u64>) -> Outcome {
    let mut descent = Descent {
        shared,
        worker: Worker::new(shared, true),
        stack: Vec::new(),
        path: Vec::new(),
        random: seed.map(Random::new),
        violations: Vec::new(),
        states_end: (shared.options.bounds.states.unwrap_or(u64::MAX), Incomplete::StateBound),
        depth_max: 0,
        frontier_max: 0,
    };
    descent.worker.start();
    descent.push_found(0);
    descent.run();
    descent.finish()
}

impl<S: TransitionSystem, V: Visited> Descent<'_, '_, S, V> {
    fn run(&mut self) {
        let mut rhythm = Rhythm::default();
        while let Some(entry) = self.stack.pop() {
            self.visit(&entry);
            if rhythm.is_due() {
                self.report(entry.depth);
            }
            if self.worker.successors.counts.states >= self.states_end.0 && !self.stack.is_empty() {
                self.shared.watch.stop(self.states_end.1);
            }
            if self.shared.watch.is_stopped() {
                break;
            }
        }
    }

    fn visit(&mut self, entry: &Entry<S::State>) {
        if entry.depth > 0 {
            self.path.truncate(entry.depth as usize - 1);
            self.path.push(entry.choice);
        }
        self.depth_max = self.depth_max.max(entry.depth);
        if self.shared.options.bounds.depth == Some(entry.depth) {
            self.worker.expand_no_further(Member::alone(entry.id, 0), entry.state.as_ref());
        } else {
            self.worker.expand(Member::alone(entry.id, 0), entry.state.as_ref());
            self.worker.successors.flush();
            self.push_found(entry.depth + 1);
        }
        for sighting in std::mem::take(&mut self.worker.successors.sightings) {
            self.violate(sighting);
        }
    }

    /// Puts the new states on the stack, the first choice on top.
    fn push_found(&mut self, depth: u32) {
        let Frontier { ids, choices, states, .. } = self.worker.successors.take_found();
        let mut states = states.into_iter();
        let start = self.stack.len();
        for (id, choice) in ids.into_iter().zip(choices) {
            self.stack.push(Entry { id, depth, choice, state: states.next() });
        }
        match &mut self.random {
            Some(random) => random.shuffle(&mut self.stack[start..]),
            None => self.stack[start..].reverse(),
        }
        self.frontier_max = self.frontier_max.max(self.stack.len());
    }

    fn violate(&mut self, sighting: Sighting) {
        let mut choices = spell_out(self.shared.system, self.shared.options, &self.path);
        choices.extend(sighting.choice);
        let schedule = Schedule { choices, cycle_start: None };
        self.violations.push(Violation { failure: sighting.failure, part: sighting.part, schedule });
        match self.shared.options.after_violation {
            AfterViolation::Stop => self.shared.watch.stop(Incomplete::StoppedAtViolation),
            AfterViolation::Continue { states: Some(more) } if self.violations.len() == 1 => {
                let end = self.worker.successors.counts.states.saturating_add(more);
                self.states_end = self.states_end.min((end, Incomplete::StoppedAtViolation));
            }
            AfterViolation::Continue { .. } | AfterViolation::EachPart => {}
        }
    }

    fn report(&mut self, depth: u32) {
        let watch = &self.shared.watch;
        watch.frontier.store(self.stack.len() as u64, Relaxed);
        watch.depth.store(depth, Relaxed);
        watch.bytes_frontier.store(self.stack_bytes(self.stack.len()), Relaxed);
        self.worker.successors.report_counts();
        self.worker.successors.session.release();
        self.shared.poll();
    }

    fn stack_bytes(&self, entries: usize) -> u64 {
        (entries * size_of::<Entry<S::State>>()) as u64
    }

    fn finish(mut self) -> Outcome {
        if self.worker.cut {
            self.shared.watch.note(Incomplete::TurnedBack);
        }
        self.worker.successors.session.release();
        let counts: Counts = self.worker.successors.counts;
        let mut outcome = self.shared.outcome([counts], self.stack_bytes(self.frontier_max));
        outcome.stats.depth_max = self.depth_max;
        outcome.stats.frontier_max = self.frontier_max as u64;
        self.violations.sort_by_key(|violation| violation.schedule.choices.len());
        if self.shared.options.after_violation == AfterViolation::Stop {
            self.violations.truncate(1);
        }
        outcome.violations = self.violations;
        outcome
    }
}
