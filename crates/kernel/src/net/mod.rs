//! Sockets: TCP and UDP over the loopback interface, and Unix sockets.
//!
//! There is no network but the loopback interface: other addresses are unreachable, as on a machine without a cable, unless a
//! peer stands for the machine that has them ([`far`]).
//! Packets on it are neither lost nor late, so a connection is a pair of queues; each queue, each listener and each port
//! is an object of its own, so that what is independent stays so.
//!
//! **What happens only as a fault:** loss, delay and reordering of packets ([`datagram_fault`]), and partitions (`partition.rs`). TCP hides them, and UDP
//! on the loopback interface does not show them, except that a full mailbox loses what comes. So without faults
//! everything that happens on a connection is the consequence of a call, and schedules of calls are
//! all that has to be explored.

mod accept;
pub mod address;
mod bind;
pub(crate) mod bytes;
mod close;
pub mod connect;
mod connection;
mod create;
pub mod datagram_fault;
mod family;
pub mod far;
pub mod far_ends;
pub mod far_flows;
pub mod far_live;
pub mod far_log;
mod far_unix;
mod ioctl;
mod mailbox;
mod message;
mod name;
mod open;
mod option_calls;
mod options;
mod outgoing;
mod partition;
mod poll;
mod port;
mod queue;
mod reach;
mod receive;
pub(crate) mod request;
mod send;
pub mod socket;
pub(crate) mod state;
mod taken;
mod udp;
mod unix;

use crate::Kernel;
use crate::descriptor::{Operations, refuse};
use crate::id::Id;
use crate::table::footprint::FootprintRule::{
    self, Accepts, Connects, Everything, MakesDescriptors, NamesSocket, ShutsDown, Through,
};
use crate::table::footprint::{Amount, FileUse, SocketUse};
use crate::table::narration::{ResultWords, Shown, Words};
use crate::table::syscall::Argument::{Fd, Hex, In, Int, Out, Size};
use crate::table::syscall::Row;
pub use close::reset_connection;
use queue::Queue;
use socket::{Listener, Socket, Stage};

pub use bytes::Bytes;
pub use family::Transport;
pub use partition::{cut_off, reconnect};
pub use request::Request;
pub use state::{DATAGRAMS_MAX, Net};
pub use udp::arrive;

/// Calls that only sockets take: on an inode they fail.
const fn socket(usage: SocketUse) -> FootprintRule {
    Through(FileUse::Any, usage)
}

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(41, "socket", create::socket, &[Int, Hex, Int], MakesDescriptors)
        .partial("AF_INET, AF_INET6 and AF_UNIX; TCP and UDP over the loopback interface")
        .silent(),
    Row::full(42, "connect", connect::connect, &[Fd, Hex, Int], Connects)
        .shown(Shown::UnlessNoService)
        .says(Words::PeerAddress),
    Row::full(43, "accept", accept::accept, &[Fd, Hex, Hex], Accepts).returns(ResultWords::Descriptor),
    Row::full(44, "sendto", send::sendto, &[Fd, In(2), Size, Hex, Hex, Int], socket(SocketUse::SendTo(Amount::Given)))
        .partial("not MSG_OOB, MSG_ZEROCOPY")
        .says(Words::Bytes),
    Row::full(
        45,
        "recvfrom",
        receive::recvfrom,
        &[Fd, Out, Size, Hex, Hex, Hex],
        socket(SocketUse::Receive(Amount::Given)),
    )
    .partial("not MSG_OOB, MSG_ERRQUEUE")
    .returns(ResultWords::Bytes),
    Row::full(46, "sendmsg", message::sendmsg, &[Fd, Hex, Hex], socket(SocketUse::SendMessage))
        .partial("of control messages SCM_RIGHTS and SCM_CREDENTIALS"),
    Row::full(47, "recvmsg", message::recvmsg, &[Fd, Hex, Hex], socket(SocketUse::ReceiveMessage))
        .partial("not MSG_OOB, MSG_ERRQUEUE")
        .returns(ResultWords::EndOfInput),
    Row::full(48, "shutdown", close::shutdown, &[Fd, Int], ShutsDown),
    Row::full(49, "bind", bind::bind, &[Fd, Hex, Int], NamesSocket).says(Words::OwnAddress),
    Row::full(50, "listen", bind::listen, &[Fd, Int], NamesSocket).says(Words::Numbers),
    Row::full(51, "getsockname", name::getsockname, &[Fd, Hex, Hex], socket(SocketUse::Ask)),
    Row::full(52, "getpeername", name::getpeername, &[Fd, Hex, Hex], socket(SocketUse::Ask)),
    Row::full(53, "socketpair", create::socketpair, &[Int, Hex, Int, Hex], MakesDescriptors),
    Row::full(54, "setsockopt", option_calls::setsockopt, &[Fd, Int, Int, Hex, Int], socket(SocketUse::Any))
        .partial("options that need more than one loopback interface, a filter or time stamps are refused"),
    Row::full(55, "getsockopt", option_calls::getsockopt, &[Fd, Int, Int, Hex, Hex], socket(SocketUse::Ask))
        .partial("of TCP_INFO only the state"),
    Row::full(288, "accept4", accept::accept4, &[Fd, Hex, Hex, Hex], Accepts).returns(ResultWords::Descriptor),
    Row::full(299, "recvmmsg", message::recvmmsg, &[Fd, Hex, Size, Hex, Hex], Everything),
    Row::full(307, "sendmmsg", message::sendmmsg, &[Fd, Hex, Size, Hex], Everything),
];

/// Whether what a thread waits for is there.
///
/// A socket that is gone ends every wait: the redone call finds out what that means.
#[must_use]
pub fn holds(kernel: &Kernel, request: Request) -> bool {
    let net = &kernel.net;
    let (Request::Data(id, _)
    | Request::Room(id)
    | Request::Mailbox { from: id, .. }
    | Request::Backlog(id)
    | Request::Answer(id)
    | Request::Connection(id)) = request;
    let Some(socket) = net.sockets.get(&id) else { return true };
    match request {
        Request::Data(_, bytes) => {
            let queue = net.queues.get(&id);
            let enough = |queue: &Queue| {
                if socket.has_messages() { !queue.packets.is_empty() } else { queue.bytes() >= bytes }
            };
            socket.error.is_some()
                || socket.stage == Stage::Idle && socket.is_tcp()
                || queue.is_none_or(enough)
                || poll::receive_ended(kernel, id, socket)
        }
        Request::Room(_) => {
            socket.error.is_some() || poll::send_ended(kernel, socket) || poll::is_writable(kernel, id, socket)
        }
        Request::Mailbox { from, to } => poll::may_post(kernel, from, to),
        Request::Backlog(_) => net.listeners.get(&id).is_none_or(Listener::has_room),
        Request::Answer(_) => socket.stage != Stage::Connecting,
        Request::Connection(_) => net.listeners.get(&id).is_none_or(|listener| !listener.queue.is_empty()),
    }
}

/// The earliest moment at which a request for a connection is given up.
#[must_use]
pub fn next_deadline(kernel: &Kernel) -> Option<u64> {
    kernel.net.sockets.values().filter_map(|socket| socket.deadline).min()
}

/// Gives up the requests whose time is over.
pub fn expire(kernel: &mut Kernel) {
    let now = kernel.clock.now();
    let is_over = |socket: &Socket| socket.deadline.is_some_and(|deadline| deadline <= now);
    let over: Vec<Id> = kernel.net.sockets.iter().filter(|(_, socket)| is_over(socket)).map(|(id, _)| *id).collect();
    for id in over {
        connection::give_up(kernel, id, crate::errno::ETIMEDOUT);
    }
}

/// What sockets can do as files.
pub static OPERATIONS: Operations = Operations {
    read: receive::read,
    write: send::write,
    poll: poll::poll,
    ioctl: ioctl::ioctl,
    close: close::close,
    seek: refuse::seek,
};
