//! `shutdown(2)`, and what happens when a socket is closed.
//!
//! A direction of a connection is the queue at its receiver. To *finish* it marks that queue: what is in it can still be read, then
//! comes the end. A *reset* ends both directions of the receiver at once, with an error. Both are seen immediately, since nothing is
//! late on the loopback interface.
//!
//! **Invariant:** whatever changes what somebody could do with a socket is told to the epoll sets that have it (`wake`), so that
//! edge-triggered `epoll(7)` misses nothing. Other waits are conditions on the state, and need nobody to wake them.

use super::connection::{forget_request, give_up};
use super::far::Saying;
use super::far_log;
use super::open::of_description;
use super::poll::{CHANGED, ROOM, wake};
use super::queue::Packet;
use super::reach::is_unreachable;
use super::socket::{Family, Kind, Socket, Stage};
use super::{port, unix};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{ECONNREFUSED, ECONNRESET, EINVAL, ENOTCONN, EPIPE};
use crate::id::Id;
use memory::Memory;

/// `shutdown(2)`.
pub fn shutdown(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (_, id) = call.socket_of(call.int(0))?;
    let (receive, send) = match call.args[1] as u32 {
        0 => (true, false),
        1 => (false, true),
        2 => (true, true),
        _ => return Err(EINVAL.into()),
    };
    let socket = call.socket(id);
    if socket.is_tcp() && socket.stage == Stage::Listening {
        if receive {
            stop_listening(call.kernel, call.memory, id);
        }
        return Ok(0);
    }
    let far = socket.peer.filter(|peer| call.kernel.net.far.ends.contains_key(peer));
    if receive && !send && socket.family == Family::Unix && far.is_some() {
        return call.unsupported("shutdown(SHUT_RD) of a Unix socket that leads to a peer");
    }
    let unconnected = socket.is_inet() && socket.stage == Stage::Idle;
    let ended = socket.is_tcp() && socket.stage == Stage::Connecting;
    if ended {
        abort(call.kernel, id);
    }
    shut(call.kernel, id, receive, send);
    if unconnected { Err(ENOTCONN.into()) } else { Ok(0) }
}

fn shut(kernel: &mut Kernel, id: Id, receive: bool, send: bool) {
    let socket = kernel.net.sockets.get_mut(&id).expect("an open socket exists");
    socket.receive_shut |= receive;
    socket.send_shut |= send;
    let peer = socket.peer.filter(|_| socket.stage == Stage::Connected);
    let tells = socket.family == Family::Unix && socket.kind != Kind::Datagram;
    if receive && let Some(queue) = kernel.net.queues.get_mut(&id) {
        queue.deaf = socket.family == Family::Unix;
    }
    if let Some(peer) = peer {
        if send && (tells || is_tcp(kernel, id)) {
            finish(kernel, id, peer);
        }
        if send && receive && tells {
            far_log::say(kernel, peer, Saying::Close);
        }
        wake(kernel, peer, CHANGED);
    }
    wake(kernel, id, CHANGED);
}

fn is_tcp(kernel: &Kernel, id: Id) -> bool {
    kernel.net.sockets.get(&id).is_some_and(Socket::is_tcp)
}

/// Ends the direction towards the peer.
pub(super) fn finish(kernel: &mut Kernel, id: Id, peer: Id) {
    let other_finished = kernel.net.queues.get(&id).is_some_and(|queue| queue.finished);
    if let Some(socket) = kernel.net.sockets.get_mut(&id) {
        socket.closed_first |= !other_finished && socket.is_tcp();
    }
    if let Some(late) = kernel.net.late.get_mut(&peer) {
        late.is_finished = true;
    } else if let Some(queue) = kernel.net.queues.get_mut(&peer)
        && !std::mem::replace(&mut queue.finished, true)
    {
        far_log::say(kernel, peer, Saying::Finish);
    }
}

/// The last reference to a socket is gone.
pub fn close(kernel: &mut Kernel, memory: &mut Memory, description: Id) {
    if let Some(id) = of_description(kernel, description) {
        end(kernel, memory, id);
    }
}

/// Ends a socket.
fn end(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    stop_listening(kernel, memory, id);
    let Some(socket) = kernel.net.sockets.get(&id) else { return };
    let (family, kind, stage, peer) = (socket.family, socket.kind, socket.stage, socket.peer);
    match (family, kind, stage, peer) {
        (Family::Inet | Family::Inet6, Kind::Stream, Stage::Connected, Some(peer)) => end_tcp(kernel, id, peer),
        (Family::Inet | Family::Inet6, Kind::Stream, Stage::Connecting, _) => forget_request(kernel, id),
        (Family::Unix, Kind::Stream | Kind::Packets, Stage::Connected, Some(peer)) => end_unix(kernel, id, peer),
        _ => {}
    }
    port::release(kernel, id);
    unix::unbind(kernel, id);
    remove(kernel, memory, id);
    // Whoever waits for room in the mailbox must find out that it is gone.
    if let Some(peer) = peer {
        wake(kernel, peer, ROOM);
    }
}

fn remove(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    kernel.net.sockets.remove(&id);
    kernel.net.pieces.remove(&id);
    kernel.net.late.remove(&id);
    if let Some(queue) = kernel.net.queues.remove(&id) {
        for packet in &queue.packets {
            drop_rights(kernel, memory, packet);
        }
    }
}

/// A message is thrown away: so are the open files in it.
pub fn drop_rights(kernel: &mut Kernel, memory: &mut Memory, packet: &Packet) {
    for description in &packet.rights {
        kernel.release(memory, *description);
    }
}

/// Unread data, or lingering for no time, resets the connection; otherwise the direction ends in order.
fn end_tcp(kernel: &mut Kernel, id: Id, peer: Id) {
    let unread = kernel.net.queues.get(&id).is_some_and(|queue| queue.bytes() > 0);
    let socket = kernel.net.sockets.get_mut(&id).expect("who ends exists");
    if unread || socket.options.linger == Some(0) {
        socket.closed_first = false;
        reset(kernel, peer);
        return;
    }
    // A side that has shut down has nothing more to say.
    if !socket.send_shut {
        finish(kernel, id, peer);
        wake(kernel, peer, CHANGED);
    }
    // What comes to a closed socket is answered with a reset.
    if kernel.net.late.get(&id).is_some_and(|late| !late.bytes.is_empty()) {
        reset(kernel, peer);
    }
}

/// A socket gets a reset (`tcp(7)`): `EPIPE` if the other side had finished already, `ECONNRESET` otherwise.
pub fn reset(kernel: &mut Kernel, id: Id) {
    let finished = kernel.net.queues.get(&id).is_some_and(|queue| queue.finished);
    let Some(socket) = kernel.net.sockets.get_mut(&id) else { return };
    if socket.stage != Stage::Connected {
        return;
    }
    if let Some(late) = kernel.net.late.get_mut(&id) {
        late.is_reset = true;
        return;
    }
    socket.stage = Stage::Idle;
    socket.closed_first = false;
    far_log::say(kernel, id, Saying::Reset);
    let socket = kernel.net.sockets.get_mut(&id).expect("looked at above");
    socket.error = Some(if finished { EPIPE } else { ECONNRESET });
    (socket.receive_shut, socket.send_shut) = (true, true);
    wake(kernel, id, CHANGED);
}

/// Both ends of a connection get a reset: something between them has lost it.
pub fn reset_connection(kernel: &mut Kernel, id: Id) {
    let peer = kernel.net.sockets.get(&id).and_then(|socket| socket.peer);
    reset(kernel, id);
    peer.iter().for_each(|peer| reset(kernel, *peer));
}

/// Ends a connection or request of a socket that stays open: the other side gets a reset.
pub fn abort(kernel: &mut Kernel, id: Id) {
    let Some(socket) = kernel.net.sockets.get_mut(&id) else { return };
    let (stage, peer) = (socket.stage, socket.peer);
    if stage == Stage::Connecting {
        forget_request(kernel, id);
    }
    if let (Stage::Connected, Some(peer)) = (stage, peer) {
        reset(kernel, peer);
    }
    kernel.net.late.remove(&id);
    let socket = kernel.net.sockets.get_mut(&id).expect("looked at above");
    if matches!(stage, Stage::Connecting | Stage::Connected) {
        socket.error = Some(ECONNRESET);
    }
    socket.stage = Stage::Idle;
    socket.deadline = None;
    socket.twin = None;
}

/// The peer can neither send nor receive any more; unread messages become an error for it (`unix(7)`).
fn end_unix(kernel: &mut Kernel, id: Id, peer: Id) {
    let unread = kernel.net.queues.get(&id).is_some_and(|queue| !queue.packets.is_empty());
    part(kernel, peer, unread);
}

/// Tells a Unix socket that its peer is gone.
pub(super) fn part(kernel: &mut Kernel, peer: Id, unread: bool) {
    far_log::say(kernel, peer, if unread { Saying::Reset } else { Saying::Close });
    if let Some(queue) = kernel.net.queues.get_mut(&peer) {
        queue.finished = true;
    }
    if let Some(socket) = kernel.net.sockets.get_mut(&peer) {
        if unread {
            socket.error = Some(ECONNRESET);
        }
        wake(kernel, peer, CHANGED);
    }
}

/// A listener ends: connections that nobody accepted are reset, requests refused.
fn stop_listening(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    let Some(listener) = kernel.net.listeners.remove(&id) else { return };
    for connection in &listener.queue {
        drop_connection(kernel, memory, *connection);
    }
    // What the network does not let through is refused when it is up again.
    let refused: Vec<Id> =
        listener.waiting.iter().copied().filter(|asker| !is_unreachable(kernel, *asker, Some(id))).collect();
    for request in refused {
        give_up(kernel, request, ECONNREFUSED);
    }
    if let Some(socket) = kernel.net.sockets.get_mut(&id) {
        socket.stage = Stage::Idle;
    }
    wake(kernel, id, CHANGED);
}

fn drop_connection(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    let Some(socket) = kernel.net.sockets.get(&id) else { return };
    let (is_unix, peer) = (socket.family == Family::Unix, socket.peer);
    if let Some(peer) = peer {
        if is_unix { part(kernel, peer, true) } else { reset(kernel, peer) }
    }
    port::release(kernel, id);
    remove(kernel, memory, id);
}
