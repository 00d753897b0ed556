//! `socket(2)` and `socketpair(2)`.

use super::queue::Queue;
use super::socket::{Family, Identity, Kind, Socket, Stage};
use crate::call::{Call, Stop};
use crate::descriptor::{Description, Fd, File, O_CLOEXEC, O_NONBLOCK, O_RDWR};
use crate::errno::{EAFNOSUPPORT, EINVAL, EOPNOTSUPP, EPROTONOSUPPORT, ESOCKTNOSUPPORT, Errno};
use crate::id::Id;

/// The bits of the second argument that name a kind; the rest are flags.
const KIND: u32 = 0xf;

/// `socket(2)`.
pub fn socket(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (family, kind, flags) = arguments(call)?;
    let id = create(call, family, kind);
    let fd = match install(call, id, flags) {
        Ok(fd) => fd,
        Err(errno) => {
            discard(call, id);
            return Err(errno.into());
        }
    };
    Ok(fd as u64)
}

/// Family, kind and flags of `socket(2)` and `socketpair(2)`.
///
/// The order of the rows is the order of Linux's checks: family, kind, protocol, each with its own
/// errno.
fn arguments(call: &Call<'_>) -> Result<(Family, Kind, u32), Stop> {
    let [family, kind, protocol, ..] = call.args.map(|argument| argument as u32);
    let flags = kind & !KIND;
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let (family, kind) = match (family, kind & KIND, protocol) {
        (1, 1, 0 | 1) => (Family::Unix, Kind::Stream),
        // Linux takes a raw Unix socket for a datagram one.
        (1, 2 | 3, 0 | 1) => (Family::Unix, Kind::Datagram),
        (1, 5, 0 | 1) => (Family::Unix, Kind::Packets),
        (1, 1 | 2 | 3 | 5, _) => return Err(EPROTONOSUPPORT.into()),
        (2 | 10, 1, 0 | 6) => (inet(family), Kind::Stream),
        (2 | 10, 2, 0 | 17) => (inet(family), Kind::Datagram),
        (2 | 10, 1 | 2, 6 | 17) => return Err(EPROTONOSUPPORT.into()),
        (2 | 10, 1 | 2, _) => return call.unsupported(format!("protocol {protocol}")),
        (2 | 10, 3, _) => return call.unsupported("raw socket"),
        (17, ..) => return call.unsupported("AF_PACKET"),
        (1 | 2 | 10, ..) => return Err(ESOCKTNOSUPPORT.into()),
        // Netlink and every other family answers as a kernel that was built without it.
        _ => return Err(EAFNOSUPPORT.into()),
    };
    Ok((family, kind, flags))
}

fn inet(family: u32) -> Family {
    if family == 2 { Family::Inet } else { Family::Inet6 }
}

/// A new socket without descriptor.
pub fn create(call: &mut Call<'_>, family: Family, kind: Kind) -> Id {
    let id = call.fresh_id();
    let socket = Socket::new(family, kind, Identity::of(call.process()));
    let queue = Queue::new(socket.options.receive_buffer);
    call.kernel.net.sockets.insert(id, socket);
    call.kernel.net.queues.insert(id, queue);
    id
}

/// Gives the caller a descriptor for a socket.
pub fn install(call: &mut Call<'_>, id: Id, flags: u32) -> Result<Fd, Errno> {
    let description = Description::new(File::Socket(id), O_RDWR | flags & O_NONBLOCK, b"socket:".to_vec());
    call.install(description, flags & O_CLOEXEC != 0)
}

/// Forgets a socket that never got a descriptor.
pub fn discard(call: &mut Call<'_>, id: Id) {
    call.kernel.net.sockets.remove(&id);
    call.kernel.net.queues.remove(&id);
}

/// `socketpair(2)`.
pub fn socketpair(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (family, kind, flags) = arguments(call)?;
    let result = call.args[3];
    if family != Family::Unix {
        return Err(EOPNOTSUPP.into());
    }
    let (one, other) = (create(call, family, kind), create(call, family, kind));
    join(call, one, other);
    let first = install(call, one, flags).inspect_err(|_| {
        discard(call, one);
        discard(call, other);
    })?;
    let second = install(call, other, flags).inspect_err(|_| {
        discard(call, other);
        let _ = call.kernel.close(call.memory, call.pid, first);
    })?;
    let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
    if let Err(stop) = call.store(result, &bytes) {
        for fd in [first, second] {
            let _ = call.kernel.close(call.memory, call.pid, fd);
        }
        return Err(stop);
    }
    Ok(0)
}

fn join(call: &mut Call<'_>, one: Id, other: Id) {
    let identity = Identity::of(call.process());
    for (id, peer) in [(one, other), (other, one)] {
        let socket = call.socket_mut(id);
        socket.peer = Some(peer);
        socket.stage = Stage::Connected;
        socket.peer_identity = Some(identity);
    }
}
