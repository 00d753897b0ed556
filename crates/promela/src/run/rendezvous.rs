//! Two processes that move together: one offers a message, the other takes it.

use super::code::Code;
use super::event;
use super::step::{Course, Micro, Stepper};
use super::vector::Work;
use crate::ir::{Action, Edge, Pc, Receive};
use std::ops::ControlFlow;

/// A statement of a process: proctype, control state, edge.
type At = (usize, Pc, usize);

/// Who takes the message, and how.
struct Receiver<'s> {
    pid: u32,
    at: At,
    receive: &'s Receive,
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Lets every other process take the message that the holder offers; says whether one did.
    pub(super) fn rendezvous(
        &mut self,
        from: &Work,
        course: &Course,
        sender: At,
        id: i32,
        failures: usize,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let offered = self.scratch.message.clone();
        let mut taken = false;
        for pid in (0..from.processes()).rev().filter(|pid| *pid != course.holder) {
            if !self.may_run(from, pid) {
                continue;
            }
            for receiver in self.receivers(from, pid, id) {
                taken = true;
                self.scratch.message.clone_from(&offered);
                self.shake_hands(from, course, sender, &receiver, id, failures, found)?;
                self.scratch.message.clone_from(&offered);
            }
        }
        self.scratch.failures.truncate(failures);
        ControlFlow::Continue(taken)
    }

    /// The edges of a process that take the offered message.
    fn receivers(&mut self, from: &Work, pid: u32, id: i32) -> Vec<Receiver<'s>> {
        let system = self.system;
        let proctype = from.proctype(pid);
        let pc = from.pc(&system.model, pid);
        let (mut receivers, mut escaped) = (Vec::new(), 0);
        for (index, edge) in system.model.proctypes[proctype].states[pc].edges.iter().enumerate() {
            if escaped > 0 && edge.escape != escaped {
                break;
            }
            let Some(receive) = self.receive_of(proctype, edge) else { continue };
            if self.act().accepts(from, pid, receive, id) {
                escaped = edge.escape;
                receivers.push(Receiver { pid, at: (proctype, pc, index), receive });
            }
        }
        receivers
    }

    /// The receive with which an edge starts: its own, or the first statement of its `d_step`.
    fn receive_of(&self, proctype: usize, edge: &'s Edge) -> Option<&'s Receive> {
        match &edge.action {
            Action::Receive(receive) => Some(receive),
            Action::DStep { entry, .. } => {
                let first = self.system.model.proctypes[proctype].states[*entry].edges.first()?;
                if let Action::Receive(receive) = &first.action { Some(receive) } else { None }
            }
            _ => None,
        }
    }

    fn shake_hands(
        &mut self,
        from: &Work,
        course: &Course,
        sender: At,
        receiver: &Receiver<'s>,
        id: i32,
        failures: usize,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let system = self.system;
        let edge = |at: At| &system.model.proctypes[at.0].states[at.1].edges[at.2];
        let (sends, takes) = (edge(sender), edge(receiver.at));
        let mut next = Course { work: from.clone(), ..course.clone() };
        next.work.set_pc(&system.model, course.holder, sends.target);
        self.happened(&mut next.work, course.holder, true, id);
        let message = self.scratch.message.clone();
        if self.tell {
            next.told.push(told(course.holder, sender, &message, receiver.pid, &next.work));
        }
        self.take(&mut next.work, receiver, takes, id);
        self.remember_last(&mut next.work, receiver.pid);
        for (proctype, pc, index) in [sender, receiver.at] {
            system.coverage.reach(proctype, pc, index);
        }
        if self.tell {
            let inside = std::mem::take(&mut self.scratch.inside);
            // A d_step is told by its statements; the receive is the first of them.
            let at = match takes.action {
                Action::DStep { entry, .. } => (receiver.at.0, entry, 0),
                _ => receiver.at,
            };
            next.told.push(told(receiver.pid, at, &message, course.holder, &next.work));
            next.told.extend(inside);
        }
        next.failures.extend(self.scratch.failures.drain(failures..));
        next.moved.insert(course.holder);
        next.moved.insert(receiver.pid);
        next.holder = receiver.pid;
        self.go_on(next, takes.atomic, found)
    }

    fn take(&mut self, work: &mut Work, receiver: &Receiver<'s>, edge: &'s Edge, id: i32) {
        self.happened(work, receiver.pid, false, id);
        self.act().bind(work, receiver.pid, receiver.receive);
        match &edge.action {
            Action::DStep { entry, inside } => self.d_step_rest(work, receiver.pid, *entry, inside),
            _ => work.set_pc(&self.system.model, receiver.pid, edge.target),
        }
    }

    fn happened(&mut self, work: &mut Work, pid: u32, sent: bool, id: i32) {
        let (model, scratch) = (&self.system.model, &mut *self.scratch);
        event::happened(model, work, pid, sent, id, &scratch.message, &mut scratch.failures);
    }
}

fn told(pid: u32, at: At, message: &[i32], partner: u32, after: &Work) -> Micro {
    Micro { pid, at, message: Some(message.to_vec()), partner: Some(partner), after: after.clone() }
}
