//! Steps: what a process can do next, and where it leads.
//!
//! A step runs from one state that others can see to the next: a single statement, a rendezvous of two processes, or an
//! atomic sequence up to the point where it ends or blocks. States inside it are never stored, and no claim sees them.
//!
//! **Order is part of the meaning.** Steps of a process are numbered by edges in source order, then
//! by takers, then by failures; schedules, trails and counterexamples hold these numbers. Whatever
//! computes steps (interpreter, compiled code, explaining) must find them in this order.
//!
//! **Invariant:** `next.work` is a copy of `from` between two statements. Statements are executed
//! in it and undone; undoing knows what the statement may have changed (`Kind`), so that a
//! condition costs one byte and not a copy of the vector.

use super::act::{Act, Outcome};
use super::code::{Answer, Code, Resume};
use super::course::{At, Ends, Offer, SoFar, Taken};
pub use super::course::{Course, Micro};
use super::system::Buffers;
use super::table::{Kind, Row, Spot};
use super::vector::Work;
use super::{System, fail};
use crate::ir::{Action, Edge, VECTOR_LAST};
use std::ops::ControlFlow;

/// Computes the steps of one process after the other.
pub struct Stepper<'s, C> {
    /// The system.
    pub system: &'s System<C>,
    /// Buffers.
    pub scratch: &'s mut Buffers,
    /// Whether statements may see `timeout` as true.
    pub timeout: bool,
    /// Whether to keep what happened.
    pub tell: bool,
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Hands every step of `start.holder` from `from` to `found`; says whether there was one. `next` holds a copy of
    /// `from` before and after.
    pub(super) fn steps(
        &mut self,
        from: &Work,
        start: &Course,
        next: &mut Course,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        let depth = self.scratch.chain.len();
        let moved = self.edges(from, start, next, found)?;
        if self.scratch.chain.len() > depth {
            self.follow(depth, next, found)?;
            next.work.copy_from(from);
        }
        ControlFlow::Continue(moved)
    }

    /// Executes every single statement that the holder can execute in `from`; ends of steps go to `found`, states inside
    /// atomic sequences onto the chain.
    pub(super) fn statements(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        next.work.copy_from(from);
        self.edges(from, course, next, found)
    }

    /// Tries the holder's edges one after the other. `next` holds a copy of `from` before and after, unless `found`
    /// breaks: statements are executed in it, and undone by copying.
    pub(super) fn edges(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        let pid = course.holder;
        let system = self.system;
        let spot = system.table.spot(from, pid);
        if spot.restricted && !self.may_run(from, pid) {
            return ControlFlow::Continue(false);
        }
        let answer = self.point(course, next, &spot, Resume::default());
        if answer != Answer::NO_CODE {
            return self.point_edges(from, course, next, (&spot, answer, false), found);
        }
        let mut so_far = SoFar::default();
        for number in spot.edges() {
            if so_far.escape > 0 && system.table.row(number).escape != so_far.escape {
                break;
            }
            self.edge_of(from, course, next, (&spot, number), &mut so_far, found)?;
        }
        if so_far.moved > 1 {
            self.check_deterministic(from, course, &spot, found)?;
        }
        ControlFlow::Continue(so_far.moved > 0)
    }

    /// Tries one edge. A function of its own: most control states have one or two edges, and as part of the loop
    /// everything that could be needed would be computed before it.
    ///
    /// `else` comes last in its selection and sees whether any sibling was executable; a rendezvous
    /// send that nobody takes does not count as executable.
    #[inline(never)]
    pub(super) fn edge_of(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        (spot, number): (&Spot, usize),
        so_far: &mut SoFar,
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        let pid = course.holder;
        let row = self.system.table.row(number);
        let failures = self.scratch.failures.len();
        let outcome = match row.kind {
            _ if row.is_else && so_far.executable => return ControlFlow::Continue(()),
            Kind::Else => Outcome::Done,
            Kind::Look | Kind::Change => self.execute(&mut next.work, pid, spot, number),
            Kind::DStep => self.d_step(from, &mut next.work, pid, self.edge(spot, number)),
            Kind::Die if pid + 1 == from.processes() => Outcome::Done,
            Kind::Die => Outcome::Blocked,
        };
        match outcome {
            Outcome::Blocked => self.report_blocked(from, course, failures, Some(spot.at(number)), found)?,
            Outcome::Done => {
                *so_far = SoFar { moved: so_far.moved + 1, executable: true, escape: row.escape };
                self.system.coverage.reach(number);
                self.arrive(course, next, &Taken { spot, number, row, failures }, found)?;
                self.undo(from, next, spot, row);
            }
            Outcome::Offer(id) => {
                let offer = Offer { taken: Taken { spot, number, row, failures }, id };
                if self.rendezvous(from, course, next, &offer, found)? {
                    (so_far.moved, so_far.escape) = (so_far.moved + 1, row.escape);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// A `D_proctype` must not have a choice.
    fn check_deterministic(
        &mut self,
        from: &Work,
        course: &Course,
        spot: &Spot,
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        let proctype = &self.system.model.proctypes[spot.proctype as usize];
        let failures = self.scratch.failures.len();
        if proctype.deterministic {
            self.scratch.failures.push(fail::not_deterministic(&proctype.name));
        }
        self.report_blocked(from, course, failures, None, found)
    }

    /// Makes `next` a copy of `from` again.
    #[inline]
    fn undo(&self, from: &Work, next: &mut Course, spot: &Spot, row: Row) {
        if row.atomic {
            next.work.copy_from(from);
        } else if matches!(row.kind, Kind::Look | Kind::Else) && !self.system.table.tidies() {
            self.system.table.set_pc(&mut next.work, spot, spot.pc as usize);
            self.remember_last(&mut next.work, u32::from(from.bytes[VECTOR_LAST as usize]));
        } else {
            next.work.restore(from);
        }
    }

    /// The edge with a number, of the process that stands in `spot`.
    #[inline]
    pub(super) fn edge(&self, spot: &Spot, number: usize) -> &'s Edge {
        let (proctype, pc, edge) = spot.at(number);
        &self.system.model.proctypes[proctype].states[pc].edges[edge]
    }

    /// The executor, with this stepper's buffers.
    pub(super) fn act(&mut self) -> Act<'_> {
        Act {
            model: &self.system.model,
            timeout: self.timeout,
            depth: 0,
            failures: &mut self.scratch.failures,
            message: &mut self.scratch.message,
        }
    }

    /// Tries one statement in place.
    #[inline]
    pub(super) fn execute(&mut self, work: &mut Work, pid: u32, spot: &Spot, number: usize) -> Outcome {
        // Whoever is told wants to know the message too, which only the reference leaves behind.
        if !self.tell
            && let Some(outcome) = self.system.code.fast(work, pid, self.timeout, number, &mut self.scratch.message)
        {
            return outcome;
        }
        let edge = self.edge(spot, number);
        self.act().execute(work, pid, &edge.action)
    }

    /// Something went wrong while a statement was found not to be executable: that is a step that leads nowhere, so that
    /// nothing may come after it. A process that only looked where it must not is blocked all the same.
    ///
    /// Looking where one must not (an index out of bounds in a guard) is an error even though the
    /// process does not move: SPIN aborts there, too.
    #[inline]
    fn report_blocked(
        &mut self,
        from: &Work,
        course: &Course,
        failures: usize,
        at: Option<At>,
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        if self.scratch.failures.len() == failures {
            return ControlFlow::Continue(());
        }
        let mut stopped = Course { work: from.clone(), failures: Vec::new(), ..course.clone() };
        stopped.failures.extend(self.scratch.failures.drain(failures..));
        if stopped.failures.iter().any(|failure| failure.fatal) {
            stopped.moved.insert(course.holder);
        }
        stopped.failures.iter_mut().for_each(|failure| failure.fatal = true);
        if self.tell
            && let Some(at) = at
        {
            // The statement that failed, although it was not executed.
            stopped.told.append(&mut self.scratch.inside);
            stopped.told.push(Micro { pid: course.holder, at, message: None, partner: None, after: from.clone() });
        }
        found(&stopped)
    }

    /// Completes a statement: moves the process on and ends the step or goes on with it.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        course: &Course,
        next: &mut Course,
        taken: &Taken<'_>,
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        let pid = course.holder;
        match taken.row.kind {
            Kind::Die => next.work.pop_process(),
            // A d_step has moved the process itself: it may have several ends.
            Kind::DStep => {}
            _ => self.system.table.set_pc(&mut next.work, taken.spot, taken.row.target as usize),
        }
        self.remember_last(&mut next.work, pid);
        next.holder = pid;
        next.moved = course.moved;
        next.moved.insert(pid);
        if self.is_special(course, taken.failures) {
            self.inherit(course, next, taken.failures);
            self.tell_statement(next, taken);
        }
        self.go_on(next, taken.row.atomic && taken.row.kind != Kind::Die, found)
    }

    fn tell_statement(&mut self, next: &mut Course, taken: &Taken<'_>) {
        if !self.tell {
            return;
        }
        let edge = self.edge(taken.spot, taken.number);
        let message = message_of(&edge.action).then(|| self.scratch.message.clone());
        next.told.append(&mut self.scratch.inside);
        // A d_step is told by its statements.
        if taken.row.kind != Kind::DStep {
            next.told.push(Micro {
                pid: next.holder,
                at: taken.at(),
                message,
                partner: None,
                after: next.work.clone(),
            });
        }
    }

    /// Whether there is more to a statement than its state: failures, or somebody who wants to be told.
    #[inline]
    pub(super) fn is_special(&self, course: &Course, failures: usize) -> bool {
        self.tell || !course.failures.is_empty() || self.scratch.failures.len() > failures
    }

    /// Takes over what went wrong and what happened on the way.
    pub(super) fn inherit(&mut self, course: &Course, next: &mut Course, failures: usize) {
        next.failures.clone_from(&course.failures);
        // An assertion that fails in every round of a loop fails once.
        for failure in self.scratch.failures.drain(failures..) {
            if !next.failures.contains(&failure) {
                next.failures.push(failure);
            }
        }
        next.told.clone_from(&course.told);
    }

    /// Ends the step with `next`, or takes its state away to go on from; a caller that says `atomic` has to copy anew.
    #[inline]
    pub(super) fn go_on(&mut self, next: &mut Course, atomic: bool, found: &mut Ends<'_>) -> ControlFlow<()> {
        let flow = if atomic && !next.failures.iter().any(|failure| failure.fatal) {
            let mut kept = self.scratch.spare.pop().unwrap_or_default();
            kept.take_from(next);
            self.scratch.chain.push(kept);
            ControlFlow::Continue(())
        } else {
            self.end(next, found)
        };
        next.failures.clear();
        next.told.clear();
        flow
    }

    /// Ends the step with `next`.
    #[inline]
    pub(super) fn end(&self, next: &mut Course, found: &mut Ends<'_>) -> ControlFlow<()> {
        if self.system.table.tidies() {
            self.system.table.tidy(&mut next.work, &next.moved);
        }
        found(next)
    }

    #[inline]
    pub(super) fn remember_last(&self, work: &mut Work, pid: u32) {
        if self.system.model.features.last {
            work.bytes[VECTOR_LAST as usize] = pid as u8;
        }
    }

    /// Whether a process is allowed to run: its `provided` clause holds and no process of higher priority can move.
    ///
    /// Asked only where a model has `provided` or priorities (`Spot::restricted`).
    pub fn may_run(&mut self, work: &Work, pid: u32) -> bool {
        let model = &self.system.model;
        if let Some(provided) = &model.proctypes[work.proctype(pid)].provided
            && !super::env(model, work, pid, self.timeout, &mut self.scratch.failures).truth(provided)
        {
            return false;
        }
        !model.features.priority || super::enabled::has_highest_priority(model, work, pid)
    }
}

/// Whether a statement leaves its message in the scratch.
fn message_of(action: &Action) -> bool {
    matches!(action, Action::Send(_) | Action::Receive(_))
}
