//! Gates: what services await before they start.
//!
//! A gate is a condition on the state ("port 80 is listened on"), evaluated before and behind each
//! step. Its object makes the step that opens it and the service that awaits it dependent, as a
//! wake-up is.

use crate::footprint::access::{self, Kind};
use crate::system::service::{Gate, Started};
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::{Pid, Tid};

impl View<'_> {
    /// The service whose own process a thread belongs to.
    fn service_of(&self, tid: Tid) -> Option<&Started> {
        let pid = self.state.world.kernel.threads.get(&tid)?.pid;
        self.workload.services.iter().find(|service| service.pid == pid)
    }

    fn is_open(&self, service: &Started) -> bool {
        let pid_of = |name: &str| self.workload.started.iter().find(|(_, known)| known == name).map(|(pid, _)| *pid);
        service.after.iter().all(|gate| match gate {
            Gate::PowerLoss => self.has_lost_power(),
            gate => gate.is_open(&self.state.world.kernel, &pid_of),
        })
    }

    /// The object of the closed gate at which a thread is blocked.
    pub(crate) fn gate(&self, tid: Tid) -> Option<u64> {
        let service = self.service_of(tid).filter(|service| !service.after.is_empty())?;
        let is_shut = !self.state.history.begun.contains_key(&service.pid) && !self.is_open(service);
        is_shut.then(|| gate_object(service.pid))
    }

    /// Services with gates, and whether all gates of each are open.
    pub(crate) fn gates(&self) -> Vec<(Pid, bool)> {
        let gated = self.workload.services.iter().filter(|service| !service.after.is_empty());
        gated.map(|service| (service.pid, self.is_open(service))).collect()
    }
}

impl Stepper<'_> {
    /// Accesses of a step to gates: it writes those that it opened or closed, and reads that of a service that begins
    /// with it.
    pub(crate) fn gate_accesses(&mut self, by: Tid, before: &[(Pid, bool)]) -> Vec<Access> {
        let after = self.view().gates();
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after);
        let access = |pid, write| Access { object: gate_object(pid), write, plain: false };
        let mut accesses: Vec<Access> = changed.map(|((pid, _), _)| access(*pid, true)).collect();
        if let Some((pid, _)) =
            before.iter().find(|(pid, _)| pid.0 == by.0 && !self.state.history.begun.contains_key(pid))
        {
            self.state.history.begun.insert(*pid, ());
            accesses.push(access(*pid, false));
        }
        accesses
    }
}

/// The gate of a service as an object.
fn gate_object(pid: Pid) -> u64 {
    access::object(Kind::Process, u64::from(pid.0), 7)
}
