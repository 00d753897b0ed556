//! Whom the network reaches while a fault cuts programs off from others, and what is late then.

use super::socket::Listener;
use crate::Kernel;
use crate::id::{Id, Pid};

/// What was sent to a socket and has not come yet.
///
/// **Invariant:** both ends of a connection have one while the network between them is down, as long as they are open.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Late {
    /// Bytes, in order.
    pub(super) bytes: Vec<u8>,
    /// The end of the direction, behind them.
    pub(super) is_finished: bool,
    /// A reset, behind that.
    pub(super) is_reset: bool,
}

/// The first request in a listener's line that the network lets through.
pub(super) fn next_request(kernel: &Kernel, id: Id, listener: &Listener) -> Option<Id> {
    listener.waiting.iter().copied().find(|asker| !is_unreachable(kernel, *asker, Some(id)))
}

/// Whether what a socket sends to another one, or to nobody, does not come there now.
pub(super) fn is_unreachable(kernel: &Kernel, id: Id, other: Option<Id>) -> bool {
    if kernel.net.sockets.get(&id).is_none_or(|socket| !socket.is_inet()) {
        return false;
    }
    let owner = |id: Id| kernel.net.sockets.get(&id).map(|socket| socket.identity.pid);
    let is_between = |program: &Pid| {
        let is_inside = |owner: Option<Pid>| owner.is_some_and(|pid| is_of(kernel, pid, *program));
        is_inside(owner(id)) != is_inside(other.and_then(owner))
    };
    kernel.net.cut_off.iter().any(is_between)
}

/// Whether the network between the ends of a connection is down.
pub(super) fn is_partitioned(kernel: &Kernel, id: Id) -> bool {
    let Some(socket) = kernel.net.sockets.get(&id) else { return false };
    let Some(peer) = socket.peer_identity else { return false };
    let is_between = |program: &Pid| is_of(kernel, socket.identity.pid, *program) != is_of(kernel, peer.pid, *program);
    kernel.net.cut_off.iter().any(is_between)
}

/// Whether a process is that program, or descends from it.
fn is_of(kernel: &Kernel, pid: Pid, program: Pid) -> bool {
    kernel.ancestors(pid).any(|ancestor| ancestor == program)
}
