//! A model as a [`TransitionSystem`].
//!
//! The order of choices is part of the interface: a schedule names a step by actor and index.
//! Interpreter and native code must number alike, and so must a search that selects a few actors
//! and one that takes all.

use super::code::Code;
use super::course::{ChoiceEnds, Course};
use super::inject::INJECTOR;
use super::step::Stepper;
use super::system::{Scratch, System};
use super::vector::Work;
use super::{enabled, env, explain, inject, named, pending, sound};
use explore::{Bits, Explained, Failure, Key, Patience, Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use trace::{Choice, FailureKind};

impl<C: Code> System<C> {
    /// Hands every step of the selected processes to `found`, which also learns how many choices that process had before.
    ///
    /// `timeout` needs a second round: first with it false, and only if no process at all could
    /// move, with it true. A selection must not decide that: `anyone_moves` asks the others.
    pub fn courses(
        &self,
        scratch: &mut Scratch,
        state: &[u8],
        selection: Selection,
        tell: bool,
        found: &mut impl FnMut(Choice, &Course) -> ControlFlow<()>,
    ) {
        let Scratch { base, next, buffers } = scratch;
        base.load(&self.model, state);
        let mut stepper = Stepper { system: self, scratch: buffers, timeout: false, tell };
        if let ControlFlow::Continue(false) = stepper.pass(base, next, selection, found)
            && self.model.features.timeout
            && !self.anyone_moves(base, selection)
        {
            stepper.timeout = true;
            let _ = stepper.pass(base, next, selection, found);
        }
        stepper.scratch.chain.clear();
        stepper.scratch.failures.clear();
    }

    /// Whether a process outside the selection can move: then `timeout` is false although nobody selected can.
    fn anyone_moves(&self, work: &Work, selection: Selection) -> bool {
        selection != Selection::All
            && (0..work.processes())
                .any(|pid| !selection.contains(pid) && enabled::can_move(&self.model, work, pid, false, 0))
    }
}

impl<C: Code> Stepper<'_, C> {
    /// One round over the selected processes, youngest first as SPIN does; says whether somebody moved.
    ///
    /// Native code knows neither priorities nor `provided`: such models are interpreted.
    #[inline]
    fn pass(
        &mut self,
        from: &Work,
        next: &mut Course,
        selection: Selection,
        found: &mut impl FnMut(Choice, &Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let features = &self.system.model.features;
        next.work.copy_from(from);
        match self.points() {
            Some(points) if !features.priority && !features.provided => {
                self.native_pass(points, from, next, selection, found)
            }
            _ => self.interpreted_pass(from, next, selection, found),
        }
    }

    /// The same, statement by statement.
    fn interpreted_pass(
        &mut self,
        from: &Work,
        next: &mut Course,
        selection: Selection,
        found: &mut ChoiceEnds<'_>,
    ) -> ControlFlow<(), bool> {
        let (mut moved, mut start) = (false, Course::default());
        for pid in (0..from.processes()).rev().filter(|pid| selection.contains(*pid)) {
            let mut index = 0;
            start.holder = pid;
            moved |= self.steps(from, &start, next, &mut |course| {
                let choice = Choice { actor: pid, index };
                index += course.failures.len().max(1) as u32;
                found(choice, course)
            })?;
        }
        ControlFlow::Continue(moved)
    }
}

/// Hands over the end of a step, after which the state is `state`: once, or once for each of its failures, so that a
/// schedule says which of them it shows.
///
/// A step with several failures is shown once for each, as choices of their own that lead to the
/// same state: a counterexample then names exactly one failure.
#[inline(always)]
fn show(
    mut choice: Choice,
    course: &Course,
    state: &Vec<u8>,
    visit: &mut impl FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut failures = course.failures.iter();
    loop {
        visit(Step { choice, moved: course.moved, state, failure: failures.next() })?;
        if failures.as_slice().is_empty() {
            return ControlFlow::Continue(());
        }
        choice.index += 1;
    }
}

impl<C: Code> TransitionSystem for System<C> {
    type State = Vec<u8>;
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn initial(&self, _: &mut Scratch) -> Vec<u8> {
        let bytes = self.initial_work().bytes;
        self.faults.as_ref().and_then(|faults| inject::armed(self, faults, &bytes)).unwrap_or(bytes)
    }

    fn key<'a>(&self, state: &'a Vec<u8>) -> Key<'a> {
        Key::Vector(state)
    }

    fn restore(&self, vector: &[u8], state: &mut Vec<u8>) -> bool {
        state.clear();
        state.extend_from_slice(vector);
        true
    }

    fn is_state(&self, vector: &[u8]) -> bool {
        sound::is_state(&self.model, vector)
    }

    fn marks(&self) -> Vec<u8> {
        let seen = self.observers.iter().flat_map(|observer| observer.seen.load(Ordering::Relaxed).to_le_bytes());
        seen.chain(self.coverage.all().map(u8::from)).collect()
    }

    fn set_marks(&self, marks: &[u8]) -> bool {
        let Some((seen, reached)) = marks.split_at_checked(8 * self.observers.len()) else { return false };
        let (seen, _) = seen.as_chunks();
        for (observer, bits) in self.observers.iter().zip(seen) {
            observer.seen.fetch_or(u64::from_le_bytes(*bits), Ordering::Relaxed);
        }
        if reached.len() != self.coverage.all().len() {
            return false;
        }
        let edges = reached.iter().enumerate().filter(|(_, reached)| **reached > 0);
        edges.for_each(|(number, _)| self.coverage.reach(number));
        true
    }

    fn steps(
        &self,
        scratch: &mut Scratch,
        state: &Vec<u8>,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()>,
    ) {
        let Some(faults) = &self.faults else {
            return self.courses(scratch, state, actors, false, &mut |choice, course| {
                show(choice, course, &course.work.bytes, visit)
            });
        };
        let mut ended = false;
        self.courses(scratch, state, actors, false, &mut |choice, course| {
            let armed = inject::armed(self, faults, &course.work.bytes);
            let flow = show(choice, course, armed.as_ref().unwrap_or(&course.work.bytes), visit);
            ended |= flow.is_break();
            flow
        });
        if !ended && actors.contains(INJECTOR) {
            let _ = inject::steps(self, faults, scratch, state, visit);
        }
    }

    fn limit(&self, scratch: &mut Scratch, patience: &Patience) {
        scratch.buffers.patience = patience.clone();
    }

    fn was_cut(&self, scratch: &Scratch) -> bool {
        scratch.buffers.cut
    }

    fn enabled(&self, scratch: &mut Scratch, state: &Vec<u8>) -> Bits {
        let mut enabled = Bits::EMPTY;
        self.courses(scratch, state, Selection::All, false, &mut |choice, course| {
            // Whoever fails while it waits cannot move.
            if !course.moved.is_empty() {
                enabled.insert(choice.actor);
            }
            ControlFlow::Continue(())
        });
        // A fault need not happen; a repair comes in the end.
        if self.faults.as_ref().is_some_and(|faults| inject::heals(self, faults, state)) {
            enabled.insert(INJECTOR);
        }
        enabled
    }

    fn private(&self, scratch: &mut Scratch, state: &Vec<u8>, moved: Bits) -> Option<u32> {
        // While a fault may happen it may touch anything.
        if self.footprints().off || self.faults.is_some() {
            return None;
        }
        scratch.base.load(&self.model, state);
        pending::private(self, &scratch.base, moved)
    }

    fn part(&self, state: &Vec<u8>) -> u128 {
        self.faults.as_ref().map_or(0, |faults| faults.part(state))
    }

    fn stuck(&self, scratch: &mut Scratch, state: &Vec<u8>) -> Option<Failure> {
        let mut work = std::mem::take(&mut scratch.base);
        work.load(&self.model, state);
        let failure = explain::stuck(&self.model, &work);
        scratch.base = work;
        failure
    }

    fn observe(&self, scratch: &mut Scratch, state: &Vec<u8>, observer: usize) -> Result<u64, Failure> {
        scratch.base.load(&self.model, state);
        let mut truth = 0;
        for (index, proposition) in self.observers[observer].propositions.iter().enumerate() {
            let holds = env(&self.model, &scratch.base, 0, false, &mut scratch.buffers.failures).truth(proposition);
            truth |= u64::from(holds) << index;
        }
        let seen = &self.observers[observer].seen;
        if seen.load(Ordering::Relaxed) | truth != seen.load(Ordering::Relaxed) {
            seen.fetch_or(truth, Ordering::Relaxed);
        }
        // A promise is about what processes do; a property may look at any channel.
        scratch.buffers.failures.retain(|failure| failure.kind != FailureKind::Exclusive);
        scratch.buffers.failures.drain(..).next().map_or(Ok(truth), Err)
    }

    fn pending(&self, scratch: &mut Scratch, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        let mut work = std::mem::take(&mut scratch.base);
        work.load(&self.model, state);
        // While a fault may happen it may touch anything.
        match &self.faults {
            Some(faults) if !faults.are_over(&self.model, &work) => actors.clear(),
            _ => pending::pending(self, scratch, &work, actors),
        }
        scratch.base = work;
    }

    fn observed(&self, observer: usize) -> Bits {
        self.footprints().observed(&self.model, &self.observers[observer].propositions)
    }

    fn explain(&self, scratch: &mut Scratch, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        if let Some(faults) = &self.faults
            && choice.actor == INJECTOR
        {
            return inject::explain(self, faults, scratch, state, choice);
        }
        let mut explained = None;
        self.courses(scratch, state, Selection::Only(Bits::one(choice.actor)), true, &mut |at, course| {
            let failures = &course.failures;
            if !(at.index..at.index + failures.len().max(1) as u32).contains(&choice.index) {
                return ControlFlow::Continue(());
            }
            let armed = self.faults.as_ref().and_then(|faults| inject::armed(self, faults, &course.work.bytes));
            explained = Some(Explained {
                state: armed.unwrap_or_else(|| course.work.bytes.clone()),
                events: explain::events(self, state, &course.told),
                failure: failures.get((choice.index - at.index) as usize).cloned(),
            });
            ControlFlow::Break(())
        });
        explained
    }

    fn actor_name(&self, state: &Vec<u8>, actor: u32) -> String {
        if self.faults.is_some() && actor == INJECTOR {
            return "faults".to_owned();
        }
        let mut work = Work::default();
        work.load(&self.model, state);
        named::process_name(&self.model, &work, actor)
    }
}
