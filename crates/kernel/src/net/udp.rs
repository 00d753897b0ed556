//! Sending UDP datagrams.

use super::address::{Given, Name};
use super::bind::{any, bind_any};
use super::connect::route;
use super::family::Transport;
use super::poll::{ROOM, wake};
use super::{far_ends, far_flows, mailbox, port};
use crate::call::{Call, Stop};
use crate::errno::{EDESTADDRREQ, EINVAL, EMSGSIZE, EPIPE};
use crate::id::Id;

/// The longest UDP datagram over IPv4.
const UDP_MAX: usize = 65_507;

/// Sends a datagram: to a process, to a peer where no process is, or to nobody.
///
/// Nothing waits: `udp(7)` has no flow control. A refused datagram is reported by the *next* call on the socket, as an ICMP message would be.
pub fn send(call: &mut Call<'_>, id: Id, to: Option<&Given>, bytes: &[u8]) -> Result<usize, Stop> {
    let socket = call.socket(id);
    if bytes.len() > UDP_MAX {
        return Err(EMSGSIZE.into());
    }
    let destination = match (to, &socket.remote) {
        (Some(Given::Inet(endpoint)), _) => *endpoint,
        (_, Some(Name::Inet(remote))) => *remote,
        _ => return Err(EDESTADDRREQ.into()),
    };
    if destination.port == 0 {
        return Err(EINVAL.into());
    }
    let destination = route(&call.kernel.net, socket, destination)?;
    if socket.send_shut {
        return Err(EPIPE.into());
    }
    let ip = any(socket);
    call.socket_mut(id).take_error()?;
    bind_any(call.kernel, id, ip)?;
    let mut source = port::endpoint(call.socket(id)).expect("it has just been bound");
    if source.is_any() {
        source.ip = destination.source();
    }
    // The packet leaves the sender's buffer at once, which counts as room.
    wake(call.kernel, id, ROOM);
    let receiver = port::receiver(call.kernel, Transport::Udp, source, destination);
    match (receiver, far_ends::peer_at(call.kernel, Transport::Udp, destination)) {
        (Some(receiver), _) => mailbox::post(call.kernel, receiver, source, bytes),
        (None, Some(peer)) => far_flows::say(call.kernel, peer, (source, destination), bytes),
        (None, None) => mailbox::refuse(call.kernel, id),
    }
    Ok(bytes.len())
}
