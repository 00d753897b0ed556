//! A socket.

use super::address::Name;
use super::options::Options;
use crate::errno::Errno;
use crate::id::{Id, Pid};
use crate::process::Process;
use std::collections::VecDeque;

pub use super::family::{Family, Kind};

/// How far a socket has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// New, or disconnected.
    Idle,
    /// `listen(2)`.
    Listening,
    /// Its request is on the way to a listener without room.
    Connecting,
    /// Connected; for datagrams: with a fixed destination.
    Connected,
}

/// A socket.
///
/// **Invariant:** a `Connected` stream has a `peer`; `peer` stays when the other side closes, and
/// then leads to no socket any more. `twin` is set exactly while a request is under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Socket {
    /// Address family.
    pub family: Family,
    /// Kind of communication.
    pub kind: Kind,
    /// Its own name.
    pub local: Option<Name>,
    /// Its peer's.
    pub remote: Option<Name>,
    /// The kernel chose the port, not the guest.
    pub port_chosen: bool,
    /// How far it has come.
    pub stage: Stage,
    /// The socket at the other end of the connection, even if it is closed by now.
    pub peer: Option<Id>,
    /// The socket that the listener will give out for the request under way.
    pub twin: Option<Id>,
    /// A non-blocking `connect(2)` was answered with `EINPROGRESS` and the guest has not asked since.
    pub untold: bool,
    /// When a request that finds no room is given up.
    pub deadline: Option<u64>,
    /// The error that the next call reports (`SO_ERROR`).
    pub error: Option<Errno>,
    /// `shutdown(2)` of reading.
    pub receive_shut: bool,
    /// `shutdown(2)` of writing.
    pub send_shut: bool,
    /// It has ended its direction before the other side did: its port is not free at once.
    pub closed_first: bool,
    /// Options.
    pub options: Options,
    /// Who created it, or began to listen on it.
    pub identity: Identity,
    /// Who is at the other end (`SO_PEERCRED`).
    pub peer_identity: Option<Identity>,
}

/// Who a message or connection comes from (`struct ucred`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    /// Process.
    pub pid: Pid,
    /// Effective user.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
}

/// Requests for connections to a listening socket.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Listener {
    /// How many may wait to be accepted; Linux lets in one more.
    pub backlog: usize,
    /// Connected sockets that nobody has accepted yet.
    pub queue: VecDeque<Id>,
    /// Sockets whose request found no room.
    pub waiting: VecDeque<Id>,
}

impl Listener {
    /// Whether another connection has room.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.queue.len() <= self.backlog
    }
}

impl Socket {
    /// Whether it carries bytes, not messages.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.kind == Kind::Stream
    }

    /// A new socket.
    #[must_use]
    pub fn new(family: Family, kind: Kind, identity: Identity) -> Self {
        Self {
            family,
            kind,
            local: None,
            remote: None,
            port_chosen: false,
            stage: Stage::Idle,
            peer: None,
            twin: None,
            untold: false,
            deadline: None,
            error: None,
            receive_shut: false,
            send_shut: false,
            closed_first: false,
            options: Options::new(family, kind),
            identity,
            peer_identity: None,
        }
    }

    /// Whether it is TCP.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        self.is_inet() && self.kind == Kind::Stream
    }

    /// Whether it is a UDP socket.
    #[must_use]
    pub fn is_udp(&self) -> bool {
        self.is_inet() && self.kind == Kind::Datagram
    }

    /// The port that it is bound to.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self.local {
            Some(Name::Inet(endpoint)) => Some(endpoint.port),
            _ => None,
        }
    }

    /// Whether it speaks IPv4 or IPv6.
    #[must_use]
    pub fn is_inet(&self) -> bool {
        matches!(self.family, Family::Inet | Family::Inet6)
    }

    /// Whether messages have borders.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.kind != Kind::Stream
    }

    /// Takes the error that waits to be reported.
    pub fn take_error(&mut self) -> Result<(), Errno> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl Identity {
    /// A process as others see it.
    #[must_use]
    pub fn of(process: &Process) -> Self {
        let credentials = &process.credentials;
        Self { pid: process.pid, uid: credentials.user[1], gid: credentials.group[1] }
    }
}
