//! How a request for a connection ends: established, or given up.

use super::poll::{ARRIVED, CHANGED, wake};
use super::port;
use super::queue::Queue;
use super::socket::{Family, Listener, Socket, Stage};
use crate::Kernel;
use crate::errno::Errno;
use crate::id::Id;

/// A request ends without a connection.
pub fn give_up(kernel: &mut Kernel, id: Id, error: Errno) {
    let socket = kernel.net.sockets.get_mut(&id).expect("who gives up exists");
    socket.stage = Stage::Idle;
    socket.error = Some(error);
    socket.deadline = None;
    socket.twin = None;
    (socket.receive_shut, socket.send_shut) = (true, true);
    forget_request(kernel, id);
    wake(kernel, id, CHANGED);
}

/// Takes a request out of the line in which it waits.
pub fn forget_request(kernel: &mut Kernel, id: Id) {
    let waits = |listener: &Listener| listener.waiting.contains(&id);
    let found = kernel.net.listeners.iter().find(|(_, listener)| waits(listener)).map(|(listener, _)| *listener);
    if let Some(listener) = found.and_then(|listener| kernel.net.listeners.get_mut(&listener)) {
        listener.waiting.retain(|other| *other != id);
    }
}

/// A listener takes a request: the connection exists from now on, accepted or not.
///
/// The accepting side is a copy of the listener (buffers, options) with the addresses swapped, as
/// Linux clones the listening sock.
pub fn establish(kernel: &mut Kernel, id: Id, listener: Id) {
    let model = kernel.net.sockets.get(&listener).expect("a listener exists").clone();
    let socket = kernel.net.sockets.get_mut(&id).expect("who asks exists");
    let twin = socket.twin.take().expect("a request has a twin");
    socket.stage = Stage::Connected;
    socket.deadline = None;
    socket.peer = Some(twin);
    socket.peer_identity = Some(model.identity);
    let local = socket.remote.clone();
    let remote = socket.local.clone();
    let identity = socket.identity;
    let other = Socket {
        local: if model.family == Family::Unix { model.local.clone() } else { local },
        remote,
        port_chosen: model.port_chosen,
        stage: Stage::Connected,
        peer: Some(id),
        peer_identity: Some(identity),
        error: None,
        ..model
    };
    kernel.net.queues.insert(twin, Queue::new(other.options.receive_buffer));
    kernel.net.sockets.insert(twin, other);
    port::hold(kernel, twin);
    kernel.net.listeners.get_mut(&listener).expect("a listener exists").queue.push_back(twin);
    wake(kernel, id, CHANGED);
    wake(kernel, listener, ARRIVED);
}
