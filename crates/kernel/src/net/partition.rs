//! Partitions: the network between a program and all others is down for a while.
//!
//! TCP loses nothing: what is sent over a connection between the two sides is *late*. It lies beside the receiver's queue, in order,
//! and comes when the network is up again. Requests for connections wait meanwhile, until they are given up; datagrams are lost.
//! A connection itself never gives up, however long that lasts.

use super::address::Name;
use super::connection::{establish, give_up};
use super::family::Transport;
use super::poll::{ARRIVED, CHANGED, wake};
use super::reach::{Late, is_partitioned, is_unreachable};
use super::socket::{Socket, Stage};
use super::{close, port};
use crate::Kernel;
use crate::errno::ECONNREFUSED;
use crate::id::{Id, Pid};

/// Cuts a program off from all others.
pub fn cut_off(kernel: &mut Kernel, program: Pid) {
    kernel.net.cut_off.push(program);
    kernel.net.cut_off.sort_unstable();
    let partitioned: Vec<Id> = connected(kernel).filter(|id| is_partitioned(kernel, *id)).collect();
    for id in partitioned {
        if !kernel.net.late.contains_key(&id) {
            kernel.net.late.insert(id, Late::default());
        }
    }
}

/// The network between a program and the others is up again.
pub fn reconnect(kernel: &mut Kernel, program: Pid) {
    kernel.net.cut_off.retain(|other| *other != program);
    let over: Vec<Id> = kernel.net.late.keys().copied().filter(|id| !is_partitioned(kernel, *id)).collect();
    for id in over {
        arrive(kernel, id);
    }
    let asking = |socket: &Socket| socket.is_tcp() && socket.stage == Stage::Connecting;
    let asking: Vec<Id> = kernel.net.sockets.iter().filter(|(_, it)| asking(it)).map(|(id, _)| *id).collect();
    for id in asking {
        resend_request(kernel, id);
    }
}

/// What is late for a socket comes.
fn arrive(kernel: &mut Kernel, id: Id) {
    let Some(late) = kernel.net.late.remove(&id) else { return };
    let Some(queue) = kernel.net.queues.get_mut(&id) else { return };
    if !late.bytes.is_empty() {
        queue.append(&late.bytes);
        wake(kernel, id, ARRIVED);
    }
    if late.is_finished {
        kernel.net.queues.get_mut(&id).expect("looked at above").finished = true;
        wake(kernel, id, CHANGED);
    }
    if late.is_reset {
        close::reset(kernel, id);
    }
}

/// A request that was made while the network was down is answered, or waits for room.
fn resend_request(kernel: &mut Kernel, id: Id) {
    let Some(socket) = kernel.net.sockets.get(&id) else { return };
    let (Some(source), Some(Name::Inet(destination))) = (port::endpoint(socket), &socket.remote) else { return };
    let destination = *destination;
    let listener = port::receiver(kernel, Transport::Tcp, source, destination);
    if is_unreachable(kernel, id, listener) {
        return;
    }
    let Some(listener) = listener else { return give_up(kernel, id, ECONNREFUSED) };
    let line = kernel.net.listeners.get_mut(&listener).expect("a receiver of requests listens");
    if !line.waiting.contains(&id) {
        line.waiting.push_back(id);
    }
    if line.has_room() {
        line.waiting.retain(|other| *other != id);
        establish(kernel, id, listener);
    }
}

fn connected(kernel: &Kernel) -> impl Iterator<Item = Id> {
    let is_connected = |socket: &Socket| socket.is_tcp() && socket.stage == Stage::Connected;
    kernel.net.sockets.iter().filter(move |(_, socket)| is_connected(socket)).map(|(id, _)| *id)
}
