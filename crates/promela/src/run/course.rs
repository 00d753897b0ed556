//! What a step under way is made of.

use super::table::{Row, Spot};
use super::vector::Work;
use crate::ir::Pc;
use explore::{Bits, Failure};
use std::ops::ControlFlow;
use trace::Choice;

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
///
/// Buffers are recycled (`spare`): a search takes millions of steps, none of which should allocate.
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

impl Course {
    /// Becomes `other`, which gets the old buffers.
    pub(super) fn take_from(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.work, &mut other.work);
        (self.holder, self.moved) = (other.holder, other.moved);
        std::mem::swap(&mut self.failures, &mut other.failures);
        std::mem::swap(&mut self.told, &mut other.told);
    }
}

/// Who is handed the ends of steps. Not generic: with every store and every search would come a copy of the interpreter,
/// hundreds in all, and they took half of the build.
pub(super) type Ends<'f> = dyn FnMut(&Course) -> ControlFlow<()> + 'f;

/// The same, with the choice that each step is.
pub(super) type ChoiceEnds<'f> = dyn FnMut(Choice, &Course) -> ControlFlow<()> + 'f;

/// A statement of a process: proctype, control state, edge.
pub(super) type At = (usize, Pc, usize);

/// What came of the edges that were tried.
#[derive(Clone, Copy, Default)]
pub(super) struct SoFar {
    /// How many led somewhere.
    pub moved: u32,
    /// Whether one was executable, so that `else` is not.
    pub executable: bool,
    /// The escape that one of them belongs to.
    pub escape: u32,
}

/// A statement that was executed.
#[derive(Clone, Copy)]
pub(super) struct Taken<'t> {
    /// Where the process stood.
    pub spot: &'t Spot,
    /// The number of the edge.
    pub number: usize,
    /// The edge.
    pub row: Row,
    /// How many failures there were before it.
    pub failures: usize,
}

impl Taken<'_> {
    /// The statement.
    pub fn at(&self) -> At {
        self.spot.at(self.number)
    }
}

/// A message that the holder would hand over on a rendezvous channel.
pub(super) struct Offer<'t> {
    /// The send.
    pub taken: Taken<'t>,
    /// The channel.
    pub id: i32,
}
