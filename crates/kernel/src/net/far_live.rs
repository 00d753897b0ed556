//! Far ends of a run: nothing is remembered, so whoever is behind them takes bytes as it has room, and programs wait as for each
//! other.

use super::receive::{notify_room, peer_writable};
use crate::Kernel;
use crate::id::Id;

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
