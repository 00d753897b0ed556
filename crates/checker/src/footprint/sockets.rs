//! What calls on sockets touch: for each socket its life, and the head and the tail of what it has yet to receive.
//!
//! A reader takes from the head, a writer adds to the tail of its peer. Each looks at the other end only if it has to: the
//! reader if it wants more than there is, the writer if room is short.

use super::access::{Kind, object};
use explore::graph::Touch;
use kernel::descriptor::File;
use kernel::{Id, Kernel};

const LIFE: u64 = 0;
const HEAD: u64 = 2;
const TAIL: u64 = 3;

fn part(id: Id, part: u64, write: bool) -> Touch {
    Touch { object: object(Kind::File, id.0, part), write, plain: false }
}

/// Sets that watch a socket: what happens to it goes into their lists.
fn watchers(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let watchers = kernel.events.watchers.get(&File::Socket(id));
    watchers.into_iter().flatten().map(|watcher| part(watcher.epoll, LIFE, true)).collect()
}

/// The other end of a stream; nothing for datagrams, whose receiver is not known beforehand.
fn peer(kernel: &Kernel, id: Id) -> Option<Id> {
    let socket = kernel.net.sockets.get(&id)?;
    socket.peer.or(socket.twin).filter(|_| socket.is_stream())
}

/// Everything about a socket and its peer.
pub fn whole(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let both = [Some(id), peer(kernel, id)].into_iter().flatten();
    let mut touches: Vec<Touch> =
        both.flat_map(|id| [part(id, LIFE, true), part(id, HEAD, true), part(id, TAIL, true)]).collect();
    if kernel.net.sockets.get(&id).is_some_and(|socket| !socket.is_stream()) {
        // A datagram may go anywhere.
        touches.push(super::access::writes(Kind::Ports, 0));
    }
    touches.extend(watchers(kernel, id));
    touches.extend(peer(kernel, id).into_iter().flat_map(|peer| watchers(kernel, peer)));
    touches
}

/// A socket is closed or shut down; a listener's port is free afterwards.
pub fn end(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let mut touches = whole(kernel, id);
    touches.push(super::access::writes(Kind::Ports, 0));
    touches
}

/// Something that does not change is asked.
pub fn ask(id: Id) -> Vec<Touch> {
    vec![part(id, LIFE, false)]
}

/// `recv(2)` and its kin.
pub fn receive(kernel: &Kernel, id: Id, length: u64) -> Vec<Touch> {
    let Some(peer) = peer(kernel, id) else { return whole(kernel, id) };
    let mut touches = vec![part(id, LIFE, false), part(id, HEAD, true)];
    if length >= kernel.net.received(id) as u64 {
        touches.push(part(id, TAIL, false));
    }
    touches.extend(watchers(kernel, id));
    touches.extend(watchers(kernel, peer));
    touches
}

/// `send(2)` and its kin.
pub fn send(kernel: &Kernel, id: Id, length: u64) -> Vec<Touch> {
    let Some(peer) = peer(kernel, id) else { return whole(kernel, id) };
    let mut touches = vec![part(id, LIFE, false), part(peer, LIFE, false), part(peer, TAIL, true)];
    let room = kernel.net.receive_limit(peer).saturating_sub(kernel.net.received(peer)) as u64;
    if length.saturating_mul(4) >= room {
        touches.push(part(peer, HEAD, false));
    }
    touches.extend(watchers(kernel, peer));
    touches
}

/// `accept(2)`: takes the oldest connection.
pub fn accept(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let (waiting, has_room) = kernel.net.backlog(id);
    let mut touches = vec![part(id, LIFE, false), part(id, HEAD, true)];
    if waiting == 0 || !has_room {
        touches.push(part(id, TAIL, true));
    }
    touches.extend(watchers(kernel, id));
    touches
}

/// `connect(2)` to a listener: adds a connection.
pub fn knock(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let (_, has_room) = kernel.net.backlog(id);
    let mut touches = vec![part(id, LIFE, false), part(id, TAIL, true)];
    if !has_room {
        touches.push(part(id, HEAD, true));
    }
    touches.extend(watchers(kernel, id));
    touches
}

/// Whether a socket can be read or written is looked at.
pub fn look(kernel: &Kernel, id: Id) -> Vec<Touch> {
    let mut touches = vec![part(id, LIFE, false), part(id, HEAD, false), part(id, TAIL, false)];
    if let Some(peer) = peer(kernel, id) {
        touches.extend([part(peer, LIFE, false), part(peer, HEAD, false)]);
    }
    touches
}
