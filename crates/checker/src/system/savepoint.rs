//! The one way back within a step: what was executed since a savepoint is rolled back, all of it.

use super::step::Step;
use crate::system::overlay::Overlay;
use crate::system::stepper::Stepper;
use explore::graph::Access;
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

/// How far a step has come.
pub(crate) struct Progress {
    accesses: usize,
    lowest: u64,
    clean_below: u64,
    assertion: Option<String>,
    misuse: Option<&'static str>,
    exits: bool,
}

impl Progress {
    /// Accesses that were noted after this point.
    pub fn since<'a>(&self, step: &'a mut Step) -> &'a mut [Access] {
        &mut step.accesses[self.accesses..]
    }
}

impl Step {
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            accesses: self.accesses.len(),
            lowest: self.lowest,
            clean_below: self.clean_below,
            assertion: self.assertion.clone(),
            misuse: self.misuse,
            exits: self.exits,
        }
    }

    /// Whether accesses were noted since.
    pub(crate) fn has_touched_since(&self, progress: &Progress) -> bool {
        self.accesses.len() > progress.accesses
    }

    pub(crate) fn go_back_to(&mut self, progress: Progress) {
        let Progress { accesses, lowest, clean_below, assertion, misuse, exits } = progress;
        self.accesses.truncate(accesses);
        self.handed = self.handed.min(accesses);
        (self.lowest, self.clean_below) = (lowest, clean_below);
        (self.assertion, self.misuse, self.exits) = (assertion, misuse, exits);
    }
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
