//! Depth-first search on an explicit stack.

use super::frontier::{Counts, Frontier, Sighting};
use super::merge::spell_out;
use super::options::AfterViolation;
use super::origin::Member;
use super::outcome::{Incomplete, Outcome, Violation};
use super::shared::Shared;
use super::watch::Rhythm;
use super::worker::Worker;
use crate::journal::{Broken, Journal, Reader, Writer};
use crate::random::Random;
use crate::store::Visited;
use crate::system::TransitionSystem;
use std::sync::atomic::Ordering::Relaxed;
use trace::{Choice, Schedule};

/// A state to expand.
pub struct Entry<S> {
    /// Its number.
    pub id: u32,
    /// Steps to it on the path that was followed.
    pub depth: u32,
    /// The last choice of its path.
    pub choice: Choice,
    /// The state, unless the store restores it.
    pub state: Option<S>,
}

/// The stack and the path to the state on top of it.
///
/// Siblings lie on the stack side by side, each with its depth. What is popped at depth d was pushed when the last
/// state at depth d - 1 was popped, so the choices before it on the path are still the right ones.
pub struct Descent<'a, 'b, S: TransitionSystem, V: Visited> {
    /// What searches of either order have.
    pub shared: &'b Shared<'a, S, V>,
    /// Its one worker.
    pub worker: Worker<'b, S, V>,
    /// What is to be expanded, the next one last.
    pub stack: Vec<Entry<S::State>>,
    /// The choices that led to the state that was visited last.
    pub path: Vec<Choice>,
    random: Option<Random>,
    /// What was found.
    pub violations: Vec<Violation>,
    /// States at which the search ends, and why. Counted exactly, not when the bounds are polled: the outcome must not depend
    /// on the machine's speed.
    pub states_end: (u64, Incomplete),
    /// Length of the longest path.
    pub depth_max: u32,
    /// Length of the longest stack.
    pub frontier_max: usize,
    /// How many states the last visit has put on the stack.
    found_last: usize,
    /// The largest number of a state so far.
    pub last: u32,
    /// Where the search is kept.
    journal: Option<&'a dyn Journal>,
    /// Whether it goes on from a journal.
    is_resumed: bool,
}

/// Searches deepest first, from the beginning or from where a journal has left off; `seed` shuffles the choices of each state, and
/// then the search is not kept.
pub fn search<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    seed: Option<u64>,
    kept: Option<&mut Reader>,
) -> Result<Outcome, Broken> {
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
        found_last: 0,
        last: 0,
        journal: shared.journal().filter(|_| seed.is_none()),
        is_resumed: kept.is_some(),
    };
    match kept {
        Some(from) => descent.read(from)?,
        None => {
            descent.worker.start();
            descent.push_found(0);
        }
    }
    descent.run();
    Ok(descent.finish())
}

/// A descent before it visits a state: what is gone back to if the visit is not finished.
#[derive(Clone, Copy)]
pub struct Before {
    /// Counts until then.
    pub counts: Counts,
    /// The largest number of a state.
    pub last: u32,
    /// How many violations were found.
    pub violations: usize,
    /// Where the search was to end.
    pub states_end: (u64, Incomplete),
}

impl<S: TransitionSystem, V: Visited> Descent<'_, '_, S, V> {
    fn run(&mut self) {
        let mut rhythm = Rhythm::default();
        while let Some(entry) = self.stack.pop() {
            let before = self.journal.map(|_| self.now());
            self.visit(&entry);
            if let Some(before) = before
                && self.shared.watch.may_go_on()
            {
                return self.keep_unfinished(entry, before);
            }
            if rhythm.is_due() {
                self.report(entry.depth);
                if self.journal.is_some_and(|journal| journal.is_due() || self.shared.watch.may_go_on()) {
                    self.keep(self.now());
                }
            }
            if self.worker.successors.counts.states >= self.states_end.0 && !self.stack.is_empty() {
                self.shared.watch.stop(self.states_end.1);
            }
            if self.shared.watch.is_stopped() {
                break;
            }
        }
    }

    fn now(&self) -> Before {
        let (counts, violations) = (self.worker.successors.counts, self.violations.len());
        Before { counts, last: self.last, violations, states_end: self.states_end }
    }

    /// Keeps the search as it was before a visit that may not be finished. Who cannot leave out states keeps what was kept before.
    fn keep_unfinished(&mut self, entry: Entry<S::State>, before: Before) {
        self.stack.truncate(self.stack.len() - self.found_last);
        self.stack.push(entry);
        if V::NUMBERS {
            self.keep(before);
        }
    }

    fn keep(&mut self, before: Before) {
        self.worker.successors.session.release();
        let descent = &*self;
        let mut write = |to: &mut Writer<'_>| descent.write(to, before);
        self.journal.into_iter().for_each(|journal| journal.keep(&mut write));
    }

    fn visit(&mut self, entry: &Entry<S::State>) {
        if entry.depth > 0 {
            self.path.truncate(entry.depth as usize - 1);
            self.path.push(entry.choice);
        }
        self.depth_max = self.depth_max.max(entry.depth);
        self.found_last = 0;
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
        (self.found_last, self.last) = (ids.len(), ids.iter().copied().max().unwrap_or(0).max(self.last));
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
        let Some(mut choices) = spell_out(self.shared.system, self.shared.options, &self.path) else {
            assert!(self.is_resumed, "a choice that was taken can be taken again: steps depend on the state alone");
            return self.shared.watch.note(Incomplete::Journal);
        };
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
