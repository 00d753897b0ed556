//! Programs of a check, with their names, their gates and how they are expected to end.

use kernel::net::address::{Endpoint, Name};
use kernel::net::socket::Stage;
use kernel::process::State;
use kernel::{Kernel, Pid};
use std::net::SocketAddr;
use world::Command;

/// A program of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Service {
    /// Its name; empty for the name of its program.
    pub name: String,
    /// What to start.
    pub command: Command,
    /// What must hold before it starts.
    pub after: Vec<Gate>,
    /// How it is expected to end.
    pub expected: Expected,
}

/// What must hold before a service starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gate {
    /// A socket listens on this TCP port.
    Listening(u16),
    /// A socket listens on this address and TCP port.
    ListeningOn(SocketAddr),
    /// A Unix socket listens at this path, or at this abstract name after an `@`.
    ListeningAt(String),
    /// A UDP socket is bound to this port.
    Bound(u16),
    /// This service has ended, with exit code 0.
    Succeeded(String),
    /// Power has failed, and it is known which files there are.
    PowerLoss,
}

/// How a service is expected to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expected {
    /// With exit code 0.
    #[default]
    Success,
    /// Not at all: to be blocked at the end is no deadlock, and to end is a failure.
    Running,
    /// Not at all, or with exit code 0: to wait for requests at the end is no deadlock.
    Idle,
    /// With this exit code.
    Code(u8),
    /// In any way.
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
            Self::Success | Self::Idle => code == 0,
            Self::Running => false,
            Self::Code(expected) => code == i32::from(expected),
            Self::Any => true,
        }
    }

    /// Whether it may still be there at the end.
    #[must_use]
    pub fn may_last(self) -> bool {
        matches!(self, Self::Running | Self::Idle)
    }
}

impl Gate {
    /// The gate that only a listening socket of this name opens.
    #[must_use]
    pub fn listening(name: &Name) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match name {
            Name::Inet(Endpoint { ip, port }) => Self::ListeningOn(SocketAddr::new(ip.to_canonical(), *port)),
            Name::Path(path, _) => Self::ListeningAt(text(path)),
            Name::Abstract(name) => Self::ListeningAt(format!("@{}", text(name))),
        }
    }

    /// Whether a listening socket of this name opens it.
    fn is_opened_by(&self, name: &Name) -> bool {
        match (self, name) {
            (Self::Listening(port), Name::Inet(endpoint)) => *port == endpoint.port,
            _ => *self == Self::listening(name),
        }
    }

    /// Whether it is open; `pid_of` finds services by name.
    #[must_use]
    pub fn is_open(&self, kernel: &Kernel, pid_of: &dyn Fn(&str) -> Option<Pid>) -> bool {
        match self {
            Self::Listening(_) | Self::ListeningOn(_) | Self::ListeningAt(_) => {
                let mut listening = kernel.net.sockets.values().filter(|socket| socket.stage == Stage::Listening);
                listening.any(|socket| socket.local.as_ref().is_some_and(|name| self.is_opened_by(name)))
            }
            Self::Bound(port) => {
                kernel.net.sockets.values().any(|socket| socket.is_udp() && socket.port() == Some(*port))
            }
            Self::Succeeded(name) => pid_of(name).is_some_and(|pid| {
                let process = kernel.processes.get(&pid);
                process.is_none_or(|process| process.state == State::Zombie(0))
            }),
            // The kernel does not know: see `View::is_open`.
            Self::PowerLoss => false,
        }
    }
}

/// A service that was started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Started {
    pub pid: Pid,
    pub command: Command,
    pub after: Vec<Gate>,
    pub expected: Expected,
}
