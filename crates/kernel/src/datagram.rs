//! Calls that send or receive UDP datagrams.

use crate::Kernel;
use crate::descriptor::{Fd, File};
use crate::id::Tid;
use crate::net::socket::Socket;
use crate::table::FootprintRule::Through;
use crate::table::footprint::SocketUse::{Receive, ReceiveMessage, Send, SendMessage, SendTo};
use crate::table::{self, Row};

/// `sendmmsg(2)`, which may send several.
const SENDMMSG: u64 = 307;

/// Whether a call sends a UDP datagram.
#[must_use]
pub fn is_sent(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> bool {
    let sends = |row: &Row| matches!(row.footprint, Through(_, Send(_) | SendTo(_) | SendMessage));
    (number == SENDMMSG || table::row(number).is_some_and(sends)) && is_udp(kernel, tid, args[0] as Fd)
}

/// Whether a call receives UDP datagrams.
#[must_use]
pub fn is_received(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> bool {
    let receives = |row: &Row| matches!(row.footprint, Through(_, Receive(_) | ReceiveMessage));
    table::row(number).is_some_and(receives) && is_udp(kernel, tid, args[0] as Fd)
}

/// Whether a descriptor is a UDP socket.
fn is_udp(kernel: &Kernel, tid: Tid, fd: Fd) -> bool {
    let description = kernel.description_for(tid, fd).and_then(|id| kernel.descriptions.get(&id));
    match description.map(|description| &description.file) {
        Some(File::Socket(id)) => kernel.net.sockets.get(id).is_some_and(Socket::is_udp),
        _ => false,
    }
}
