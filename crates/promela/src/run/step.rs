//! Steps: what a process can do next, and where it leads.
//!
//! A step runs from one state that others can see to the next: a single statement, a rendezvous of two processes, or an
//! atomic sequence up to the point where it ends or blocks. States inside it are never stored, and no claim sees them.

use super::act::{Act, Outcome};
use super::code::Code;
use super::vector::Work;
use super::{Scratch, System, fail};
use crate::ir::{Action, Pc, VECTOR_LAST};
use explore::{Bits, Failure};
use std::ops::ControlFlow;

/// Statements in one step after which states inside it are remembered, so that a loop ends.
const CHAIN_REMEMBER: usize = 4096;
/// Statements in one step after which it is called endless.
const CHAIN_MAX: usize = 1_000_000;

/// One statement that was executed, kept when somebody wants to be told.
#[derive(Clone, Debug)]
pub struct Micro {
    /// Who executed it.
    pub pid: u32,
    /// Its proctype, where it stood and which edge it took.
    pub at: (usize, Pc, usize),
    /// The message that it sent or received.
    pub message: Option<Vec<i32>>,
    /// The other side of a rendezvous.
    pub partner: Option<u32>,
    /// The state after it.
    pub after: Work,
}

/// A step under way: a state inside an atomic sequence, or the end of a step.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The state.
    pub work: Work,
    /// Who has the processor to itself.
    pub holder: u32,
    /// Everyone who moved.
    pub moved: Bits,
    /// What went wrong so far.
    pub failures: Vec<Failure>,
    /// What happened so far, if somebody wants to be told.
    pub told: Vec<Micro>,
}

/// Computes the steps of one process after the other.
pub struct Stepper<'s, C> {
    /// The system.
    pub system: &'s System<C>,
    /// Buffers.
    pub scratch: &'s mut Scratch,
    /// Whether statements may see `timeout` as true.
    pub timeout: bool,
    /// Whether to keep what happened.
    pub tell: bool,
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Hands every step of `pid` from `from` to `found`; says whether there was one.
    pub fn steps(
        &mut self,
        from: &Work,
        pid: u32,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let start = Course { holder: pid, ..Course::default() };
        let depth = self.scratch.chain.len();
        let moved = self.statements(from, &start, found)?;
        if self.scratch.chain.len() > depth {
            self.follow(depth, found)?;
        }
        ControlFlow::Continue(moved)
    }

    /// Follows atomic sequences until each ends, blocks or repeats itself.
    fn follow(&mut self, depth: usize, found: &mut impl FnMut(&Course) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut statements = 0;
        self.scratch.seen.clear();
        while self.scratch.chain.len() > depth {
            let mut course = self.scratch.chain.pop().expect("longer than depth");
            statements += 1;
            if statements > CHAIN_MAX {
                course.failures.push(fail::endless("an atomic sequence"));
                self.scratch.chain.truncate(depth);
                return found(&course);
            }
            if statements > CHAIN_REMEMBER && !self.scratch.seen.insert((course.holder, course.work.bytes.clone())) {
                continue;
            }
            let work = std::mem::take(&mut course.work);
            let timeout = std::mem::replace(&mut self.timeout, false);
            let moved = self.statements(&work, &course, found);
            self.timeout = timeout;
            course.work = work;
            if !moved? {
                found(&course)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Executes every single statement that the holder can execute in `from`; ends of steps go to `found`, states inside
    /// atomic sequences onto the chain.
    pub(super) fn statements(
        &mut self,
        from: &Work,
        course: &Course,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let pid = course.holder;
        if !self.may_run(from, pid) {
            return ControlFlow::Continue(false);
        }
        let system = self.system;
        let proctype = from.proctype(pid);
        let pc = from.pc(&system.model, pid);
        let edges = &system.model.proctypes[proctype].states[pc].edges;
        let mut next = self.scratch.pool.pop().unwrap_or_default();
        next.copy_from(from);
        let (mut moved, mut alone, mut escaped) = (0u32, true, 0);
        for (index, edge) in edges.iter().enumerate() {
            if escaped > 0 && edge.escape != escaped {
                break;
            }
            let failures = self.scratch.failures.len();
            let outcome = match &edge.action {
                Action::Else if !alone => continue,
                Action::Else => Outcome::Done,
                Action::DStep { entry, inside } => self.d_step(from, &mut next, pid, *entry, inside),
                Action::Die if pid + 1 == next.processes() => Outcome::Done,
                Action::Die => Outcome::Blocked,
                action => self.execute(&mut next, pid, (proctype, pc, index), action),
            };
            match outcome {
                Outcome::Blocked => self.report_blocked(from, course, failures, found)?,
                Outcome::Done => {
                    (moved, alone, escaped) = (moved + 1, false, edge.escape);
                    self.arrive(&mut next, course, (proctype, pc, index), failures, found)?;
                    next.copy_from(from);
                }
                Outcome::Offer(id) => {
                    let taken = self.rendezvous(from, course, (proctype, pc, index), id, failures, found)?;
                    if taken {
                        (moved, escaped) = (moved + 1, edge.escape);
                    }
                }
            }
        }
        self.scratch.pool.push(next);
        if moved > 1 && system.model.proctypes[proctype].deterministic {
            self.scratch.failures.push(fail::not_deterministic(&system.model.proctypes[proctype].name));
            let failures = self.scratch.failures.len() - 1;
            self.report_blocked(from, course, failures, found)?;
        }
        ControlFlow::Continue(moved > 0)
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
    pub(super) fn execute(&mut self, work: &mut Work, pid: u32, at: (usize, Pc, usize), action: &Action) -> Outcome {
        let system = self.system;
        system.code.execute(&mut self.act(), work, pid, at, action)
    }

    /// Something went wrong while a statement was found not to be executable: that is a step that leads nowhere.
    fn report_blocked(
        &mut self,
        from: &Work,
        course: &Course,
        failures: usize,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.scratch.failures.len() == failures {
            return ControlFlow::Continue(());
        }
        let mut stopped = Course { work: from.clone(), ..course.clone() };
        stopped.failures.extend(self.scratch.failures.drain(failures..));
        stopped.moved.insert(course.holder);
        found(&stopped)
    }

    /// Completes a statement: moves the process on and ends the step or goes on with it.
    fn arrive(
        &mut self,
        work: &mut Work,
        course: &Course,
        (proctype, pc, index): (usize, Pc, usize),
        failures: usize,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let system = self.system;
        let pid = course.holder;
        let edge = &system.model.proctypes[proctype].states[pc].edges[index];
        system.coverage.reach(proctype, pc, index);
        match edge.action {
            Action::Die => work.pop_process(),
            // A d_step has moved the process itself: it may have several ends.
            Action::DStep { .. } => {}
            _ => work.set_pc(&system.model, pid, edge.target),
        }
        self.remember_last(work, pid);
        if !edge.atomic && course.failures.is_empty() && self.scratch.failures.len() == failures && !self.tell {
            // The usual case, without a copy.
            self.scratch.end.work.bytes.clear();
            let mut end = std::mem::take(&mut self.scratch.end);
            std::mem::swap(&mut end.work, work);
            end.moved = course.moved;
            end.moved.insert(pid);
            end.failures.clear();
            let flow = found(&end);
            std::mem::swap(&mut end.work, work);
            self.scratch.end = end;
            return flow;
        }
        let mut next = Course { work: work.clone(), ..course.clone() };
        next.moved.insert(pid);
        next.failures.extend(self.scratch.failures.drain(failures..));
        if self.tell {
            let message = message_of(&edge.action).then(|| self.scratch.message.clone());
            next.told.extend(self.scratch.inside.drain(..));
            // A d_step is told by its statements.
            if !matches!(edge.action, Action::DStep { .. }) {
                let partner = None;
                next.told.push(Micro { pid, at: (proctype, pc, index), message, partner, after: work.clone() });
            }
        }
        self.go_on(next, edge.atomic && !matches!(edge.action, Action::Die), found)
    }

    pub(super) fn go_on(
        &mut self,
        course: Course,
        atomic: bool,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let fatal = course.failures.iter().any(|failure| failure.fatal);
        if atomic && !fatal {
            self.scratch.chain.push(course);
            return ControlFlow::Continue(());
        }
        found(&course)
    }

    pub(super) fn remember_last(&self, work: &mut Work, pid: u32) {
        if self.system.model.features.last {
            work.bytes[VECTOR_LAST as usize] = pid as u8;
        }
    }

    /// Whether a process is allowed to run: its `provided` clause holds and no process of higher priority can move.
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
