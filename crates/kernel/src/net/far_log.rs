//! What is said to far ends, in order.

use super::address::Name;
use super::far::{Said, Saying};
use super::queue::Packet;
use super::socket::Kind;
use crate::Kernel;
use crate::id::Id;

/// Notes what is said to a far end; nothing happens at other sockets.
pub fn say(kernel: &mut Kernel, end: Id, what: Saying) {
    if kernel.net.far.ends.contains_key(&end) {
        kernel.net.far.said.push(Said { end, what });
    }
}

/// Bytes that have arrived at a far end are said to its peer: they take up no room, unless the peer takes them itself.
///
/// Peers of a search read at once and without limit, so a guest never waits for room towards one.
pub fn absorb(kernel: &mut Kernel, end: Id) {
    if kernel.net.far.is_live || !kernel.net.far.ends.contains_key(&end) {
        return;
    }
    let is_stream = kernel.net.sockets.get(&end).is_none_or(|socket| socket.kind == Kind::Stream);
    let queue = kernel.net.queues.get_mut(&end).expect("a far end has a queue");
    let packets: Vec<Packet> = queue.packets.drain(..).collect();
    match is_stream {
        true => {
            let bytes = packets.iter().flat_map(|packet| packet.bytes.as_slice().to_vec()).collect();
            say(kernel, end, Saying::Bytes(bytes));
        }
        false => packets.iter().for_each(|packet| say(kernel, end, datagram(packet))),
    }
}

/// A datagram, as it is said.
fn datagram(packet: &Packet) -> Saying {
    let from = if let Some(Name::Inet(source)) = &packet.from { source.port } else { 0 };
    Saying::Datagram { from, bytes: packet.bytes.as_slice().to_vec() }
}

/// What was said since this was last asked.
pub fn take_said(kernel: &mut Kernel) -> Vec<Said> {
    std::mem::take(&mut kernel.net.far.said)
}
