//! Programs of a check with their names, what they wait for before they start, and how they are expected to end.

use crate::footprint::access::{self, Kind};
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::Access;
use kernel::net::address::Name;
use kernel::net::socket::Stage;
use kernel::process::State;
use kernel::{Kernel, Pid, Tid};
use world::Command;

/// A program of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Service {
    /// How it is called; empty for the name of its program.
    pub name: String,
    /// What to start.
    pub command: Command,
    /// What must be so before it starts.
    pub after: Vec<Gate>,
    /// How it is expected to end.
    pub expected: Expected,
}

/// What must be so before a service starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Somebody listens on this TCP port.
    Listening(u16),
    /// This service has ended, with exit code 0.
    Succeeded(String),
}

/// How a service is expected to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expected {
    /// With exit code 0.
    #[default]
    Success,
    /// Not at all: that it waits at the end is no deadlock, and that it ends is an error.
    Running,
    /// With this exit code.
    Code(u8),
    /// It does not matter.
    Any,
}

impl Service {
    /// A program that starts at once and is expected to succeed.
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self { name: String::new(), command, after: Vec::new(), expected: Expected::Success }
    }
}

impl Expected {
    /// Whether a wait status is what was expected.
    #[must_use]
    pub fn allows(self, code: i32) -> bool {
        match self {
            Self::Success => code == 0,
            Self::Running => false,
            Self::Code(expected) => code == i32::from(expected),
            Self::Any => true,
        }
    }
}

impl Gate {
    /// Whether it is open; `pid_of` knows services by name.
    #[must_use]
    pub fn is_open(&self, kernel: &Kernel, pid_of: &dyn Fn(&str) -> Option<Pid>) -> bool {
        match self {
            Self::Listening(port) => kernel.net.sockets.values().any(|socket| {
                let is_there = |name: &Name| matches!(name, Name::Inet(endpoint) if endpoint.port == *port);
                socket.stage == Stage::Listening && socket.local.as_ref().is_some_and(is_there)
            }),
            Self::Succeeded(name) => pid_of(name).is_some_and(|pid| {
                let process = kernel.processes.get(&pid);
                process.is_none_or(|process| process.state == State::Zombie(0))
            }),
        }
    }
}

/// A service that was started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Started {
    pub pid: Pid,
    pub after: Vec<Gate>,
    pub expected: Expected,
}

impl View<'_> {
    /// The service whose own process a thread belongs to.
    fn service_of(&self, tid: Tid) -> Option<&Started> {
        let pid = self.state.world.kernel.threads.get(&tid)?.pid;
        self.workload.services.iter().find(|service| service.pid == pid)
    }

    fn is_open(&self, service: &Started) -> bool {
        let pid_of = |name: &str| self.workload.started.iter().find(|(_, known)| known == name).map(|(pid, _)| *pid);
        service.after.iter().all(|gate| gate.is_open(&self.state.world.kernel, &pid_of))
    }

    /// What a thread waits for that may not start yet.
    pub(crate) fn gate(&self, tid: Tid) -> Option<u64> {
        let service = self.service_of(tid).filter(|service| !service.after.is_empty())?;
        let is_shut = !self.state.history.begun.contains_key(&service.pid) && !self.is_open(service);
        is_shut.then(|| gate_object(service.pid))
    }

    /// Which of the services that wait for something may start.
    pub(crate) fn gates(&self) -> Vec<(Pid, bool)> {
        let gated = self.workload.services.iter().filter(|service| !service.after.is_empty());
        gated.map(|service| (service.pid, self.is_open(service))).collect()
    }

    /// Whether a thread may wait for ever: it belongs to a service that is expected to be running at the end, or to a child
    /// of one.
    pub(crate) fn may_stay(&self, tid: Tid) -> bool {
        let Some(thread) = self.state.world.kernel.threads.get(&tid) else { return true };
        let service = self.workload.services.iter().find(|service| service.pid == self.service(thread.pid));
        service.is_some_and(|service| service.expected == Expected::Running)
    }
}

impl Stepper<'_> {
    /// What a step touched of gates: those that it opened or shut, and that of a service that begins with it.
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

impl Workload {
    /// How a program that was started is expected to end; nothing for its children.
    pub(crate) fn expected(&self, pid: Pid) -> Option<Expected> {
        self.services.iter().find(|service| service.pid == pid).map(|service| service.expected)
    }
}

/// The beginning of a service, for whoever waits for it.
fn gate_object(pid: Pid) -> u64 {
    access::object(Kind::Process, u64::from(pid.0), 7)
}
