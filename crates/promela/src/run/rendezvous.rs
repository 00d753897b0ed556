//! Two processes that move together: one offers a message, the other takes it.
//!
//! SPIN's manual: a send on a channel of capacity 0 is executable if some other process can receive
//! the message in the same step. Both processes move, the receiver keeps the processor if it is in
//! an atomic sequence, and the state in between is never seen.

use super::code::Code;
use super::course::{At, Course, Ends, Micro, Offer};
use super::event;
use super::step::Stepper;
use super::table::{Kind, Spot};
use super::vector::Work;
use crate::ir::{Action, Edge, Receive};
use std::ops::ControlFlow;

/// Who takes the message, and how.
struct Receiver<'s> {
    pid: u32,
    spot: Spot,
    number: usize,
    edge: &'s Edge,
    receive: &'s Receive,
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Lets every other process take the message that the holder offers; says whether one did. `next` holds a copy of
    /// `from` before and after.
    ///
    /// Every pair (send, receive) is a choice of the *sender*; receivers have no choice of their
    /// own for it. Takers are tried youngest first, as SPIN does.
    pub(super) fn rendezvous(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        offer: &Offer<'_>,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        let mut taken = false;
        let restricted = self.system.model.features.priority || self.system.model.features.provided;
        let mut takers = std::mem::take(&mut self.scratch.takers);
        for pid in (0..from.processes()).rev().filter(|pid| *pid != course.holder) {
            if restricted && !self.may_run(from, pid) {
                continue;
            }
            let (took, rest) = self.native_takers(from, course, next, offer, pid, found)?;
            taken |= took;
            let Some(first) = rest else { continue };
            let spot = self.system.table.spot(from, pid);
            self.find_takers(from, pid, (&spot, spot.number(first)), offer.id, &mut takers);
            for number in takers.drain(..) {
                taken = true;
                let edge = self.edge(&spot, number);
                let receive = self.receive_of(spot.proctype as usize, edge).expect("only receives take a message");
                let receiver = Receiver { pid, spot, number, edge, receive };
                self.shake_hands(course, next, offer, &receiver, found)?;
                if edge.atomic { next.work.copy_from(from) } else { next.work.restore(from) }
            }
        }
        self.scratch.takers = takers;
        self.scratch.failures.truncate(offer.taken.failures);
        ControlFlow::Continue(taken)
    }

    /// The edges of a process from number `first` on that take the offered message.
    fn find_takers(&mut self, from: &Work, pid: u32, (spot, first): (&Spot, usize), id: i32, takers: &mut Vec<usize>) {
        let mut escaped = 0;
        for number in first..spot.edges().end {
            let row = self.system.table.row(number);
            if escaped > 0 && row.escape != escaped {
                break;
            }
            if !matches!(row.kind, Kind::Change | Kind::DStep) {
                continue;
            }
            let Some(receive) = self.receive_of(spot.proctype as usize, self.edge(spot, number)) else { continue };
            if self.act().accepts(from, pid, receive, id) {
                escaped = row.escape;
                takers.push(number);
            }
        }
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
        offer: &Offer<'_>,
        receiver: &Receiver<'s>,
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        let system = self.system;
        system.table.set_pc(&mut next.work, offer.taken.spot, offer.taken.row.target as usize);
        self.happened(&mut next.work, course.holder, true, offer.id);
        let sent = self.tell.then(|| self.told(course.holder, offer.taken.at(), receiver.pid, &next.work));
        let received = self.take(&mut next.work, receiver, course.holder, offer.id);
        self.remember_last(&mut next.work, receiver.pid);
        system.coverage.reach(offer.taken.number);
        system.coverage.reach(receiver.number);
        next.holder = receiver.pid;
        next.moved = course.moved;
        next.moved.insert(course.holder);
        next.moved.insert(receiver.pid);
        if self.is_special(course, offer.taken.failures) {
            self.inherit(course, next, offer.taken.failures);
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
            self.system.table.set_pc(work, &receiver.spot, receiver.edge.target);
            return self.tell.then(|| self.told(receiver.pid, receiver.spot.at(receiver.number), sender, work));
        };
        // The rest of a d_step may send and receive, while the offer is still to be made to others. It is told by its
        // statements, and the receive is the first of them.
        let offered = self.scratch.message.clone();
        self.d_step_rest(work, receiver.pid, *entry, inside);
        self.scratch.message = offered;
        self.tell.then(|| self.told(receiver.pid, (receiver.spot.proctype as usize, *entry, 0), sender, work))
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
