//! Steps by native code for whole control states: the same as [`Stepper::edges`], which remains for what it cannot do.
//!
//! **Invariant:** for every state, the steps found here are those of the interpreter, in the same
//! order and with the same numbers (tests compare them on random models). Whatever the compiled
//! code does not know, it hands back.

use super::code::{Answer, At, Code, Points, Resume, Status, who};
use super::course::{ChoiceEnds, Course, Ends, Offer, SoFar, Taken};
use super::step::Stepper;
use super::table::Spot;
use super::vector::Work;
use explore::{Bits, Selection};
use std::ops::ControlFlow;
use trace::Choice;

/// Where a process stands, for the code.
#[derive(Clone, Copy)]
struct Place {
    frame: usize,
    who: u64,
    state: usize,
}

impl Place {
    #[inline]
    fn at(self, next: &mut Course) -> At<'_> {
        At { work: &mut next.work, frame: self.frame, who: self.who, state: self.state }
    }
}

impl<'s, C: Code> Stepper<'s, C> {
    /// Native code for whole control states, if it may be used here: whoever is told wants to know more than it says.
    #[inline]
    pub(super) fn points(&self) -> Option<&'s C::Points> {
        if self.tell { None } else { self.system.code.points() }
    }

    /// One round over the selected processes, youngest first as SPIN does; says whether somebody moved. `next` is a copy
    /// of `from`. A function of its own, as is [`Self::rest`], so that what every step needs stays in registers.
    ///
    /// This is the inner loop of every search of a model: no allocation, no dynamic dispatch, one
    /// call of compiled code for each process.
    #[inline(never)]
    pub(super) fn native_pass(
        &mut self,
        points: &C::Points,
        from: &Work,
        next: &mut Course,
        selection: Selection,
        found: &mut impl FnMut(Choice, &Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let (mut moved, nobody) = (false, who(from, 0, self.timeout));
        for (pid, frame) in from.frames.iter().enumerate().rev() {
            let (pid, frame) = (pid as u32, *frame as usize);
            if !selection.contains(pid) {
                continue;
            }
            let place = Place {
                frame,
                who: nobody | u64::from(pid),
                state: self.system.table.state_number(&from.bytes, frame),
            };
            let answer = points.try_edges(place.at(next), Resume::default(), &mut self.scratch.message);
            // Most processes wait in most states.
            if answer != Answer::NOTHING {
                moved |= self.answered(points, from, next, (pid, place, answer), found)?;
            }
        }
        ControlFlow::Continue(moved)
    }

    /// Goes on with a process whose first answer is there. Steps of one statement, which are nearly all, end here.
    #[inline]
    fn answered(
        &mut self,
        points: &C::Points,
        from: &Work,
        next: &mut Course,
        (pid, place, mut answer): (u32, Place, Answer),
        found: &mut impl FnMut(Choice, &Course) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let mut choice = Choice { actor: pid, index: 0 };
        (next.holder, next.moved) = (pid, Bits::one(pid));
        while answer.ends_step() {
            if self.system.table.tidies() {
                self.system.table.tidy(&mut next.work, &next.moved);
            }
            found(choice, next)?;
            next.work.restore(from);
            if answer.is_last() {
                return ControlFlow::Continue(true);
            }
            choice.index += 1;
            let resume = Resume { edge: answer.edge() + 1, executable: true };
            answer = points.try_edges(place.at(next), resume, &mut self.scratch.message);
        }
        let moved = choice.index > 0;
        if answer == Answer::NOTHING {
            return ControlFlow::Continue(moved);
        }
        let more = self.rest(from, next, (choice, answer), found)?;
        ControlFlow::Continue(moved || more)
    }

    /// The same for all other steps.
    #[inline(never)]
    fn rest(
        &mut self,
        from: &Work,
        next: &mut Course,
        (mut choice, answer): (Choice, Answer),
        found: &mut ChoiceEnds<'_>,
    ) -> ControlFlow<(), bool> {
        let start = Course { holder: choice.actor, ..Course::default() };
        let executable = choice.index > 0;
        let mut tell = |course: &Course| {
            let at = choice;
            choice.index += course.failures.len().max(1) as u32;
            found(at, course)
        };
        if answer == Answer::NO_CODE {
            return self.steps(from, &start, next, &mut tell);
        }
        let depth = self.scratch.chain.len();
        let spot = self.system.table.spot(from, start.holder);
        let moved = self.point_edges(from, &start, next, (&spot, answer, executable), &mut tell)?;
        if self.scratch.chain.len() > depth {
            self.follow(depth, next, &mut tell)?;
            next.work.copy_from(from);
        }
        ControlFlow::Continue(moved)
    }

    /// Asks the code for the holder's first executable edge.
    #[inline]
    pub(super) fn point(&mut self, course: &Course, next: &mut Course, spot: &Spot, resume: Resume) -> Answer {
        match self.points() {
            // Failures are to be handed on, which the code does not.
            Some(points) if course.failures.is_empty() => {
                let who = who(&next.work, course.holder, self.timeout);
                let at = At { work: &mut next.work, frame: spot.frame(), who, state: spot.state as usize };
                points.try_edges(at, resume, &mut self.scratch.message)
            }
            _ => Answer::NO_CODE,
        }
    }

    /// Goes through the holder's edges; `answer` is the first one's, `executable` whether one before it was executed.
    pub(super) fn point_edges(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        (spot, mut answer, executable): (&Spot, Answer, bool),
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), bool> {
        let mut so_far = SoFar { executable, ..SoFar::default() };
        loop {
            let number = spot.number(answer.edge());
            match answer.status() {
                Status::Nothing | Status::NoCode => break,
                Status::Done => {
                    (so_far.moved, so_far.executable) = (so_far.moved + 1, true);
                    next.holder = course.holder;
                    next.moved = course.moved;
                    next.moved.insert(course.holder);
                    self.leave(from, next, number, found)?;
                    if answer.is_last() {
                        break;
                    }
                }
                Status::Ask => {
                    next.work.copy_from(from);
                    self.edge_of(from, course, next, (spot, number), &mut so_far, found)?;
                }
                Status::Offer => {
                    let failures = self.scratch.failures.len();
                    let taken = Taken { spot, number, row: self.system.table.row(number), failures };
                    let offer = Offer { taken, id: answer.channel() };
                    so_far.moved += u32::from(self.rendezvous(from, course, next, &offer, found)?);
                }
            }
            if number + 1 == spot.edges().end {
                break;
            }
            let resume = Resume { edge: answer.edge() + 1, executable: so_far.executable };
            answer = self.point(course, next, spot, resume);
        }
        ControlFlow::Continue(so_far.moved > 0)
    }

    /// Ends a step whose last statement the code has executed, or goes on with it, and makes `next` a copy of `from` again.
    #[inline]
    fn leave(&mut self, from: &Work, next: &mut Course, number: usize, found: &mut Ends<'_>) -> ControlFlow<()> {
        if self.system.table.row(number).atomic {
            self.go_on(next, true, found)?;
            next.work.copy_from(from);
        } else {
            self.end(next, found)?;
            next.work.restore(from);
        }
        ControlFlow::Continue(())
    }

    /// Lets a process take the holder's message by native code; says whether it did, and which is the first edge that
    /// is left to the interpreter.
    #[inline]
    pub(super) fn native_takers(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        offer: &Offer<'_>,
        pid: u32,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), (bool, Option<u32>)> {
        let (mut taken, mut edge) = (false, 0);
        let Some(points) = self.points().filter(|_| course.failures.is_empty()) else {
            return ControlFlow::Continue((taken, Some(0)));
        };
        let (frame, who) = (from.frame(pid), who(from, pid, self.timeout));
        let state = self.system.table.state_number(&from.bytes, frame);
        loop {
            let at = At { work: &mut next.work, frame, who, state };
            let answer = points.take(at, edge, offer.id, &self.scratch.message);
            match answer.status() {
                Status::Done => {
                    taken = true;
                    self.hand_over(from, course, next, offer, (pid, answer.edge()), found)?;
                    if answer.is_last() {
                        return ControlFlow::Continue((taken, None));
                    }
                    edge = answer.edge() + 1;
                }
                Status::Ask => {
                    next.work.copy_from(from);
                    return ControlFlow::Continue((taken, Some(answer.edge())));
                }
                Status::NoCode => return ControlFlow::Continue((taken, Some(edge))),
                Status::Nothing | Status::Offer => return ControlFlow::Continue((taken, None)),
            }
        }
    }

    /// Completes a rendezvous whose receiving half the code has executed.
    fn hand_over(
        &mut self,
        from: &Work,
        course: &Course,
        next: &mut Course,
        offer: &Offer<'_>,
        (pid, edge): (u32, u32),
        found: &mut Ends<'_>,
    ) -> ControlFlow<()> {
        self.system.table.set_pc(&mut next.work, offer.taken.spot, offer.taken.row.target as usize);
        self.system.coverage.reach(offer.taken.number);
        next.holder = pid;
        next.moved = course.moved;
        next.moved.insert(course.holder);
        next.moved.insert(pid);
        let number = self.system.table.spot(from, pid).number(edge);
        self.leave(from, next, number, found)
    }
}
