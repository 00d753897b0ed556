//! Whether threads are sent signals by others: a refinement, because then their masks and the delivery matter to others.
//!
//! What counts is the step that sends. A signal that a thread has sent itself may still be pending while others move: were it
//! looked at then, the refinement would depend on the schedules that a search has taken.

use crate::system::stepper::Stepper;
use kernel::{Kernel, Pid, Process, Tid};

/// How many signals are pending, for each thread and each process with any.
#[derive(Default)]
pub(crate) struct PendingSignals {
    threads: Vec<(Tid, usize)>,
    processes: Vec<(Pid, usize)>,
}

impl PendingSignals {
    fn of(kernel: &Kernel) -> Self {
        let threads = kernel.threads.iter().map(|(tid, thread)| (*tid, thread.pending.len()));
        let processes = kernel.processes.iter().map(|(pid, process)| (*pid, process.signals.pending.len()));
        let is_any = |count: usize| count > 0;
        Self {
            threads: threads.filter(|(_, count)| is_any(*count)).collect(),
            processes: processes.filter(|(_, count)| is_any(*count)).collect(),
        }
    }

    fn of_thread(&self, tid: Tid) -> usize {
        self.threads.iter().find(|(known, _)| *known == tid).map_or(0, |(_, count)| *count)
    }

    fn of_process(&self, pid: Pid) -> usize {
        self.processes.iter().find(|(known, _)| *known == pid).map_or(0, |(_, count)| *count)
    }
}

impl Stepper<'_> {
    /// The pending signals before a step; nothing if it is known that others send them.
    pub(crate) fn pending_signals(&self) -> PendingSignals {
        match self.executor.refinement.sends_signals {
            true => PendingSignals::default(),
            false => PendingSignals::of(&self.state.world.kernel),
        }
    }

    /// Refines the abstraction if a step has sent a signal to another thread than the one that moves; to any, if time has passed.
    pub(crate) fn note_sent(&mut self, tid: Option<Tid>, before: &PendingSignals) {
        if self.executor.refinement.sends_signals {
            return;
        }
        let kernel = &self.state.world.kernel;
        let own = tid.and_then(|tid| kernel.threads.get(&tid)).map(|thread| thread.pid);
        let mut threads = kernel.threads.iter();
        let to_thread =
            threads.any(|(other, thread)| Some(*other) != tid && thread.pending.len() > before.of_thread(*other));
        // Which of its threads handles it is open.
        let is_other = |process: &Process| Some(process.pid) != own || process.threads.len() > 1;
        let is_new = |process: &Process| process.signals.pending.len() > before.of_process(process.pid);
        if to_thread || kernel.processes.values().any(|process| is_new(process) && is_other(process)) {
            self.executor.refinement.send_signals();
        }
    }
}
