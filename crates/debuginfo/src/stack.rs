//! Call stacks of guests, by the unwind tables that their binaries carry, with function names where symbols are found.
//!
//! For refusals and crashes; frames without tables or symbols are addresses, and unwinding ends at
//! the first that cannot be passed.

use crate::DebugInfo;
use crate::unwind::Call;
use kernel::Tid;
use world::World;
use world::{Frame, Refusal};

/// The call stack of a thread, innermost function first.
#[must_use]
pub fn frames(world: &World, tid: Tid) -> Vec<Frame> {
    DebugInfo::new(world.kernel.host.clone()).calls(world, tid).into_iter().map(frame).collect()
}

fn frame(call: Call) -> Frame {
    let function = call.symbol.map(|named| (named.name, named.offset));
    Frame { address: call.address, place: call.place, function }
}

/// A refusal with the call stack of its thread, in the world that it was met in.
#[must_use]
pub fn with_frames(refusal: Refusal, world: &World) -> Refusal {
    let frames = frames(world, refusal.tid);
    Refusal { frames, ..refusal }
}
