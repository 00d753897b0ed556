//! What is done with far ends: guests connect to peers, peers connect to guests, and bytes go both ways.
//!
//! A far end is a socket without a descriptor. Everything that works on connections (queues,
//! resets, `poll(2)`) works on it unchanged; this file is only about how something comes in from a
//! peer and how what is sent is told to it.

use super::address::{Endpoint, Name};
use super::close::{finish, part, reset};
use super::connection::establish;
use super::family::Transport;
use super::far::{End, FarEnd, PeerId, Place, Saying, Site};
use super::far_log::say;
use super::poll::{ARRIVED, CHANGED, wake};
use super::port;
use super::queue::Queue;
use super::socket::{Family, Identity, Kind, Socket, Stage};
use super::taken::Taken;
use crate::id::{Id, Pid};
use crate::{Kernel, files};
use std::net::Ipv4Addr;

/// The peer at an address where no process listens.
#[must_use]
pub fn peer_at(kernel: &Kernel, transport: Transport, destination: Endpoint) -> Option<PeerId> {
    let Endpoint { ip, port } = destination;
    let site = match ip.to_ipv4_mapped() {
        _ if destination.is_local() => Site::Local(transport, port),
        Some(machine) => Site::Machine(transport, machine, port),
        None => return None,
    };
    kernel.net.far.declared.get(&site).copied()
}

/// A request of a guest reaches a peer: the connection exists from now on.
pub fn establish_far(kernel: &mut Kernel, id: Id, peer: PeerId) {
    let socket = kernel.net.sockets.get_mut(&id).expect("who asks exists");
    let twin = socket.twin.take().expect("a request has a twin");
    (socket.stage, socket.deadline, socket.peer) = (Stage::Connected, None, Some(twin));
    if socket.family == Family::Unix {
        socket.peer_identity = Some(outsider());
    }
    let mut other = Socket::new(socket.family, Kind::Stream, outsider());
    (other.local, other.remote) = (socket.remote.clone(), socket.local.clone());
    (other.stage, other.peer, other.peer_identity) = (Stage::Connected, Some(id), Some(socket.identity));
    insert(kernel, twin, other, peer);
    say(kernel, twin, Saying::Open);
    wake(kernel, id, CHANGED);
}

/// Who listens on a local port, for a connection that comes from another one.
#[must_use]
pub fn listener(kernel: &Kernel, port: u16, destination: u16) -> Option<Id> {
    port::receiver(kernel, Transport::Tcp, at(port), at(destination))
}

/// Who holds a local port, whether it listens or not.
#[must_use]
pub fn holders(kernel: &Kernel, port: u16) -> Vec<Id> {
    kernel.net.ports.get(&(Transport::Tcp, port)).map_or_else(Vec::new, |port| port.holders.to_vec())
}

/// A port of the local machine.
pub(super) fn at(port: u16) -> Endpoint {
    Endpoint { ip: Ipv4Addr::LOCALHOST.to_ipv6_mapped(), port }
}

/// Opens a connection of a peer to a local port; nothing if no process listens there. `id` names it, and `port` is where it
/// comes from.
pub fn open(kernel: &mut Kernel, (id, peer): (Id, PeerId), port: u16, destination: u16) -> Option<()> {
    let listener = listener(kernel, port, destination)?;
    let (source, destination) = (at(port), at(destination));
    let mut socket = Socket::new(Family::Inet, Kind::Stream, outsider());
    (socket.local, socket.remote) = (Some(Name::Inet(source)), Some(Name::Inet(destination)));
    (socket.stage, socket.twin) = (Stage::Connecting, Some(id.child(1)));
    insert(kernel, id, socket, peer);
    establish(kernel, id, listener);
    Some(())
}

/// The stream socket that listens at a path.
#[must_use]
pub fn unix_listener(kernel: &Kernel, path: &[u8]) -> Option<Id> {
    let inode = files::resolve(kernel, files::base::root(), path, true).ok()?;
    kernel.net.listening().find(|id| {
        let socket = kernel.net.sockets.get(id).filter(|socket| socket.kind == Kind::Stream);
        matches!(socket.and_then(|socket| socket.local.as_ref()), Some(Name::Path(_, at)) if *at == inode)
    })
}

/// Opens a connection of a peer to a Unix socket; nothing if no process listens there.
pub fn open_unix(kernel: &mut Kernel, (id, peer): (Id, PeerId), path: &[u8]) -> Option<()> {
    let listener = unix_listener(kernel, path)?;
    let mut socket = Socket::new(Family::Unix, Kind::Stream, outsider());
    socket.remote = kernel.net.sockets.get(&listener)?.local.clone();
    (socket.stage, socket.twin) = (Stage::Connecting, Some(id.child(1)));
    insert(kernel, id, socket, peer);
    establish(kernel, id, listener);
    Some(())
}

/// Nobody that a guest could know.
pub(super) fn outsider() -> Identity {
    Identity { pid: Pid(0), uid: 0, gid: 0 }
}

/// Adds a far end.
pub(super) fn insert(kernel: &mut Kernel, id: Id, socket: Socket, peer: PeerId) {
    kernel.net.queues.insert(id, Queue::new(socket.options.receive_buffer));
    kernel.net.sockets.insert(id, socket);
    kernel
        .net
        .far
        .ends
        .insert(id, FarEnd { peer, delivered: 0, taken: Taken::default(), ended: None, place: Place::default() });
}

/// The guest's side of a far end's connection.
#[must_use]
pub fn near(kernel: &Kernel, end: Id) -> Option<Id> {
    kernel.net.sockets.get(&end)?.peer
}

/// Delivers bytes from a far end.
///
/// Delivery does not ask for room: a peer's bytes are there as soon as they are delivered, and
/// whether they are is a choice of the checker.
pub fn deliver(kernel: &mut Kernel, end: Id, bytes: &[u8]) {
    let Some(near) = near(kernel, end) else { return };
    if let Some(queue) = kernel.net.queues.get_mut(&near) {
        queue.append(bytes);
        wake(kernel, near, ARRIVED);
    }
    if let Some(far) = kernel.net.far.ends.get_mut(&end) {
        far.delivered += bytes.len() as u64;
    }
}

/// Delivers one of the messages of a far end, by its number, where they have no order.
pub fn deliver_message(kernel: &mut Kernel, end: Id, number: usize, bytes: &[u8]) {
    deliver(kernel, end, bytes);
    if let Some(far) = kernel.net.far.ends.get_mut(&end) {
        far.taken.take(number);
    }
}

/// Delivers how a far end ends its connection.
pub fn deliver_end(kernel: &mut Kernel, end: Id, how: End) {
    let Some(near) = near(kernel, end) else { return };
    match how {
        End::Closed | End::Reset if is_unix(kernel, end) => {
            part(kernel, near, how == End::Reset);
            // Who sends to it from now on is told.
            kernel.net.queues.remove(&end);
        }
        End::Reset => reset(kernel, near),
        End::Finished | End::Closed => {
            finish(kernel, end, near);
            wake(kernel, near, CHANGED);
        }
    }
    if let Some(far) = kernel.net.far.ends.get_mut(&end) {
        far.ended = Some(how);
    }
}

fn is_unix(kernel: &Kernel, end: Id) -> bool {
    kernel.net.sockets.get(&end).is_some_and(|socket| socket.family == Family::Unix)
}

/// Whether nothing more can come from a far end. A Unix socket can finish first, and close later.
///
/// TCP cannot tell "finished" from "closed" until something is sent, a Unix socket can.
#[must_use]
pub fn is_over(kernel: &Kernel, end: Id) -> bool {
    let ended = kernel.net.far.ends.get(&end).and_then(|far| far.ended);
    ended.is_some_and(|how| how != End::Finished || !is_unix(kernel, end))
}

/// Whether a guest has not accepted a connection, or not read all that was delivered to it.
#[must_use]
pub fn is_unread(kernel: &Kernel, end: Id) -> bool {
    let is_queued = |near: Id| kernel.net.listeners.values().any(|listener| listener.queue.contains(&near));
    near(kernel, end).is_some_and(|near| kernel.net.received(near) > 0 || is_queued(near))
}

/// Whether a guest has closed its side: what is sent to it is answered with a reset.
#[must_use]
pub fn is_closed(kernel: &Kernel, end: Id) -> bool {
    near(kernel, end).is_none_or(|near| !kernel.net.sockets.contains_key(&near))
}

/// Whether a guest's side of a connection has got no reset yet.
#[must_use]
pub fn is_connected(kernel: &Kernel, end: Id) -> bool {
    let near = near(kernel, end).and_then(|near| kernel.net.sockets.get(&near));
    near.is_some_and(|near| near.stage == Stage::Connected)
}
