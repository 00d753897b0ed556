//! How statements are executed: by the reference interpreter or by native code.
//!
//! The seam between interpreter and compiled code. Two levels: `fast` for one statement, `Points`
//! for a whole control state, which saves asking for each of its edges. Both may always answer "ask
//! the interpreter".

use super::act::Outcome;
use super::coverage::Marks;
use super::vector::Work;

/// An executor of basic statements.
///
/// Every implementation must agree with [`super::act::Act`], statement by statement; tests compare them.
pub trait Code: Sync {
    /// Code for whole control states.
    type Points: Points;

    /// Tries a statement of process `pid` in place; `None` if the interpreter has to do it, and then nothing was
    /// changed. `number` is that of its edge, all edges of the model counted in order. Nothing is changed unless the
    /// outcome is [`Outcome::Done`]; after [`Outcome::Offer`], and only then, the message is in `message`.
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome>;

    /// Code for whole control states, if there is some by now; once there, it stays.
    fn points(&self) -> Option<&Self::Points>;

    /// Where the code marks the statements that it executes; the same for all its life.
    fn marks(&self) -> Option<Marks> {
        None
    }
}

/// Code for whole control states: instead of being asked about one edge after the other, it finds the first that can be
/// executed, executes it and moves the process along.
///
/// Edges are tried in the order of [`crate::ir::ControlState::edges`], with escapes and `else` as
/// the stepper would: answers must number choices in the same way, or schedules would mean
/// something else once a model is compiled.
pub trait Points: Sync {
    /// Takes the first executable edge from `resume` on. The message of an offer is in `message`.
    fn try_edges(&self, at: At<'_>, resume: Resume, message: &mut Vec<i32>) -> Answer;

    /// Takes the message that is offered on rendezvous channel `id`, by the first edge from number `edge` on that does.
    fn take(&self, at: At<'_>, edge: u32, id: i32, message: &[i32]) -> Answer;
}

/// The process that moves, and in what.
pub struct At<'w> {
    /// The state, changed in place.
    pub work: &'w mut Work,
    /// Where the process's frame starts.
    pub frame: usize,
    /// See [`who`].
    pub who: u64,
    /// The number of its control state, all control states of the model counted in order.
    pub state: usize,
}

/// What native code is told beside the state: pid (8 bits), timeout (8), number of processes (16), length (32).
#[inline]
#[must_use]
pub fn who(work: &Work, pid: u32, timeout: bool) -> u64 {
    u64::from(pid) | u64::from(timeout) << 8 | u64::from(work.processes()) << 16 | (work.bytes.len() as u64) << 32
}

/// Where to go on among the edges of a control state.
#[derive(Clone, Copy, Default)]
pub struct Resume {
    /// The first edge to try, counted from 0.
    pub edge: u32,
    /// Whether one before it was executable, so that `else` is not.
    pub executable: bool,
}

/// What came of the edges of a control state, in one word: status, edge, whether it is the last, whether it is atomic,
/// channel.
///
/// One register, because it crosses the boundary of compiled code: bits 0-7 status, 8-23 edge, 24
/// last, 25 atomic, 32-63 channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer(pub u64);

/// The first part of an [`Answer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// None is left that can be executed; nothing was changed.
    Nothing = 0,
    /// This edge was executed, and the process moved along.
    Done = 1,
    /// The interpreter has to try this edge; what is in the work now is worthless.
    ///
    /// The one answer after which the caller must restore the state itself.
    Ask = 2,
    /// This edge offers a message on a rendezvous channel; nothing was changed.
    Offer = 3,
    /// There is no code for this control state; nothing was changed.
    NoCode = 4,
}

impl Answer {
    /// No edge can be executed.
    pub const NOTHING: Self = Self(Status::Nothing as u64);
    /// There is no code.
    pub const NO_CODE: Self = Self(Status::NoCode as u64);

    /// An answer about an edge; `last` if none after it can be executed.
    #[must_use]
    pub const fn new(status: Status, edge: u32, last: bool) -> Self {
        Self(status as u64 | (edge as u64) << 8 | (last as u64) << 24)
    }

    /// The same about an edge after which the process keeps the processor to itself.
    #[must_use]
    pub const fn atomic(self) -> Self {
        Self(self.0 | 1 << 25)
    }

    /// Whether an edge was executed and the step ends with it.
    #[inline]
    #[must_use]
    pub fn ends_step(self) -> bool {
        self.0 & (1 << 25 | 0xff) == Status::Done as u64
    }

    /// What came of it.
    #[inline]
    #[must_use]
    pub fn status(self) -> Status {
        match self.0 as u8 {
            0 => Status::Nothing,
            1 => Status::Done,
            2 => Status::Ask,
            3 => Status::Offer,
            _ => Status::NoCode,
        }
    }

    /// The edge.
    #[inline]
    #[must_use]
    pub fn edge(self) -> u32 {
        (self.0 >> 8) as u32 & 0xffff
    }

    /// Whether no edge after this one can be executed.
    #[inline]
    #[must_use]
    pub fn is_last(self) -> bool {
        self.0 >> 24 & 1 == 1
    }

    /// The channel of an offer.
    #[inline]
    #[must_use]
    pub fn channel(self) -> i32 {
        (self.0 >> 32) as i32
    }
}

/// The reference alone: walks the trees of the IR.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Code for Interpreter {
    type Points = NoPoints;

    #[inline]
    fn fast(&self, _: &mut Work, _: u32, _: bool, _: usize, _: &mut Vec<i32>) -> Option<Outcome> {
        None
    }

    #[inline]
    fn points(&self) -> Option<&NoPoints> {
        None
    }
}

/// The code that does not exist.
#[derive(Clone, Copy, Debug)]
pub enum NoPoints {}

impl Points for NoPoints {
    fn try_edges(&self, _: At<'_>, _: Resume, _: &mut Vec<i32>) -> Answer {
        match *self {}
    }

    fn take(&self, _: At<'_>, _: u32, _: i32, _: &[i32]) -> Answer {
        match *self {}
    }
}
