//! What is done with far ends: guests connect to peers, peers connect to guests, and bytes go both ways.

use super::address::{Endpoint, Name};
use super::close::{finish, reset};
use super::connection::establish;
use super::far::{FarEnd, PeerId, Saying, Site};
use super::far_log::say;
use super::poll::{ARRIVED, CHANGED, wake};
use super::port;
use super::queue::Queue;
use super::socket::{Family, Identity, Kind, Socket, Stage};
use super::state::Transport;
use crate::Kernel;
use crate::id::{Id, Pid};
use std::net::Ipv4Addr;

/// The peer at an address where no process listens.
#[must_use]
pub fn peer_at(kernel: &Kernel, destination: Endpoint) -> Option<PeerId> {
    let Endpoint { ip, port } = destination;
    let site = match ip.to_ipv4_mapped() {
        _ if destination.is_local() => Site::Local(port),
        Some(machine) => Site::Machine(machine, port),
        None => return None,
    };
    kernel.net.far.declared.get(&site).copied()
}

/// A request of a guest reaches a peer: the connection exists from now on.
pub fn establish_far(kernel: &mut Kernel, id: Id, peer: PeerId) {
    let socket = kernel.net.sockets.get_mut(&id).expect("who asks exists");
    let twin = socket.twin.take().expect("a request has a twin");
    (socket.stage, socket.deadline, socket.peer) = (Stage::Connected, None, Some(twin));
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

fn at(port: u16) -> Endpoint {
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

/// Nobody that a guest could know.
fn outsider() -> Identity {
    Identity { pid: Pid(0), uid: 0, gid: 0 }
}

fn insert(kernel: &mut Kernel, id: Id, socket: Socket, peer: PeerId) {
    kernel.net.queues.insert(id, Queue::new(socket.options.receive_buffer));
    kernel.net.sockets.insert(id, socket);
    kernel.net.far.ends.insert(id, FarEnd { peer, delivered: 0, is_ended: false });
}

/// The guest's side of a far end's connection.
#[must_use]
pub fn near(kernel: &Kernel, end: Id) -> Option<Id> {
    kernel.net.sockets.get(&end)?.peer
}

/// Delivers bytes from a far end.
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

/// Delivers the end of what comes from a far end: in order, or as a reset.
pub fn deliver_end(kernel: &mut Kernel, end: Id, is_reset: bool) {
    let Some(near) = near(kernel, end) else { return };
    match is_reset {
        true => reset(kernel, near),
        false => {
            finish(kernel, end, near);
            wake(kernel, near, CHANGED);
        }
    }
    if let Some(far) = kernel.net.far.ends.get_mut(&end) {
        far.is_ended = true;
    }
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
