//! Far ends of a run: nothing is remembered, so whoever is behind them takes bytes as it has room, and programs wait as for each
//! other.

use super::receive::{notify_room, peer_writable};
use super::send::{partly, progress, room};
use super::socket::Stage;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::guest::{Piece, window};
use crate::id::Id;

/// Sends on a TCP connection to a far end from the guest's memory: bytes are copied once, to where the peer takes them from. `None`
/// where sending is something else, or fails: then nothing has happened.
///
/// Half of what it costs to pass bytes is copies, and whoever searches nothing has no other use for the bytes.
pub(crate) fn write(
    call: &mut Call<'_>,
    (description, id): (Id, Id),
    pieces: &[Piece],
    length: usize,
) -> Option<Result<usize, Stop>> {
    let net = &call.kernel.net;
    let socket = net.sockets.get(&id).filter(|socket| socket.is_tcp() && socket.stage == Stage::Connected)?;
    let peer = socket.peer.filter(|peer| net.far.is_live && net.far.ends.contains_key(peer))?;
    let is_usual = socket.error.is_none() && !socket.send_shut && !net.late.contains_key(&peer);
    if !is_usual || !net.queues.contains_key(&peer) {
        return None;
    }
    let sent = progress(call);
    let now = (length - sent).min(room(call.kernel, socket, peer));
    if now > 0 {
        let space = call.space();
        let Call { kernel, memory, .. } = call;
        let queue = kernel.net.queues.get_mut(&peer).expect("looked at above");
        let mut parts = window(pieces, sent as u64, now as u64);
        let all = |bytes: &mut Vec<u8>| {
            parts.try_for_each(|part| memory.read_onto(space, part.address, part.length as usize, bytes))
        };
        queue.tail().append_by(all).ok()?;
    }
    let waits = !call.description(description).is_nonblocking();
    Some(if sent + now == length { Ok(length) } else { partly(call, id, sent + now, waits) })
}

/// The bytes that wait at a far end, as far as they lie together.
#[must_use]
pub fn waiting(kernel: &Kernel, end: Id) -> &[u8] {
    let packet = kernel.net.queues.get(&end).and_then(|queue| queue.packets.front());
    packet.map_or(&[], |packet| packet.bytes.as_slice())
}

/// So many of those bytes were taken. Their buffer stays: the next ones need not make it grow again.
pub fn take(kernel: &mut Kernel, end: Id, count: usize) {
    let was_writable = peer_writable(kernel, end);
    if let Some(packet) = kernel.net.queues.get_mut(&end).and_then(|queue| queue.packets.front_mut()) {
        packet.bytes.consume(count);
    }
    notify_room(kernel, end, was_writable);
}
