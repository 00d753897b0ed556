//! "We do not model this": an answer with a name, a process and a call stack.

use crate::stack::{self, Frame};
use crate::world::World;
use kernel::Tid;
use std::fmt;

/// Something that a guest asked for and that is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What: a syscall with the flag or request that was met, an instruction, a limit.
    pub what: String,
    /// The process, by name.
    pub process: String,
    /// The thread that met it.
    pub tid: Tid,
    /// Where: innermost function first.
    pub frames: Vec<Frame>,
}

impl Refusal {
    pub(crate) fn new(world: &mut World, tid: Tid, what: String) -> Self {
        let pid = world.kernel.threads.get(&tid).map(|thread| thread.pid);
        let process = pid.and_then(|pid| world.kernel.processes.get(&pid));
        let process = process.map_or_else(String::new, |process| process.name.clone());
        let frames = stack::frames(world, tid);
        Self { what, process, tid, frames }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not modelled: {}\n  in {} (thread {})", self.what, self.process, self.tid.0)?;
        for frame in &self.frames {
            write!(f, "\n    {frame}")?;
        }
        Ok(())
    }
}
