//! How statements are executed: by the reference interpreter or by native code.

use super::act::Outcome;
use super::vector::Work;

/// An executor of basic statements.
///
/// Every implementation must agree with [`super::act::Act`], statement by statement; tests compare them.
pub trait Code: Sync {
    /// Tries a statement of process `pid` in place; `None` if the interpreter has to do it, and then nothing was
    /// changed. `number` is that of its edge, all edges of the model counted in order. Nothing is changed unless the
    /// outcome is [`Outcome::Done`]; after [`Outcome::Offer`], and only then, the message is in `message`.
    fn fast(&self, work: &mut Work, pid: u32, timeout: bool, number: usize, message: &mut Vec<i32>) -> Option<Outcome>;
}

/// The reference alone: walks the trees of the IR.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Code for Interpreter {
    #[inline]
    fn fast(&self, _: &mut Work, _: u32, _: bool, _: usize, _: &mut Vec<i32>) -> Option<Outcome> {
        None
    }
}
