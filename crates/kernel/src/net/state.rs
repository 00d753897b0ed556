//! What the kernel keeps of sockets.

use super::address::Endpoint;
use super::datagram_fault::Delayed;
use super::family::Transport;
use super::far::Far;
use super::queue::Queue;
use super::reach::Late;
use super::socket::{Listener, Socket, Stage};
use crate::id::{Id, Pid};
use crate::map::Map;
use std::net::Ipv6Addr;

/// `net.unix.max_dgram_qlen`: a mailbox of a Unix datagram socket takes one more than this.
pub const DATAGRAMS_MAX: usize = 10;

/// All sockets.
///
/// **Invariant:** a socket without a descriptor is in the queue of exactly one listener, or is a
/// far end. Queues exist for every socket that can receive; who holds a port is listed there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Net {
    /// Open sockets, and connected ones that wait to be accepted.
    pub sockets: Map<Id, Socket>,
    /// What each of them can receive, by the receiver.
    pub(super) queues: Map<Id, Queue>,
    /// Requests for connections, by the listening socket.
    pub(super) listeners: Map<Id, Listener>,
    /// Ports in use.
    pub(super) ports: Map<(Transport, u16), Port>,
    /// Datagrams that are sent in pieces, by the sender (`MSG_MORE`).
    pub(super) pieces: Map<Id, Pieces>,
    /// Datagrams that a fault delays, by number.
    pub delayed: Map<u16, Delayed>,
    /// Programs that a fault has cut off from all others, sorted.
    pub cut_off: Vec<Pid>,
    /// What has been sent to sockets meanwhile, by the receiver.
    pub(super) late: Map<Id, Late>,
    /// Bound Unix sockets, by name.
    pub(super) names: Map<Place, Id>,
    /// Connections to the outside.
    pub far: Far,
}

impl Net {
    /// How many of the bytes that a socket could receive now were sent first, as far as that is known.
    #[must_use]
    pub fn sent_first(&self, id: Id) -> usize {
        let first = self.queues.get(&id).and_then(|queue| queue.packets.front());
        first.map_or(0, |packet| packet.bytes.len())
    }

    /// Bytes that a socket could receive now.
    #[must_use]
    pub fn received(&self, id: Id) -> usize {
        self.queues.get(&id).map_or(0, Queue::bytes)
    }

    /// Bytes that were sent to a socket and not received, be they late or not.
    #[must_use]
    pub fn sent(&self, id: Id) -> usize {
        self.received(id) + self.late.get(&id).map_or(0, |late| late.bytes.len())
    }

    /// What a socket could receive now: messages, or pieces of a stream, oldest first.
    pub fn in_flight(&self, id: Id) -> impl Iterator<Item = &[u8]> {
        let packets = self.queues.get(&id).into_iter().flat_map(|queue| &queue.packets);
        packets.map(|packet| packet.bytes.as_slice())
    }

    /// Bytes that a socket's buffer may hold.
    #[must_use]
    pub fn receive_limit(&self, id: Id) -> usize {
        self.queues.get(&id).map_or(0, |queue| queue.limit)
    }

    /// Connections that wait to be accepted, and whether there is room for more.
    #[must_use]
    pub fn backlog(&self, id: Id) -> (usize, bool) {
        self.listeners.get(&id).map_or((0, false), |listener| (listener.queue.len(), listener.has_room()))
    }

    /// Who has asked a listener for a connection and was not accepted yet.
    pub fn askers(&self, id: Id) -> impl Iterator<Item = Id> {
        let listener = self.listeners.get(&id);
        listener.into_iter().flat_map(|listener| listener.queue.iter().chain(&listener.waiting).copied())
    }

    /// The socket that has a UDP port for itself.
    #[must_use]
    pub fn holder(&self, port: u16) -> Option<Id> {
        match self.ports.get(&(Transport::Udp, port))?.holders.as_slice() {
            [holder] => Some(*holder),
            _ => None,
        }
    }

    /// TCP connections between programs: the end with the lower id, and the other one.
    pub fn connections(&self) -> impl Iterator<Item = (Id, Id)> {
        let is_open = |socket: &Socket| socket.is_tcp() && socket.stage == Stage::Connected;
        let open = self.sockets.iter().filter(move |(_, socket)| is_open(socket));
        let pairs = open.filter_map(|(id, socket)| Some((*id, socket.peer?)));
        pairs.filter(move |(id, peer)| id < peer && self.sockets.get(peer).is_some_and(is_open))
    }

    /// Sockets that listen.
    pub fn listening(&self) -> impl Iterator<Item = Id> {
        self.listeners.keys().copied()
    }
}

/// A datagram of which more is to come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pieces {
    /// Where it goes: the first piece says so.
    pub(super) destination: Endpoint,
    pub(super) bytes: Vec<u8>,
}

/// One port of one protocol: an object of its own, so that sockets on different ports never meet.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Port {
    /// Sockets that hold it, in the order in which they came.
    pub holders: Vec<Id>,
    /// Connections that are over but rest.
    pub resting: Vec<Resting>,
}

/// A connection that is over but keeps its port for a while (`TIME_WAIT`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Resting {
    pub(super) ip: Ipv6Addr,
    /// Its socket had `SO_REUSEADDR`.
    pub(super) reusable: bool,
    pub(super) until: u64,
}

impl Transport {
    /// The transport of a socket.
    #[must_use]
    pub fn of(socket: &Socket) -> Self {
        if socket.is_tcp() { Self::Tcp } else { Self::Udp }
    }
}

/// Where a Unix socket can be found.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// By an inode.
    Inode(Id),
    /// By a name outside the file system.
    Abstract(Vec<u8>),
}
