//! Mailboxes of UDP sockets.

use super::address::{Endpoint, Name};
use super::far_log;
use super::options::{IP_RECVERR, IPV6_RECVERR};
use super::poll::{ARRIVED, CHANGED, wake};
use super::queue::Packet;
use super::socket::Stage;
use crate::Kernel;
use crate::errno::ECONNREFUSED;
use crate::id::Id;

/// Puts a datagram into the mailbox of a socket.
pub fn post(kernel: &mut Kernel, receiver: Id, source: Endpoint, bytes: &[u8]) {
    let packet = Packet { from: Some(Name::Inet(source)), ..Packet::new(bytes) };
    let queue = kernel.net.queues.get_mut(&receiver).expect("a receiver has a mailbox");
    // A full mailbox loses what comes (`udp(7)`).
    if queue.cost() <= queue.limit {
        queue.packets.push_back(packet);
        wake(kernel, receiver, ARRIVED);
        far_log::absorb(kernel, receiver);
    }
}

/// The last datagram in a mailbox overtakes the one before it.
pub fn overtake(kernel: &mut Kernel, receiver: Id) {
    let Some(queue) = kernel.net.queues.get_mut(&receiver) else { return };
    if let Some(last) = queue.packets.len().checked_sub(1).filter(|last| *last > 0) {
        queue.packets.swap(last - 1, last);
    }
}

/// Nobody is where a socket has sent to: if it has a fixed destination, or asked for it, it will be told.
pub fn refuse(kernel: &mut Kernel, id: Id) {
    let Some(socket) = kernel.net.sockets.get_mut(&id) else { return };
    let asked = socket.options.is_on(IP_RECVERR) || socket.options.is_on(IPV6_RECVERR);
    if socket.stage == Stage::Connected || asked {
        socket.error = Some(ECONNREFUSED);
        wake(kernel, id, CHANGED);
    }
}
