//! Faults as steps: what happens to a state rather than what a process does in it.
//!
//! A fault is a step that moves nobody, so a state in which nothing but a fault can happen is stuck all the same, and
//! fairness never demands one. Repairs are steps of the injector: they come in the end.
//!
//! Decision 11. A fault's `moved` set is empty: deadlock detection and fairness look at who moved,
//! and a state in which only the injector could do something must count as stuck.

use super::code::Code;
use super::course::{Ends, Offer, Taken};
use super::step::{Course, Stepper};
use super::system::{Scratch, System};
use super::table::Spot;
use super::vector::Work;
use super::{enabled, explain};
use crate::faults::fault_effect::{Deed, ids, pids};
use crate::faults::{Class, Faults, Stance, Target};
use crate::ir::{Action, Model};
use explore::{Bits, CAPACITY, Explained, Failure, Step};
use std::ops::ControlFlow;
use trace::{Choice, Event};

/// The actor of all that happens to a model. No process has this number.
///
/// The highest number that a set of actors can hold; processes have numbers below 255.
pub const INJECTOR: u32 = CAPACITY - 1;

/// Something that happens to a state.
struct Happening<'h> {
    /// Which fault; `None` for a repair.
    fault: Option<usize>,
    /// The state after it, and what went wrong on the way.
    course: &'h Course,
    /// One line about it, if somebody wants to be told.
    text: &'h str,
}

type Found<'f> = dyn FnMut(&Happening<'_>) -> ControlFlow<()> + 'f;

/// Hands the steps of the injector to `visit`.
pub fn steps<C: Code>(
    system: &System<C>,
    faults: &Faults,
    scratch: &mut Scratch,
    state: &[u8],
    visit: &mut dyn FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut index = 0;
    let mut bytes = Vec::new();
    Injection::new(system, faults, state, false).all(scratch, &mut |happening| {
        let moved = if happening.fault.is_some() { Bits::EMPTY } else { Bits::one(INJECTOR) };
        noted(faults, happening, &mut bytes);
        let choice = Choice { actor: INJECTOR, index };
        let failures = &happening.course.failures;
        index += failures.len().max(1) as u32;
        if failures.is_empty() {
            return visit(Step { choice, moved, state: &bytes, failure: None });
        }
        failures.iter().zip(choice.index..).try_for_each(|(failure, index)| {
            visit(Step { choice: Choice { index, ..choice }, moved, state: &bytes, failure: Some(failure) })
        })
    })
}

/// Whether something is about to be repaired.
pub fn heals<C: Code>(system: &System<C>, faults: &Faults, state: &[u8]) -> bool {
    let mut work = Work::default();
    work.load(&system.model, state);
    !faults.healing(&system.model, &work).is_empty()
}

/// Tells about one step of the injector.
pub fn explain<C: Code>(
    system: &System<C>,
    faults: &Faults,
    scratch: &mut Scratch,
    state: &[u8],
    choice: Choice,
) -> Option<Explained<Vec<u8>>> {
    let mut explained = None;
    let mut index = 0;
    let _ = Injection::new(system, faults, state, true).all(scratch, &mut |happening| {
        let failures = &happening.course.failures;
        let numbers = index..index + failures.len().max(1) as u32;
        index = numbers.end;
        if !numbers.contains(&choice.index) {
            return ControlFlow::Continue(());
        }
        let mut bytes = Vec::new();
        noted(faults, happening, &mut bytes);
        let failure = failures.get((choice.index - numbers.start) as usize).cloned();
        explained = Some(Explained { state: bytes, events: events(system, state, happening), failure });
        ControlFlow::Break(())
    });
    explained
}

fn noted(faults: &Faults, happening: &Happening<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend_from_slice(&happening.course.work.bytes);
    if let Some(number) = happening.fault {
        faults.note(bytes, number);
    }
}

/// The fault first, then what processes did because of it.
fn events<C: Code>(system: &System<C>, state: &[u8], happening: &Happening<'_>) -> Vec<Event> {
    let told = explain::events(system, state, &happening.course.told);
    let changes =
        if told.is_empty() { explain::changed(&system.model, state, &happening.course.work) } else { Vec::new() };
    let fault = Event {
        actor: INJECTOR,
        kind: trace::EventKind::Statement,
        text: happening.text.to_owned(),
        location: None,
        changes,
        message: None,
        output: None,
        failure: None,
        uninterrupted: !told.is_empty(),
        is_local: false,
        created: None,
    };
    std::iter::once(fault).chain(told).collect()
}

/// All that may happen to one state.
struct Injection<'i, C> {
    system: &'i System<C>,
    faults: &'i Faults,
    from: Work,
    tell: bool,
}

impl<'i, C: Code> Injection<'i, C> {
    fn new(system: &'i System<C>, faults: &'i Faults, state: &[u8], tell: bool) -> Self {
        let mut from = Work::default();
        from.load(&system.model, state);
        Self { system, faults, from, tell }
    }

    fn model(&self) -> &'i Model {
        &self.system.model
    }

    /// Repairs come first: their numbers must not depend on how many faults may still happen, so that a schedule found
    /// with one budget can be executed with a larger one.
    ///
    /// Choices are numbered in this order, and a schedule holds numbers: so the order is part of
    /// the format of counterexamples.
    fn all(&self, scratch: &mut Scratch, found: &mut Found<'_>) -> ControlFlow<()> {
        for deed in self.faults.healing(self.model(), &self.from) {
            self.perform(None, &deed, found)?;
        }
        for number in 0..self.faults.faults.len() {
            let fault = &self.faults.faults[number];
            if !self.faults.may_happen(&self.from.bytes, fault.class) {
                continue;
            }
            for deed in self.faults.deeds(self.model(), &self.from, number) {
                self.perform(Some(number), &deed, found)?;
            }
            match (fault.class, &fault.target) {
                (Class::Loss | Class::Corrupt | Class::Wrong, Target::Channel(owner, index)) => {
                    self.handovers(scratch, number, &ids(self.model(), &self.from, (*owner, *index)), found)?;
                }
                (Class::Early, Target::Process(who)) => {
                    for pid in pids(&self.from, *who, self.model()) {
                        self.early(scratch, number, pid, found)?;
                    }
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn perform(&self, fault: Option<usize>, deed: &Deed, found: &mut Found<'_>) -> ControlFlow<()> {
        let mut course = Course { work: self.from.clone(), ..Course::default() };
        self.faults.perform(self.model(), &mut course.work, deed);
        let text = if self.tell { self.faults.tell(self.model(), &self.from, fault, deed) } else { String::new() };
        found(&Happening { fault, course: &course, text: &text })
    }

    /// Faults of messages that are handed over from process to process.
    ///
    /// A rendezvous has no channel in which a message could be changed on the way: the fault
    /// happens to the hand-over itself, and the step is that of both processes with another
    /// message.
    fn handovers(&self, scratch: &mut Scratch, number: usize, ids: &[i32], found: &mut Found<'_>) -> ControlFlow<()> {
        for pid in 0..self.from.processes() {
            let Scratch { next, buffers, .. } = &mut *scratch;
            let mut stepper = Stepper { system: self.system, scratch: buffers, timeout: false, tell: self.tell };
            for sent in stepper.offered(&self.from, pid).into_iter().filter(|sent| ids.contains(&sent.id)) {
                self.handover(&mut stepper, next, number, &sent, found)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn handover(
        &self,
        stepper: &mut Stepper<'_, C>,
        next: &mut Course,
        number: usize,
        sent: &Sent,
        found: &mut Found<'_>,
    ) -> ControlFlow<()> {
        let mut lost = (self.faults.faults[number].class == Class::Loss).then(Vec::new);
        for message in self.faults.other_messages(self.model(), number, &sent.message) {
            let text = self.tell_handover(number, sent, &message);
            let mut pass = |course: &Course| found(&Happening { fault: Some(number), course, text: &text });
            if !stepper.hand_other(&self.from, next, sent, &message, &mut pass)? {
                // What arrives and is not understood is gone. One such message stands for all.
                lost.get_or_insert(message);
            }
        }
        let Some(message) = lost else { return ControlFlow::Continue(()) };
        let mut text = self.tell_handover(number, sent, &message);
        text += if message.is_empty() { "" } else { ", which nobody takes" };
        let mut pass = |course: &Course| found(&Happening { fault: Some(number), course, text: &text });
        stepper.lose(&self.from, next, sent, &mut pass)
    }

    fn tell_handover(&self, number: usize, sent: &Sent, arrives: &[i32]) -> String {
        match self.tell {
            true => self.faults.tell_handover(self.model(), &self.from, number, sent.id, [&sent.message, arrives]),
            false => String::new(),
        }
    }

    /// Statements that a process could execute if `timeout` were true. If nobody can move it is true anyway.
    fn early(&self, scratch: &mut Scratch, number: usize, pid: u32, found: &mut Found<'_>) -> ControlFlow<()> {
        let (stance, pc) = self.faults.stance(self.model(), &self.from, pid);
        let asks = stance == Stance::Up && self.faults.asks_for_timeout(self.from.proctype(pid), pc);
        if !asks || !anyone_moves(self.model(), &self.from) {
            return ControlFlow::Continue(());
        }
        let usual = self.courses(scratch, pid, false);
        let name = &self.faults.faults[number].name;
        let text = format!("{name}: timeout although somebody could move");
        for course in self.courses(scratch, pid, true) {
            if !usual.iter().any(|other| other.work == course.work && other.failures == course.failures) {
                found(&Happening { fault: Some(number), course: &course, text: &text })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn courses(&self, scratch: &mut Scratch, pid: u32, timeout: bool) -> Vec<Course> {
        let Scratch { next, buffers, .. } = scratch;
        let mut stepper = Stepper { system: self.system, scratch: buffers, timeout, tell: self.tell };
        let start = Course { holder: pid, ..Course::default() };
        next.work.copy_from(&self.from);
        let mut all = Vec::new();
        let _ = stepper.steps(&self.from, &start, next, &mut |course| {
            all.push(course.clone());
            ControlFlow::Continue(())
        });
        stepper.scratch.chain.clear();
        stepper.scratch.failures.clear();
        all
    }
}

fn anyone_moves(model: &Model, work: &Work) -> bool {
    (0..work.processes()).any(|pid| enabled::can_move(model, work, pid, false, 0))
}

/// A message that a process would hand over now.
struct Sent {
    pid: u32,
    spot: Spot,
    number: usize,
    id: i32,
    message: Vec<i32>,
}

impl<C: Code> Stepper<'_, C> {
    /// The messages that a process offers.
    fn offered(&mut self, from: &Work, pid: u32) -> Vec<Sent> {
        let spot = self.system.table.spot(from, pid);
        let mut found = Vec::new();
        if spot.restricted && !self.may_run(from, pid) {
            return found;
        }
        let mut escape = 0;
        for number in spot.edges() {
            let row = self.system.table.row(number);
            if escape > 0 && row.escape != escape {
                break;
            }
            let edge = self.edge(&spot, number);
            if row.escape > 0 && enabled::executable(&mut self.act(), from, pid, edge) {
                escape = row.escape;
            }
            if matches!(edge.action, Action::Send(_))
                && let super::act::Outcome::Offer(id) = self.act().execute(&mut from.clone(), pid, &edge.action)
            {
                found.push(Sent { pid, spot, number, id, message: self.scratch.message.clone() });
            }
        }
        self.scratch.failures.clear();
        found
    }

    /// Hands over another message than the one that was sent; says whether somebody took it.
    fn hand_other(
        &mut self,
        from: &Work,
        next: &mut Course,
        sent: &Sent,
        message: &[i32],
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        let start = Course { holder: sent.pid, ..Course::default() };
        self.scratch.message.clear();
        self.scratch.message.extend_from_slice(message);
        next.work.copy_from(from);
        let taken = self.rendezvous(from, &start, next, &self.offer(sent), found)?;
        self.finish(next, found)?;
        ControlFlow::Continue(taken)
    }

    /// Lets the sender go on as if its message had been taken, if somebody would have taken it.
    fn lose(&mut self, from: &Work, next: &mut Course, sent: &Sent, found: &mut Ends<'_>) -> ControlFlow<()> {
        let start = Course { holder: sent.pid, ..Course::default() };
        self.scratch.message.clone_from(&sent.message);
        next.work.copy_from(from);
        let flow = self.rendezvous(from, &start, next, &self.offer(sent), &mut |_| ControlFlow::Break(()));
        self.scratch.chain.clear();
        self.scratch.failures.clear();
        next.failures.clear();
        next.told.clear();
        if flow == ControlFlow::Continue(false) {
            return ControlFlow::Continue(());
        }
        self.scratch.message.clone_from(&sent.message);
        next.work.copy_from(from);
        self.arrive(&start, next, &self.offer(sent).taken, found)?;
        self.finish(next, found)
    }

    fn offer<'t>(&self, sent: &'t Sent) -> Offer<'t> {
        let row = self.system.table.row(sent.number);
        let taken = Taken { spot: &sent.spot, number: sent.number, row, failures: self.scratch.failures.len() };
        Offer { taken, id: sent.id }
    }

    /// Follows what is left of atomic sequences.
    fn finish(&mut self, next: &mut Course, found: &mut Ends<'_>) -> ControlFlow<()> {
        self.follow(0, next, found)
    }
}

/// The state with faults allowed from now on, if their condition is true in it.
pub fn armed<C: Code>(system: &System<C>, faults: &Faults, state: &[u8]) -> Option<Vec<u8>> {
    let condition = faults.awaited(state)?;
    let mut work = Work::default();
    work.load(&system.model, state);
    let mut failures: Vec<Failure> = Vec::new();
    let holds = super::env(&system.model, &work, 0, false, &mut failures).truth(condition);
    (holds && failures.is_empty()).then(|| {
        faults.arm(&mut work.bytes);
        work.bytes
    })
}
