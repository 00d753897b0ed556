//! What calls put into pipes and sockets, and take out: from it a reader learns who heard what from whom.

use super::guest::file_of;
use kernel::Tid;
use kernel::descriptor::File;
use kernel::id::Id;
use kernel::net::address::Name;
use kernel::net::socket::Socket;
use kernel::table::footprint::{FileUse, SocketUse};
use kernel::table::{FootprintRule, Row};
use trace::{Direction, Passage};
use world::World;

/// What a call that has returned put into a channel, or took out of it; nothing where the other side is not known.
pub fn passage(world: &World, tid: Tid, (row, args): (&Row, &[u64; 6]), result: u64) -> Option<Passage> {
    let bytes = u64::try_from(result as i64).ok().filter(|bytes| *bytes > 0)?;
    let FootprintRule::Through(file, socket) = row.footprint else { return None };
    match file_of(world, tid, args[0] as i32)? {
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => {
            let direction = through_pipe(file)?;
            Some(Passage { channel: format!("pipe {:x}", id.0), direction, bytes, is_message: false })
        }
        File::Socket(id) if !peeks(row, args) => through_socket(world, tid, (socket, args), id, bytes),
        _ => None,
    }
}

/// Whether it only looks at what could be received: `recvmsg(2)` and `recvfrom(2)` have flags.
fn peeks(row: &Row, args: &[u64; 6]) -> bool {
    const MSG_PEEK: u64 = 2;
    let flags = match row.footprint {
        FootprintRule::Through(_, SocketUse::ReceiveMessage) => args[2],
        FootprintRule::Through(_, SocketUse::Receive(_)) if row.arguments.len() > 3 => args[3],
        _ => 0,
    };
    flags & MSG_PEEK != 0
}

fn through_pipe(file: FileUse) -> Option<Direction> {
    match file {
        FileUse::Read => Some(Direction::Receive),
        FileUse::Write => Some(Direction::Send),
        _ => None,
    }
}

/// Channels of sockets are known by who receives from them.
fn through_socket(
    world: &World,
    tid: Tid,
    (used, args): (SocketUse, &[u64; 6]),
    id: Id,
    bytes: u64,
) -> Option<Passage> {
    let socket = world.kernel.net.sockets.get(&id)?;
    let (direction, receiver) = match used {
        SocketUse::Receive(_) | SocketUse::ReceiveMessage => (Direction::Receive, id),
        SocketUse::Send(_) | SocketUse::SendMessage => {
            (Direction::Send, socket.peer.or_else(|| mailbox(world, socket))?)
        }
        SocketUse::SendTo(_) => (Direction::Send, addressee(world, tid, socket, args)?),
        _ => return None,
    };
    Some(Passage { channel: format!("socket {:x}", receiver.0), direction, bytes, is_message: !socket.is_stream() })
}

/// The socket that a datagram goes to.
fn addressee(world: &World, tid: Tid, socket: &Socket, args: &[u64; 6]) -> Option<Id> {
    if args[4] == 0 {
        return socket.peer.or_else(|| mailbox(world, socket));
    }
    let mut port = [0; 2];
    world.memory.peek(world.space(tid), args[4].checked_add(2)?, &mut port).ok()?;
    world.kernel.net.holder(u16::from_be_bytes(port))
}

/// The mailbox of the address that a socket for datagrams is connected to.
fn mailbox(world: &World, socket: &Socket) -> Option<Id> {
    match socket.remote.as_ref()? {
        Name::Inet(endpoint) => world.kernel.net.holder(endpoint.port),
        Name::Path(..) | Name::Abstract(_) => None,
    }
}
