//! Atomic sequences: statements one after the other, without a state that others could see in between.
//!
//! **Why atomic sequences are one step** (decision 3): nothing in between is ever seen by others,
//! so states inside need neither be stored nor searched. The price is that a sequence which loops
//! for ever would hang a step: loops are noticed, by Brent's algorithm while there is one way to go
//! on (one saved state, compared with each following one, renewed at powers of two; O(1) memory)
//! and by a set of states once there are several.
//!
//! A sequence that *blocks* ends its step there, and the process loses the processor, as in SPIN:
//! another may move, and the sequence goes on when it can.

use super::code::{Answer, At, Code, Points, Resume, Status, who};
use super::course::{Course, Ends};
use super::fail;
use super::step::Stepper;
use super::system::Buffers;
use super::table::Spot;
use std::ops::ControlFlow;

/// Statements in one step after which states inside it are remembered, so that a loop ends.
///
/// Nearly all sequences are shorter; their states are not worth comparing.
const REMEMBER: usize = 4096;
/// Statements in one step after which it is called endless, if there is one way through it: nothing has to be kept.
const STRAIGHT_MAX: usize = 100_000_000;
/// The same if there are several.
const BRANCHED_MAX: usize = 1_000_000;
/// Statements after which the state is saved, to go back to.
const SAVE_EVERY: usize = 64;
/// Statements between two looks at the clock.
const LOOK_EVERY: usize = 4096;

/// How far a step has come, and whether it goes in circles.
///
/// Counts statements over all branches of one step.
#[derive(Default)]
struct Length {
    statements: usize,
    /// Whether there was more than one way to go on.
    branched: bool,
    /// A state on the only way, compared with those after it (Brent's algorithm).
    mark: Vec<u8>,
    /// Who had the processor there, and in which control state it stood: compared first.
    mark_at: (u32, u32),
    /// Statements at which the mark is set anew.
    next_mark: usize,
}

impl Length {
    fn is_too_long(&self) -> bool {
        self.statements > if self.branched { BRANCHED_MAX } else { STRAIGHT_MAX }
    }

    /// Counts a statement of the holder, which stands in this control state; whether the sequence was here before.
    #[inline]
    fn repeats(&mut self, course: &Course, state: u32, buffers: &mut Buffers) -> bool {
        self.statements += 1;
        if self.statements <= REMEMBER {
            return false;
        }
        if self.branched {
            return !buffers.seen.insert((course.holder, course.work.bytes.clone()));
        }
        if self.statements >= self.next_mark {
            self.set_mark(course, state);
            return false;
        }
        self.mark_at == (course.holder, state) && self.mark == course.work.bytes
    }

    fn set_mark(&mut self, course: &Course, state: u32) {
        self.mark_at = (course.holder, state);
        self.mark.clone_from(&course.work.bytes);
        self.next_mark = 2 * self.statements;
    }
}

/// Why statements are not executed in place any more.
enum Halt {
    /// The step has ended.
    End,
    /// The sequence has come back to where it was.
    Repeats,
    /// There are several ways to go on, or none, or the interpreter has to look.
    Unclear,
}

impl<C: Code> Stepper<'_, C> {
    /// Follows atomic sequences until each ends, blocks or repeats itself.
    ///
    /// Depth first over the branches of a sequence. Every end is handed to `found` once; a branch
    /// that repeats a state has no end and is dropped, unless something failed on the way.
    pub(super) fn follow(&mut self, depth: usize, next: &mut Course, found: &mut Ends<'_>) -> ControlFlow<()> {
        let mut length = Length { branched: self.scratch.chain.len() > depth + 1, ..Length::default() };
        self.scratch.seen.clear();
        while self.scratch.chain.len() > depth {
            let mut course = self.scratch.chain.pop().expect("longer than depth");
            let halt = self.go_straight(&mut course, next, &mut length, found)?;
            if self.scratch.cut {
                self.scratch.chain.truncate(depth);
                return ControlFlow::Break(());
            }
            if length.is_too_long() {
                course.failures.push(fail::endless("an atomic sequence", length.statements - 1));
                self.scratch.chain.truncate(depth);
                return found(&course);
            }
            match halt {
                Halt::End => {}
                Halt::Unclear => {
                    if !self.branch(&course, next, found)? {
                        self.end(&mut course, found)?;
                    }
                    length.branched |= self.scratch.chain.len() > depth + 1;
                }
                // It never ends, but what went wrong on the way did.
                Halt::Repeats if !course.failures.is_empty() => {
                    course.failures.iter_mut().for_each(|failure| failure.fatal = true);
                    found(&course)?;
                }
                Halt::Repeats => {}
            }
            self.scratch.spare.push(course);
        }
        ControlFlow::Continue(())
    }

    /// Goes on from a state inside a sequence in every way there is; whether there is one.
    fn branch(&mut self, course: &Course, next: &mut Course, found: &mut Ends<'_>) -> ControlFlow<(), bool> {
        next.work.copy_from(&course.work);
        let timeout = std::mem::replace(&mut self.timeout, false);
        let moved = self.edges(&course.work, course, next, found);
        self.timeout = timeout;
        moved
    }

    /// Executes statements in place as long as native code says that there is one and no other. `next` is room for a
    /// state to go back to.
    ///
    /// Native code executes in place. When it stops at something unclear, the state is already
    /// changed: it is made again from the last saved one by repeating at most [`SAVE_EVERY`]
    /// statements, which is cheaper than saving each.
    fn go_straight(
        &mut self,
        course: &mut Course,
        next: &mut Course,
        length: &mut Length,
        found: &mut Ends<'_>,
    ) -> ControlFlow<(), Halt> {
        let mut since = 0;
        loop {
            let spot = self.system.table.spot(&course.work, course.holder);
            if length.repeats(course, spot.state, self.scratch) {
                return ControlFlow::Continue(Halt::Repeats);
            }
            self.look_at_clock(length);
            let points = self.points().filter(|_| course.failures.is_empty() && !spot.restricted && !self.scratch.cut);
            let Some(points) = points.filter(|_| !length.is_too_long()) else {
                return ControlFlow::Continue(Halt::Unclear);
            };
            if since % SAVE_EVERY == 0 {
                since = 0;
                next.work.copy_from(&course.work);
            }
            let answer = points.try_edges(standing(course, &spot), Resume::default(), &mut self.scratch.message);
            if goes_straight(answer) {
                since += 1;
                continue;
            }
            if answer.ends_step() && answer.is_last() {
                self.end(course, found)?;
                return ControlFlow::Continue(Halt::End);
            }
            if answer.status() != Status::Nothing {
                self.go_back(course, next, since, points);
            }
            return ControlFlow::Continue(Halt::Unclear);
        }
    }

    /// Takes back what an answer that does not go straight left behind: from the saved state the same way once more.
    fn go_back(&mut self, course: &mut Course, saved: &Course, statements: usize, points: &C::Points) {
        course.work.copy_from(&saved.work);
        for _ in 0..statements {
            let spot = self.system.table.spot(&course.work, course.holder);
            points.try_edges(standing(course, &spot), Resume::default(), &mut self.scratch.message);
        }
    }

    #[inline]
    fn look_at_clock(&mut self, length: &Length) {
        if length.statements.is_multiple_of(LOOK_EVERY) {
            self.scratch.cut |= self.scratch.patience.is_over();
        }
    }
}

/// The holder, for native code.
#[inline]
fn standing<'w>(course: &'w mut Course, spot: &Spot) -> At<'w> {
    let who = who(&course.work, course.holder, false);
    At { work: &mut course.work, frame: spot.frame(), who, state: spot.state as usize }
}

/// Whether a statement was executed, the process keeps the processor, and no other statement could be executed.
#[inline]
fn goes_straight(answer: Answer) -> bool {
    answer.status() == Status::Done && answer.is_last() && !answer.ends_step()
}
