//! Datagrams between guests and peers. A datagram is meant for an address and not for a socket: an answer goes to whoever is there
//! when it comes.

use super::address::{Endpoint, Name};
use super::family::Transport;
use super::far::{Flow, PeerId, Place, Said, Saying};
use super::far_ends::{at, insert, outsider};
use super::socket::{Family, Kind, Socket};
use super::taken::Taken;
use super::{mailbox, port};
use crate::Kernel;
use crate::id::Id;

/// A guest sends a datagram to a peer, which is told at once.
pub fn say(kernel: &mut Kernel, peer: PeerId, (near, to): (Endpoint, Endpoint), bytes: &[u8]) {
    // Whoever listens on all addresses of the local machine answers from the first one.
    let far = if to.is_local() { Endpoint { ip: to.source(), ..to } } else { to };
    let id = name(peer, near, far);
    if !kernel.net.far.flows.contains_key(&id) {
        kernel.net.far.flows.insert(id, Flow { peer, near, far, taken: Taken::default(), place: Place::default() });
    }
    let what = Saying::Datagram { from: near.port, bytes: bytes.to_vec() };
    kernel.net.far.said.push(Said { end: id, what });
}

/// The name of a flow: by its addresses, so that it is the same in every order of creation.
fn name(peer: PeerId, near: Endpoint, far: Endpoint) -> Id {
    let number = |Endpoint { ip, port }: Endpoint| [ip.to_bits() as u64, (ip.to_bits() >> 64) as u64, u64::from(port)];
    let numbers = [u64::from(peer.0)].into_iter().chain(number(near)).chain(number(far));
    numbers.fold(Id::named("flow"), Id::child)
}

/// Who would receive an answer now.
#[must_use]
pub fn receiver(kernel: &Kernel, flow: &Flow) -> Option<Id> {
    port::receiver(kernel, Transport::Udp, flow.far, flow.near)
}

/// Delivers an answer, by its number; nothing tells that nobody receives what was sent. It is lost if nobody is there.
pub fn deliver(kernel: &mut Kernel, id: Id, index: usize, answer: Option<&[u8]>) {
    let Some(flow) = kernel.net.far.flows.get_mut(&id) else { return };
    flow.taken.take(index);
    let flow = flow.clone();
    match (receiver(kernel, &flow), answer) {
        (Some(receiver), Some(bytes)) => mailbox::post(kernel, receiver, flow.far, bytes),
        (Some(receiver), None) => mailbox::refuse(kernel, receiver),
        (None, _) => {}
    }
}

/// Adds a far end for datagrams at a local port.
pub fn open(kernel: &mut Kernel, (id, peer): (Id, PeerId), port: u16) {
    let mut socket = Socket::new(Family::Inet, Kind::Datagram, outsider());
    socket.local = Some(Name::Inet(at(port)));
    insert(kernel, id, socket, peer);
    port::hold(kernel, id);
}

/// A datagram comes from a far end to a local port; whether somebody is there.
pub fn arrive(kernel: &mut Kernel, end: Id, destination: u16, bytes: &[u8]) -> bool {
    let Some(source) = kernel.net.sockets.get(&end).and_then(port::endpoint) else { return false };
    let receiver = port::receiver(kernel, Transport::Udp, source, at(destination));
    receiver.inspect(|receiver| mailbox::post(kernel, *receiver, source, bytes)).is_some()
}

/// Whether a process receives datagrams at a local port.
#[must_use]
pub fn is_bound(kernel: &Kernel, port: u16) -> bool {
    kernel.net.ports.contains_key(&(Transport::Udp, port))
}

/// Whether a process has not read all that came to a local port.
#[must_use]
pub fn is_unread(kernel: &Kernel, port: u16) -> bool {
    let holders = kernel.net.ports.get(&(Transport::Udp, port)).map_or(&[][..], |port| &port.holders);
    let is_unread = |id: &Id| kernel.net.queues.get(id).is_some_and(|queue| !queue.packets.is_empty());
    holders.iter().any(is_unread)
}
