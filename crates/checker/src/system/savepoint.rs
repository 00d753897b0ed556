//! The one way back within a step: what was executed since a savepoint is rolled back, all of it.

use crate::system::overlay::Overlay;
use crate::system::stepper::Stepper;
use kernel::map::Map;
use kernel::shared::Shared;
use kernel::{Kernel, Tid};
use memory::Mark;
use x86::Cpu;

/// The world, what the checker knows of its threads, and what was heard, at some point of a step.
pub(crate) struct Savepoint {
    mark: Mark,
    /// Of all threads: a step may end others.
    cpus: Map<Tid, Cpu>,
    kernel: Shared<Kernel>,
    overlay: Overlay,
    heard: usize,
}

impl Stepper<'_> {
    pub(crate) fn savepoint(&mut self) -> Savepoint {
        Savepoint {
            mark: self.state.world.memory.mark(),
            cpus: self.state.world.cpus.clone(),
            kernel: self.state.world.kernel.clone(),
            overlay: Overlay::clone(&self.state.overlay),
            heard: self.listener.heard.len(),
        }
    }

    pub(crate) fn roll_back(&mut self, savepoint: Savepoint) {
        self.state.world.memory.undo_to(savepoint.mark);
        self.state.world.memory.forget_log();
        self.state.world.cpus = savepoint.cpus;
        if !self.workload.options.holes.rollback {
            self.state.world.kernel = savepoint.kernel;
        }
        self.state.overlay.restore(&savepoint.overlay);
        self.listener.heard.truncate(savepoint.heard);
    }
}
