//! Sending UDP datagrams, and what becomes of them on their way.

use super::address::{Endpoint, Given, Name};
use super::bind::{any, bind_any};
use super::connect::route;
use super::datagram_fault::{DatagramFault, Delayed};
use super::family::Transport;
use super::options::UDP_CORK;
use super::outgoing::Outgoing;
use super::poll::{ROOM, wake};
use super::reach::is_unreachable;
use super::state::Pieces;
use super::{far_ends, far_flows, mailbox, port};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{EDESTADDRREQ, EINVAL, EMSGSIZE, EPIPE};
use crate::id::Id;

/// More of this datagram is to come.
const MSG_MORE: u32 = 0x8000;

/// The longest UDP datagram over IPv4.
const UDP_MAX: usize = 65_507;

/// Sends a datagram: to a process, to a peer where no process is, or to nobody.
///
/// Nothing waits: `udp(7)` has no flow control. A refused datagram is reported by the *next* call on the socket, as an ICMP message would be.
pub fn send(call: &mut Call<'_>, id: Id, outgoing: &Outgoing<'_>) -> Result<usize, Stop> {
    let length = outgoing.bytes.len();
    if length > UDP_MAX {
        return Err(EMSGSIZE.into());
    }
    let before = call.kernel.net.pieces.get(&id).cloned();
    let destination =
        before.as_ref().map_or_else(|| destination(call, id, outgoing.to.as_ref()), |b| Ok(b.destination))?;
    let socket = call.socket(id);
    if socket.send_shut {
        return Err(EPIPE.into());
    }
    let ip = any(socket);
    call.socket_mut(id).take_error()?;
    bind_any(call.kernel, id, ip)?;
    call.kernel.net.pieces.remove(&id);
    let bytes = [before.map(|before| before.bytes).unwrap_or_default().as_slice(), outgoing.bytes].concat();
    if bytes.len() > UDP_MAX {
        return Err(EMSGSIZE.into());
    }
    match outgoing.flags & MSG_MORE {
        0 if !call.socket(id).options.is_on(UDP_CORK) => post(call, id, destination, &bytes),
        _ => drop(call.kernel.net.pieces.insert(id, Pieces { destination, bytes })),
    }
    Ok(length)
}

/// `UDP_CORK` is switched off: what was held back goes out as one datagram.
pub fn uncork(call: &mut Call<'_>, id: Id) {
    let held = call.kernel.net.pieces.get(&id).cloned();
    if let Some(Pieces { destination, bytes }) = held {
        call.kernel.net.pieces.remove(&id);
        post(call, id, destination, &bytes);
    }
}

/// Where a datagram goes: where the call says, or where the socket is connected to.
fn destination(call: &Call<'_>, id: Id, to: Option<&Given>) -> Result<Endpoint, Stop> {
    let socket = call.socket(id);
    let destination = match (to, &socket.remote) {
        (Some(Given::Inet(endpoint)), _) => *endpoint,
        (_, Some(Name::Inet(remote))) => *remote,
        _ => return Err(EDESTADDRREQ.into()),
    };
    if destination.port == 0 {
        return Err(EINVAL.into());
    }
    Ok(route(&call.kernel.net, socket, destination)?)
}

fn post(call: &mut Call<'_>, id: Id, destination: Endpoint, bytes: &[u8]) {
    let mut source = port::endpoint(call.socket(id)).expect("it has just been bound");
    if source.is_any() {
        source.ip = destination.source();
    }
    // The packet leaves the sender's buffer at once, which counts as room.
    wake(call.kernel, id, ROOM);
    let kernel = &mut *call.kernel;
    let ends = (source, destination);
    match call.datagram.take() {
        None => carry(kernel, id, ends, bytes),
        Some(DatagramFault::Loss) => {}
        Some(DatagramFault::Duplicate) => (0..2).for_each(|_| carry(kernel, id, ends, bytes)),
        Some(DatagramFault::Reorder) => {
            carry(kernel, id, ends, bytes);
            let receiver = port::receiver(kernel, Transport::Udp, source, destination);
            receiver.iter().for_each(|receiver| mailbox::overtake(kernel, *receiver));
        }
        Some(DatagramFault::Delay) => delay(kernel, Delayed { source, destination, bytes: bytes.to_vec() }),
    }
}

/// A datagram comes to where it was sent.
fn carry(kernel: &mut Kernel, id: Id, (source, destination): (Endpoint, Endpoint), bytes: &[u8]) {
    let receiver = port::receiver(kernel, Transport::Udp, source, destination);
    if is_unreachable(kernel, id, receiver) {
        return;
    }
    match (receiver, far_ends::peer_at(kernel, Transport::Udp, destination)) {
        (Some(receiver), _) => mailbox::post(kernel, receiver, source, bytes),
        (None, Some(peer)) => far_flows::say(kernel, peer, (source, destination), bytes),
        (None, None) => mailbox::refuse(kernel, id),
    }
}

/// A datagram is delayed, under the lowest number that is free.
fn delay(kernel: &mut Kernel, delayed: Delayed) {
    let free = (0..).find(|number| !kernel.net.delayed.contains_key(number)).expect("fewer than 65536 are under way");
    kernel.net.delayed.insert(free, delayed);
}

/// A delayed datagram arrives: at whoever receives what is sent there by now, or nowhere.
pub fn arrive(kernel: &mut Kernel, number: u16) {
    let Some(delayed) = kernel.net.delayed.remove(&number) else { return };
    let Delayed { source, destination, bytes } = &*delayed;
    if let Some(receiver) = port::receiver(kernel, Transport::Udp, *source, *destination) {
        mailbox::post(kernel, receiver, *source, bytes);
    }
}
