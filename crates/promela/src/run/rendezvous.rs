//! Two processes that move together: one offers a message, the other takes it.

use super::code::Code;
use super::event;
use super::step::{At, Course, Micro, Offer, Stepper};
use super::vector::Work;
use crate::ir::{Action, Edge, Receive};
use std::ops::ControlFlow;

/// Who takes the message, and how.
struct Receiver<'s> {
    pid: u32,
    at: At,
    number: usize,
    edge: &'s Edge,
    receive: &'s Receive,
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Lets every other process take the message that the holder offers; says whether one did. `next` holds a copy of
    /// `from` before and after.
    pub(super) fn rendezvous(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        offer: &Offer<'s>,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let mut taken = false;
        let mut takers = std::mem::take(&mut self.scratch.takers);
        for pid in (0..from.processes()).rev().filter(|pid| *pid != course.holder) {
            if !self.may_run(from, pid) {
                continue;
            }
            self.find_takers(from, pid, offer.id, &mut takers);
            for index in takers.drain(..) {
                taken = true;
                let receiver = self.receiver(from, pid, index);
                self.shake_hands(course, next, offer, &receiver, found)?;
                next.work.restore(from);
            }
        }
        self.scratch.takers = takers;
        self.scratch.failures.truncate(offer.failures);
        ControlFlow::Continue(taken)
    }

    /// The edges of a process that take the offered message.
    fn find_takers(&mut self, from: &Work, pid: u32, id: i32, takers: &mut Vec<usize>) {
        let system = self.system;
        let (proctype, pc) = (from.proctype(pid), from.pc(&system.model, pid));
        let mut escaped = 0;
        for (index, edge) in system.model.proctypes[proctype].states[pc].edges.iter().enumerate() {
            if escaped > 0 && edge.escape != escaped {
                break;
            }
            let Some(receive) = self.receive_of(proctype, edge) else { continue };
            if self.act().accepts(from, pid, receive, id) {
                escaped = edge.escape;
                takers.push(index);
            }
        }
    }

    fn receiver(&self, from: &Work, pid: u32, index: usize) -> Receiver<'s> {
        let system = self.system;
        let (proctype, pc) = (from.proctype(pid), from.pc(&system.model, pid));
        let edge = &system.model.proctypes[proctype].states[pc].edges[index];
        let receive = self.receive_of(proctype, edge).expect("only receives take a message");
        Receiver { pid, at: (proctype, pc, index), number: system.coverage.number(proctype, pc) + index, edge, receive }
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
        course: &Course,
        next: &mut Course,
        offer: &Offer<'s>,
        receiver: &Receiver<'s>,
        found: &mut impl FnMut(&Course) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let system = self.system;
        next.work.set_pc(&system.model, course.holder, offer.edge.target);
        self.happened(&mut next.work, course.holder, true, offer.id);
        let sent = self.tell.then(|| self.told(course.holder, offer.at, receiver.pid, &next.work));
        let received = self.take(&mut next.work, receiver, course.holder, offer.id);
        self.remember_last(&mut next.work, receiver.pid);
        system.coverage.reach(offer.number);
        system.coverage.reach(receiver.number);
        next.holder = receiver.pid;
        next.moved = course.moved;
        next.moved.insert(course.holder);
        next.moved.insert(receiver.pid);
        if self.is_special(course, offer.failures) {
            self.inherit(course, next, offer.failures);
            next.told.extend(sent);
            next.told.extend(received);
            next.told.append(&mut self.scratch.inside);
        }
        self.go_on(next, receiver.edge.atomic, found)
    }

    /// Stores the message and moves the receiver on; says what it did, if somebody wants to be told.
    fn take(&mut self, work: &mut Work, receiver: &Receiver<'s>, sender: u32, id: i32) -> Option<Micro> {
        self.happened(work, receiver.pid, false, id);
        self.act().bind(work, receiver.pid, receiver.receive);
        let Action::DStep { entry, inside } = &receiver.edge.action else {
            work.set_pc(&self.system.model, receiver.pid, receiver.edge.target);
            return self.tell.then(|| self.told(receiver.pid, receiver.at, sender, work));
        };
        // The rest of a d_step may send and receive, while the offer is still to be made to others. It is told by its
        // statements, and the receive is the first of them.
        let offered = self.scratch.message.clone();
        self.d_step_rest(work, receiver.pid, *entry, inside);
        self.scratch.message = offered;
        self.tell.then(|| self.told(receiver.pid, (receiver.at.0, *entry, 0), sender, work))
    }

    fn told(&self, pid: u32, at: At, partner: u32, after: &Work) -> Micro {
        let message = Some(self.scratch.message.clone());
        Micro { pid, at, message, partner: Some(partner), after: after.clone() }
    }

    fn happened(&mut self, work: &mut Work, pid: u32, sent: bool, id: i32) {
        let (model, scratch) = (&self.system.model, &mut *self.scratch);
        event::happened(model, work, pid, sent, id, &scratch.message, &mut scratch.failures);
    }
}
