//! How statements are executed: by the reference interpreter or by native code.

use super::act::{Act, Outcome};
use super::vector::Work;
use crate::ir::Action;

/// An executor of basic statements.
///
/// Every implementation must agree with [`Interpreter`], statement by statement; tests compare them.
pub trait Code: Sync {
    /// Tries a statement of process `pid` in place; `number` is that of its edge, all edges of the model counted in
    /// order ([`super::Coverage::number`]). Nothing is changed unless the outcome is [`Outcome::Done`].
    fn execute(&self, act: &mut Act<'_>, work: &mut Work, pid: u32, number: usize, action: &Action) -> Outcome;
}

/// The reference: walks the trees of the IR.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Code for Interpreter {
    fn execute(&self, act: &mut Act<'_>, work: &mut Work, pid: u32, _: usize, action: &Action) -> Outcome {
        act.execute(work, pid, action)
    }
}
