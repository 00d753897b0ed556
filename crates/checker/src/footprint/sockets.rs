//! What calls on sockets touch: for each socket its life, and the head and the tail of what it has yet to receive.
//!
//! A reader takes from the head, a writer adds to the tail of its peer. Each looks at the other end only if it has to: the
//! reader if it wants more than there is, the writer if room is short.
//!
//! Head and tail as two objects is what makes a producer and a consumer on one connection
//! independent while there is data and room, as for channels of models.

use super::access::{Kind, object};
use explore::graph::Access;
use kernel::descriptor::File;
use kernel::net::Request;
use kernel::net::socket::Socket;
use kernel::{Id, Kernel};

const LIFE: u64 = 0;
const HEAD: u64 = 2;
const TAIL: u64 = 3;

fn part(id: Id, part: u64, write: bool) -> Access {
    Access { object: object(Kind::File, id.0, part), write, plain: false }
}

/// Sets that watch a socket: what happens to it goes into their lists.
fn watchers(kernel: &Kernel, id: Id) -> Vec<Access> {
    let watchers = kernel.events.watchers.get(&File::Socket(id));
    watchers.into_iter().flatten().map(|watcher| part(watcher.epoll, LIFE, true)).collect()
}

/// The other end of a stream; nothing for datagrams, whose receiver is not known beforehand.
fn peer(kernel: &Kernel, id: Id) -> Option<Id> {
    let socket = kernel.net.sockets.get(&id)?;
    socket.peer.or(socket.twin).filter(|_| socket.is_stream())
}

/// Everything about a socket and its peer.
pub fn whole(kernel: &Kernel, id: Id) -> Vec<Access> {
    let both = [Some(id), peer(kernel, id)].into_iter().flatten();
    let mut accesses: Vec<Access> =
        both.flat_map(|id| [part(id, LIFE, true), part(id, HEAD, true), part(id, TAIL, true)]).collect();
    if kernel.net.sockets.get(&id).is_some_and(|socket| !socket.is_stream()) {
        // A datagram may go anywhere.
        accesses.push(super::access::writes(Kind::Ports, 0));
    }
    accesses.extend(watchers(kernel, id));
    accesses.extend(peer(kernel, id).into_iter().flat_map(|peer| watchers(kernel, peer)));
    accesses
}

/// A socket is closed or shut down; a listener's port is free afterwards, and who has asked for a connection is told.
pub fn end(kernel: &Kernel, id: Id) -> Vec<Access> {
    let mut accesses = whole(kernel, id);
    accesses.extend(kernel.net.askers(id).flat_map(|asker| whole(kernel, asker)));
    accesses.push(super::access::writes(Kind::Ports, 0));
    accesses
}

/// Something that does not change is asked.
pub fn ask(id: Id) -> Vec<Access> {
    vec![part(id, LIFE, false)]
}

/// `recv(2)` and its kin.
pub fn receive(kernel: &Kernel, id: Id, length: u64) -> Vec<Access> {
    let is_udp = kernel.net.sockets.get(&id).is_some_and(|socket| socket.is_inet() && !socket.is_stream());
    let Some(peer) = peer(kernel, id) else {
        return if is_udp { mailbox(kernel, id) } else { whole(kernel, id) };
    };
    let mut accesses = vec![part(id, LIFE, false), part(id, HEAD, true)];
    if length >= kernel.net.received(id) as u64 {
        accesses.push(part(id, TAIL, false));
    }
    accesses.extend(watchers(kernel, id));
    accesses.extend(watchers(kernel, peer));
    accesses
}

/// `send(2)` and its kin.
pub fn send(kernel: &Kernel, id: Id, length: u64) -> Vec<Access> {
    let Some(peer) = peer(kernel, id) else { return whole(kernel, id) };
    let mut accesses = vec![part(id, LIFE, false), part(peer, LIFE, false), part(peer, TAIL, true)];
    let room = kernel.net.receive_limit(peer).saturating_sub(kernel.net.sent(peer)) as u64;
    if length.saturating_mul(4) >= room {
        accesses.push(part(peer, HEAD, false));
    }
    accesses.extend(watchers(kernel, peer));
    accesses
}

/// `accept(2)`: takes the oldest connection.
pub fn accept(kernel: &Kernel, id: Id) -> Vec<Access> {
    let (waiting, has_room) = kernel.net.backlog(id);
    let mut accesses = vec![part(id, LIFE, false), part(id, HEAD, true)];
    if waiting == 0 || !has_room {
        accesses.push(part(id, TAIL, true));
    }
    accesses.extend(watchers(kernel, id));
    accesses
}

/// `connect(2)` to a listener: adds a connection.
pub fn knock(kernel: &Kernel, id: Id) -> Vec<Access> {
    let (_, has_room) = kernel.net.backlog(id);
    let mut accesses = vec![part(id, LIFE, false), part(id, TAIL, true)];
    if !has_room {
        accesses.push(part(id, HEAD, true));
    }
    accesses.extend(watchers(kernel, id));
    accesses
}

/// A datagram comes from outside, to this socket if there is one. Who has a port is looked at, and not changed.
pub fn datagram(kernel: &Kernel, receiver: Option<Id>) -> Vec<Access> {
    let ports = super::access::reads(Kind::Ports, 0);
    receiver.into_iter().flat_map(|id| mailbox(kernel, id)).chain([ports]).collect()
}

/// The mailbox of a UDP socket, and the error that waits. Whoever sends inside writes all ports.
fn mailbox(kernel: &Kernel, id: Id) -> Vec<Access> {
    let own = [LIFE, HEAD, TAIL].map(|of| part(id, of, true));
    own.into_iter().chain([super::access::reads(Kind::Ports, 0)]).chain(watchers(kernel, id)).collect()
}

/// Whether a socket can be read or written is looked at.
pub fn look(kernel: &Kernel, id: Id) -> Vec<Access> {
    let mut accesses = received(kernel, id);
    if let Some(peer) = peer(kernel, id) {
        accesses.extend([part(peer, LIFE, false), part(peer, HEAD, false)]);
    }
    accesses
}

/// What a wait for something about a socket depends on.
pub fn awaited(kernel: &Kernel, request: Request) -> Vec<Access> {
    match request {
        Request::Data(id, _) | Request::Connection(id) | Request::Backlog(id) => received(kernel, id),
        Request::Room(id) => match peer(kernel, id) {
            Some(peer) => vec![part(id, LIFE, false), part(peer, LIFE, false), part(peer, HEAD, false)],
            None => whole(kernel, id),
        },
        Request::Mailbox { from, to } => [from, to].into_iter().flat_map(|id| whole(kernel, id)).collect(),
        // A listener answers when it has room.
        Request::Answer(id) => {
            let listeners = kernel.net.listening().flat_map(|listener| received(kernel, listener));
            whole(kernel, id).into_iter().chain(listeners).collect()
        }
    }
}

/// What a socket has received, or will: datagrams may come from anywhere.
fn received(kernel: &Kernel, id: Id) -> Vec<Access> {
    let is_stream = kernel.net.sockets.get(&id).is_none_or(Socket::is_stream);
    let anywhere = (!is_stream).then(|| super::access::reads(Kind::Ports, 0));
    [LIFE, HEAD, TAIL].map(|of| part(id, of, false)).into_iter().chain(anywhere).collect()
}
