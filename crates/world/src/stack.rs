//! Call stacks of guests, by the unwind tables that their binaries carry, with function names where symbols are found.

use crate::debug::DebugInfo;
use crate::debug::unwind::Call;
use crate::world::World;
use kernel::Tid;
use std::fmt;

/// One call on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The address: of the instruction, or of the one that a call returns to.
    pub address: u64,
    /// The file that is mapped there, and the place in it.
    pub place: Option<(String, u64)>,
    /// The function and how far into it.
    pub function: Option<(String, u64)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)?;
        if let Some((name, offset)) = &self.function {
            write!(f, "  {name}+{offset:#x}")?;
        }
        match &self.place {
            Some((file, _)) if self.function.is_some() => write!(f, "  ({file})"),
            Some((file, offset)) => write!(f, "  {file}+{offset:#x}"),
            None => Ok(()),
        }
    }
}

/// The call stack of a thread, innermost function first.
pub fn frames(world: &World, tid: Tid) -> Vec<Frame> {
    DebugInfo::new(world.kernel.host.clone()).calls(world, tid).into_iter().map(frame).collect()
}

fn frame(call: Call) -> Frame {
    let function = call.symbol.map(|named| (named.name, named.offset));
    Frame { address: call.address, place: call.place, function }
}
