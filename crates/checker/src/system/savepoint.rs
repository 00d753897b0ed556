//! Savepoints: the only way to roll back a part of a step.

use crate::system::overlay::Overlay;
use crate::system::stepper::Stepper;
use kernel::map::Map;
use kernel::shared::Shared;
use kernel::{Kernel, Tid};
use memory::Mark;
use x86::Cpu;

/// The state at some point of a step, and how many events were narrated until then.
///
/// It has all parts that executing instructions and calls may change: memory (undone by its journal), registers, kernel
/// and overlay. The history changes only between steps. The refinement is not rolled back: it only grows, and what an
/// abandoned execution has shown stays true.
///
/// Not a snapshot: it is valid only within the step, since memory is undone by its journal, newest
/// entry first.
pub(crate) struct Savepoint {
    mark: Mark,
    /// Registers of all threads: a step may end others.
    cpus: Map<Tid, Cpu>,
    kernel: Shared<Kernel>,
    overlay: Overlay,
    heard: usize,
    /// Ticks of the step so far, if a debugger counts them.
    ticks: u64,
}

impl Stepper<'_> {
    pub(crate) fn savepoint(&mut self) -> Savepoint {
        Savepoint {
            mark: self.state.world.memory.mark(),
            cpus: self.state.world.cpus.clone(),
            kernel: self.state.world.kernel.clone(),
            overlay: Overlay::clone(&self.state.overlay),
            heard: self.listener.heard.len(),
            ticks: self.ticks(),
        }
    }

    /// Gives up a savepoint: what was executed since stays. A step with many operations would keep a page for each.
    pub(crate) fn release(&mut self, savepoint: Savepoint) {
        self.state.world.memory.release(savepoint.mark);
    }

    pub(crate) fn roll_back(&mut self, savepoint: Savepoint) {
        self.state.world.memory.undo_to(savepoint.mark);
        self.state.world.memory.release(savepoint.mark);
        self.state.world.memory.forget_log();
        self.state.world.cpus = savepoint.cpus;
        if !self.workload.options.holes.rollback {
            self.state.world.kernel = savepoint.kernel;
        }
        self.state.overlay.restore(&savepoint.overlay);
        assert!(self.listener.heard.len() >= savepoint.heard, "events are only added within a step");
        self.listener.heard.truncate(savepoint.heard);
        self.rewind_ticks(savepoint.ticks);
    }
}
