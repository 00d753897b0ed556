//! What `poll(2)` says about a socket.
//!
//! **Invariant:** these functions and the calls agree (see `descriptor/operations.rs`): readable
//! means that `recv(2)` does not wait, writable that `send(2)` takes at least something.

use super::open::of_description;
use super::options::SO_RCVLOWAT;
use super::socket::{Family, Kind, Socket, Stage};
use crate::Kernel;
use crate::descriptor::{
    File, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, POLLWRNORM,
};
use crate::event;
use crate::id::Id;
use memory::Memory;

/// `EPOLLRDBAND`.
const POLLRDBAND: u16 = 0x080;
/// `EPOLLWRBAND`.
const POLLWRBAND: u16 = 0x200;

/// What Linux tells waiting threads when data has come.
///
/// The keys with which Linux wakes its wait queues. Edge-triggered `epoll(7)` looks at them: a
/// wake-up with a key that an item did not ask for does not list it.
pub const ARRIVED: u16 = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND;
/// What it tells them when there is room.
pub const ROOM: u16 = POLLOUT | POLLWRNORM | POLLWRBAND;
/// Anything: the state has changed.
pub const CHANGED: u16 = 0;

const READABLE: u16 = POLLIN | POLLRDNORM;

/// Tells epoll sets that something happened to a socket.
pub fn wake(kernel: &mut Kernel, socket: Id, events: u16) {
    event::wake(kernel, File::Socket(socket), events);
}

/// The `poll(2)` events of a socket's description.
#[must_use]
pub fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    of_description(kernel, description).map_or(POLLNVAL, |id| events(kernel, id))
}

/// The `poll(2)` events of a socket.
#[must_use]
pub fn events(kernel: &Kernel, id: Id) -> u16 {
    let Some(socket) = kernel.net.sockets.get(&id) else { return POLLNVAL };
    match (socket.family, socket.kind, socket.stage) {
        (_, _, Stage::Listening) => listener(kernel, id),
        (Family::Inet | Family::Inet6, Kind::Stream, _) => tcp(kernel, id, socket),
        (Family::Unix, ..) => unix(kernel, id, socket),
        _ => datagram(kernel, id, socket),
    }
}

fn listener(kernel: &Kernel, id: Id) -> u16 {
    let waits = kernel.net.listeners.get(&id).is_some_and(|listener| !listener.queue.is_empty());
    if waits { READABLE } else { 0 }
}

fn when(condition: bool, events: u16) -> u16 {
    if condition { events } else { 0 }
}

fn error(socket: &Socket) -> u16 {
    when(socket.error.is_some(), POLLERR)
}

/// Whether nothing more can be received but what is there.
#[must_use]
pub fn receive_ended(kernel: &Kernel, id: Id, socket: &Socket) -> bool {
    let queue = kernel.net.queues.get(&id);
    socket.receive_shut || queue.is_some_and(|queue| queue.finished)
}

/// Whether a Unix socket can send no more: by its own will, or because nobody listens.
#[must_use]
pub fn send_ended(kernel: &Kernel, socket: &Socket) -> bool {
    let deaf = |peer| kernel.net.queues.get(peer).is_none_or(|queue| queue.deaf);
    let is_told = socket.family == Family::Unix && socket.kind != Kind::Datagram;
    socket.send_shut || is_told && socket.peer.as_ref().is_some_and(deaf)
}

/// As Linux's `tcp_poll`: a socket that is not connected hangs up; a closed direction is always ready.
fn tcp(kernel: &Kernel, id: Id, socket: &Socket) -> u16 {
    let receive_ended = receive_ended(kernel, id, socket);
    let closed = socket.stage == Stage::Idle || receive_ended && socket.send_shut;
    let hung_up = when(closed, POLLHUP) | when(receive_ended, READABLE | POLLRDHUP);
    if socket.stage == Stage::Connecting {
        return hung_up | error(socket);
    }
    let low = socket.options.get(SO_RCVLOWAT).max(1) as usize;
    let readable = kernel.net.queues.get(&id).is_some_and(|queue| queue.bytes() >= low);
    let writable = socket.send_shut || is_writable(kernel, id, socket);
    hung_up | when(readable, READABLE) | when(writable, POLLOUT | POLLWRNORM) | error(socket)
}

/// As Linux's `unix_poll` and `unix_dgram_poll`.
fn unix(kernel: &Kernel, id: Id, socket: &Socket) -> u16 {
    let receive_ended = receive_ended(kernel, id, socket);
    let closed = receive_ended && send_ended(kernel, socket);
    let unconnected = socket.kind != Kind::Datagram && socket.stage != Stage::Connected;
    let readable = receive_ended || kernel.net.queues.get(&id).is_some_and(|queue| !queue.packets.is_empty());
    error(socket)
        | when(closed || unconnected, POLLHUP)
        | when(receive_ended, POLLRDHUP)
        | when(readable, READABLE)
        | when(is_writable(kernel, id, socket), POLLOUT | POLLWRNORM | POLLWRBAND)
}

fn datagram(kernel: &Kernel, id: Id, socket: &Socket) -> u16 {
    let receive_ended = socket.receive_shut;
    let readable = receive_ended || kernel.net.queues.get(&id).is_some_and(|queue| !queue.packets.is_empty());
    error(socket)
        | when(receive_ended, POLLRDHUP)
        | when(receive_ended && socket.send_shut, POLLHUP)
        | when(readable, READABLE)
        | POLLOUT
        | POLLWRNORM
        | POLLWRBAND
}

/// Whether there is enough room to call a socket writable: TCP wants a third of the buffer free, Unix sockets three
/// quarters, so that a writer is not woken for every byte.
#[must_use]
pub fn is_writable(kernel: &Kernel, id: Id, socket: &Socket) -> bool {
    let Some(peer) = socket.peer else { return true };
    let Some(queue) = kernel.net.queues.get(&peer) else { return true };
    let buffer = socket.options.send_buffer;
    match (socket.family, socket.kind) {
        (Family::Unix, Kind::Stream) => queue.cost() * 4 <= buffer,
        (Family::Unix, _) => queue.in_flight(id) * 4 <= buffer && !is_overfull(kernel, id, peer),
        _ => {
            let limit = buffer + queue.limit;
            kernel.net.sent(peer) * 3 <= limit * 2
        }
    }
}

/// Whether a mailbox has as many messages as `net.unix.max_dgram_qlen` allows; two sockets that are each other's
/// destination are not held to it.
#[must_use]
pub fn is_overfull(kernel: &Kernel, sender: Id, receiver: Id) -> bool {
    let mutual = kernel.net.sockets.get(&receiver).is_some_and(|socket| socket.peer == Some(sender));
    let count = kernel.net.queues.get(&receiver).map_or(0, |queue| queue.packets.len());
    !mutual && count > super::state::DATAGRAMS_MAX
}

/// Whether a message could be sent from one Unix socket to another, or the attempt would fail.
#[must_use]
pub fn may_post(kernel: &Kernel, sender: Id, receiver: Id) -> bool {
    let (Some(socket), Some(queue)) = (kernel.net.sockets.get(&sender), kernel.net.queues.get(&receiver)) else {
        return true;
    };
    let has_buffer = queue.in_flight(sender) * 4 <= socket.options.send_buffer;
    queue.deaf || send_ended(kernel, socket) || has_buffer && !is_overfull(kernel, sender, receiver)
}
