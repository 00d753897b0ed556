//! Random walks: many short runs, each with its own seed.

use super::options::{AfterViolation, Control, Options};
use super::outcome::{Incomplete, Outcome, Stats, Violation};
use super::session::{Session, StoreSlot};
use super::watch::Watch;
use crate::random::Random;
use crate::store::{Fingerprints64, Visited};
use crate::system::{Failure, Selection, TransitionSystem};
use crate::threads;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use trace::{Choice, FailureKind, Schedule};

/// How much to sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// Runs.
    pub runs: u64,
    /// Steps of each run, at most.
    pub depth: u32,
    /// The seed: run i of a seed is the same on every machine and for any number of workers.
    pub seed: u64,
}

/// Takes random walks; each state's steps are equally likely. Never complete.
///
/// Distinct states are counted by 64-bit fingerprints as far as memory allows.
pub fn walk<S: TransitionSystem>(system: &S, sampling: Sampling, options: &Options, control: Control<'_>) -> Outcome {
    let watch = Watch::new(options, control);
    watch.note(Incomplete::Sampled);
    let Some(store) = Fingerprints64::new(options.workers) else {
        return Outcome { incomplete: vec![Incomplete::Memory], ..Outcome::default() };
    };
    let slot = StoreSlot::new(store, options);
    let walkers = Walkers {
        system,
        sampling,
        options,
        watch,
        slot,
        next_run: AtomicU64::new(0),
        runs_end: AtomicU64::new(sampling.runs),
        violations: Mutex::new(BTreeMap::new()),
        depth_max: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 1..options.workers {
            threads::help(scope, || walkers.work());
        }
        walkers.work();
    });
    walkers.outcome()
}

/// What all workers share.
struct Walkers<'a, S> {
    system: &'a S,
    sampling: Sampling,
    options: &'a Options,
    watch: Watch<'a>,
    slot: StoreSlot<Fingerprints64>,
    next_run: AtomicU64,
    /// Runs from here on are skipped: an earlier one found a violation.
    runs_end: AtomicU64,
    /// The first of each failure, with the number of its run.
    violations: Mutex<BTreeMap<(FailureKind, String), (u64, Violation)>>,
    depth_max: AtomicU64,
}

/// A step that was drawn.
struct Drawn<T> {
    choice: Choice,
    state: T,
    failure: Option<Failure>,
    /// Whether an actor was enabled in the state before.
    moves: bool,
}

impl<S: TransitionSystem> Walkers<'_, S> {
    fn work(&self) {
        let mut session = Session::new(&self.slot);
        let mut scratch = self.system.scratch();
        self.system.limit(&mut scratch, self.watch.patience());
        loop {
            let run = self.next_run.fetch_add(1, Relaxed);
            session.release();
            let bytes = self.slot.read().bytes();
            // Memory only bounds the count of distinct states, which stops growing by itself.
            if run >= self.runs_end.load(Relaxed)
                || !self.watch.poll(bytes.min(self.options.bounds.bytes.unwrap_or(bytes)))
            {
                return;
            }
            self.walk(run, &mut scratch, &mut session);
        }
    }

    fn walk(&self, run: u64, scratch: &mut S::Scratch, session: &mut Session<'_, Fingerprints64>) {
        let mut random = Random::new(self.sampling.seed ^ run.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut state = self.system.initial(scratch);
        let mut choices = Vec::new();
        self.count(&state, session);
        while choices.len() < self.sampling.depth as usize && !self.watch.is_stopped() {
            let drawn = self.draw(&mut random, scratch, &state);
            if self.system.was_cut(scratch) {
                self.watch.cut(0);
                break;
            }
            let Some(drawn) = drawn else {
                self.check_stuck(run, scratch, &state, &choices);
                break;
            };
            if !drawn.moves {
                self.check_stuck(run, scratch, &state, &choices);
            }
            choices.push(drawn.choice);
            state = drawn.state;
            self.count(&state, session);
            if let Some(failure) = drawn.failure {
                let fatal = failure.fatal;
                self.violate(run, failure, self.system.part(&state), &choices);
                if fatal {
                    break;
                }
            }
        }
        self.watch.steps.fetch_add(choices.len() as u64, Relaxed);
        self.depth_max.fetch_max(choices.len() as u64, Relaxed);
    }

    /// Reports a state without enabled actors if it is stuck.
    fn check_stuck(&self, run: u64, scratch: &mut S::Scratch, state: &S::State, choices: &[Choice]) {
        if let Some(failure) = self.system.stuck(scratch, state) {
            self.violate(run, failure, self.system.part(state), choices);
        }
    }

    /// Draws one of the steps of a state.
    fn draw(&self, random: &mut Random, scratch: &mut S::Scratch, state: &S::State) -> Option<Drawn<S::State>> {
        let (mut drawn, mut seen, mut moves) = (None, 0, false);
        self.system.steps(scratch, state, Selection::All, &mut |step| {
            seen += 1;
            moves |= !step.moved.is_empty();
            // Replacing the one before with probability 1/seen makes all equally likely.
            if random.below(seen) == 0 {
                let failure = step.failure.cloned();
                drawn = Some(Drawn { choice: step.choice, state: step.state.clone(), failure, moves });
            }
            ControlFlow::Continue(())
        });
        drawn.map(|drawn| Drawn { moves, ..drawn })
    }

    fn count(&self, state: &S::State, session: &mut Session<'_, Fingerprints64>) {
        if session.visit(self.system.key(state)).is_ok_and(|visit| visit.new) {
            self.watch.states.fetch_add(1, Relaxed);
        }
    }

    fn violate(&self, run: u64, failure: Failure, part: u128, choices: &[Choice]) {
        if self.options.ignored.contains(&failure.kind) {
            return;
        }
        let schedule = Schedule { choices: choices.to_vec(), cycle_start: None };
        let name = (failure.kind, failure.message.clone());
        let violation = Violation { failure, part, schedule };
        let mut violations = self.violations.lock().unwrap_or_else(PoisonError::into_inner);
        let first = violations.entry(name).or_insert_with(|| (run, violation.clone()));
        if run < first.0 {
            *first = (run, violation);
        }
        match self.options.after_violation {
            AfterViolation::Stop => {
                self.runs_end.fetch_min(run, Relaxed);
                self.watch.note(Incomplete::StoppedAtViolation);
            }
            // The number of runs is bounded, and all are executed whichever worker is faster.
            AfterViolation::Continue { .. } | AfterViolation::EachPart => {}
        }
    }

    fn outcome(self) -> Outcome {
        let store = self.slot.read();
        let states = self.watch.states.load(Relaxed);
        let stats = Stats {
            states,
            steps: self.watch.steps.load(Relaxed),
            depth_max: self.depth_max.load(Relaxed) as u32,
            bytes_store: store.bytes(),
            bytes_total: store.bytes(),
            bytes_per_state: store.bytes() as f64 / states.max(1) as f64,
            collision_probability: store.collision_probability(states),
            workers: self.options.workers.max(1),
            seconds: self.watch.seconds(),
            ..Stats::default()
        };
        drop(store);
        let mut violations: Vec<_> =
            self.violations.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
        violations.sort_by_key(|(run, violation)| (*run, violation.schedule.choices.len()));
        if self.options.after_violation == AfterViolation::Stop {
            violations.truncate(1);
        }
        let violations = violations.into_iter().map(|(_, violation)| violation).collect();
        Outcome { incomplete: self.watch.reasons(), violations, stats }
    }
}
