//! What is said to far ends, in order.

use super::far::{Said, Saying};
use crate::Kernel;
use crate::id::Id;

/// Notes what is said to a far end; nothing happens at other sockets.
pub fn say(kernel: &mut Kernel, end: Id, what: Saying) {
    if kernel.net.far.ends.contains_key(&end) {
        kernel.net.far.said.push(Said { end, what });
    }
}

/// Bytes that have arrived at a far end are said to its peer: they take up no room, unless the peer takes them itself.
pub fn absorb(kernel: &mut Kernel, end: Id) {
    if kernel.net.far.is_live || !kernel.net.far.ends.contains_key(&end) {
        return;
    }
    let queue = kernel.net.queues.get_mut(&end).expect("a far end has a queue");
    let bytes = queue.packets.drain(..).flat_map(|packet| packet.bytes.as_slice().to_vec()).collect();
    say(kernel, end, Saying::Bytes(bytes));
}

/// What was said since this was last asked.
pub fn take_said(kernel: &mut Kernel) -> Vec<Said> {
    std::mem::take(&mut kernel.net.far.said)
}
