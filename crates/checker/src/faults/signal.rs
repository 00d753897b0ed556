//! Signals that somebody outside sends to a program: an operator, `init(8)`, a terminal.
//!
//! The signal is pending behind the fault, and delivered where the next step of a thread that takes it begins. Sending conflicts
//! with everything, as `kill(2)` does.

use super::placed::PlacedFaults;
use super::plan::Effect;
use crate::footprint::access;
use crate::system::state::History;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::Access;
use kernel::Pid;
use kernel::process::{SignalInfo, State};
use kernel::signal::{self, SI_USER, Target};

impl PlacedFaults {
    /// Whether a fault that has happened has sent a program such a signal.
    fn has_sent(&self, history: &History, pid: Pid, number: u8) -> bool {
        let is_it = |fault: &u16| {
            self.victim(*fault) == Some(pid) && self.all[usize::from(*fault)].effect == Effect::Signal(number)
        };
        history.faults.iter().any(is_it)
    }
}

impl Workload {
    /// Whether a process was ended by a signal that a fault has sent it.
    pub(crate) fn is_ended_by_fault(&self, history: &History, pid: Pid, number: i32) -> bool {
        u8::try_from(number).is_ok_and(|number| self.faults.has_sent(history, pid, number))
    }
}

impl View<'_> {
    /// Whether a program has ended by a signal.
    pub(super) fn has_died_of(self, pid: Pid, number: u8) -> bool {
        let process = self.state.world.kernel.processes.get(&pid);
        process
            .is_some_and(|process| matches!(process.state, State::Zombie(status) if status & 0x7f == i32::from(number)))
    }
}

impl Stepper<'_> {
    /// Sends a program a signal, as a process outside would; its accesses.
    pub(super) fn send(&mut self, number: u8, pid: Pid) -> Vec<Access> {
        self.executor.refinement.send_signals();
        let kernel = &mut self.state.world.kernel;
        signal::send(kernel, Target::Process(pid), SignalInfo { number, code: SI_USER, ..SignalInfo::default() });
        access::everything()
    }
}
