//! Receiving: `recvfrom(2)`, and what all of its kin come down to.
//!
//! **Invariant:** what is stored in the guest's memory is what leaves the queue. A bad buffer
//! address is `EFAULT` with the data gone, as on Linux, where a stream loses at most what was
//! copied.

use super::address::{self, Name};
use super::close::drop_rights;
use super::name;
use super::options::{SO_PASSCRED, SO_RCVLOWAT};
use super::poll::{ROOM, is_writable, receive_ended, wake};
use super::queue::Packet;
use super::request::Request;
use super::send::MSG_DONTWAIT;
use super::socket::{Family, Identity, Kind, Socket, Stage};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{self, At};
use crate::errno::{EAGAIN, EINVAL, ENOTCONN, EOPNOTSUPP, ESPIPE};
use crate::id::Id;

/// Urgent data.
const MSG_OOB: u32 = 0x1;
/// Leave it there.
pub const MSG_PEEK: u32 = 0x2;
/// The true length, even if it is cut.
pub const MSG_TRUNC: u32 = 0x20;
/// All that was asked for.
pub const MSG_WAITALL: u32 = 0x100;
/// Errors of the past.
const MSG_ERRQUEUE: u32 = 0x2000;

/// What was received.
#[derive(Default)]
pub struct Received {
    /// The bytes, no more than asked for.
    pub bytes: Vec<u8>,
    /// How long the message was.
    pub size: usize,
    /// Who sent it.
    pub from: Option<Name>,
    /// Open files, each with one reference that is now the receiver's.
    pub rights: Vec<Id>,
    /// Who sent it.
    pub identity: Option<Identity>,
    /// No more will come: whoever wants all must do with this.
    pub ended: bool,
}

/// `recvfrom(2)`.
pub fn recvfrom(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, buffer, length, flags, name, name_length] = call.args;
    let (description, id) = call.socket_of(call.int(0))?;
    let flags = flags as u32;
    let done = progress(call);
    let length = length.min(i32::MAX as u64) as usize;
    let received = match receive(call, description, id, length - done, flags) {
        Ok(received) => received,
        Err(stop) => return enough(done, stop),
    };
    discard(call, &received);
    if !throws_away(call.socket(id), flags) {
        call.store(buffer.wrapping_add(done as u64), &received.bytes)?;
    }
    let done = done + received.bytes.len();
    wait_for_rest(call, description, id, flags, done, length, &received)?;
    if name != 0 {
        let bytes = sender_name(call.socket(id), &received);
        name::store(call, &bytes, name, name_length)?;
    }
    Ok(result(flags, done, &received))
}

/// TCP with `MSG_TRUNC` takes bytes without giving them (`tcp(7)`).
pub fn throws_away(socket: &Socket, flags: u32) -> bool {
    socket.is_tcp() && flags & MSG_TRUNC != 0
}

/// Bytes that an earlier try of this call has received already (`MSG_WAITALL`).
pub fn progress(call: &Call<'_>) -> usize {
    call.resumed.as_ref().map_or(0, |wait| wait.progress as usize)
}

/// What a call that wanted all does when something stops it: gives back what it has.
pub fn enough(done: usize, stop: Stop) -> Result<u64, Stop> {
    match stop {
        Stop::Wait(wait) => Err(wait.progress(done as u64).into()),
        Stop::Errno(_) if done > 0 => Ok(done as u64),
        stop => Err(stop),
    }
}

/// Waits for the rest of what was asked for (`MSG_WAITALL`), unless it cannot come.
pub fn wait_for_rest(
    call: &Call<'_>,
    description: Id,
    id: Id,
    flags: u32,
    done: usize,
    length: usize,
    received: &Received,
) -> Result<(), Stop> {
    let socket = call.socket(id);
    let wants_all = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0 && !socket.has_messages();
    let stops = received.ended || done >= length || !may_wait(call, description, flags) || call.timed_out();
    if !wants_all || stops || !received.rights.is_empty() {
        return Ok(());
    }
    let wait = call.socket_wait(Request::Data(id, 1), socket.options.receive_timeout);
    Err(wait.progress(done as u64).into())
}

/// The number that the call returns.
pub fn result(flags: u32, done: usize, received: &Received) -> u64 {
    let truncated = flags & MSG_TRUNC != 0 && received.size > received.bytes.len();
    if truncated { received.size as u64 } else { done as u64 }
}

/// The sender's name as `recvfrom(2)` shows it: none at all for a connection.
#[must_use]
pub fn sender_name(socket: &Socket, received: &Received) -> Vec<u8> {
    match (&received.from, socket.kind) {
        (Some(name), _) => address::encode(Some(name), socket.family),
        _ => Vec::new(),
    }
}

/// Open files that the call has no place for are closed.
pub fn discard(call: &mut Call<'_>, received: &Received) {
    let packet = Packet { rights: received.rights.clone(), ..Packet::new(&[]) };
    drop_rights(call.kernel, call.memory, &packet);
}

/// `read(2)` on a socket.
pub fn read(call: &mut Call<'_>, description: Id, len: usize, at: At) -> Result<Vec<u8>, Stop> {
    if at.is_some() {
        return Err(ESPIPE.into());
    }
    if len == 0 {
        return Ok(Vec::new());
    }
    let id = super::open::of_description(call.kernel, description).ok_or(EINVAL)?;
    let received = receive(call, description, id, len, 0)?;
    discard(call, &received);
    Ok(received.bytes)
}

fn may_wait(call: &Call<'_>, description: Id, flags: u32) -> bool {
    flags & MSG_DONTWAIT == 0 && !call.description(description).is_nonblocking()
}

/// Receives up to `len` bytes.
pub fn receive(call: &mut Call<'_>, description: Id, id: Id, len: usize, flags: u32) -> Result<Received, Stop> {
    let socket = call.socket(id);
    if flags & MSG_OOB != 0 && socket.has_messages() {
        return Err(EOPNOTSUPP.into());
    }
    for (flag, name) in [(MSG_OOB, "MSG_OOB"), (MSG_ERRQUEUE, "MSG_ERRQUEUE")] {
        if flags & flag != 0 {
            return call.unsupported(name);
        }
    }
    let waits = may_wait(call, description, flags) && !call.timed_out();
    if socket.has_messages() {
        receive_message(call, id, len, flags, waits)
    } else {
        receive_stream(call, id, len, flags, waits)
    }
}

/// The order of the checks decides what a program sees when several things hold at once: data
/// first, then the end of a TCP stream, then a pending error, then the end, then waiting.
fn receive_stream(call: &mut Call<'_>, id: Id, len: usize, flags: u32, waits: bool) -> Result<Received, Stop> {
    let socket = call.socket(id);
    if let Some(stop) = unconnected(socket) {
        return Err(stop);
    }
    let low = (socket.options.get(SO_RCVLOWAT).max(1) as usize).min(len).max(1);
    let target = if flags & MSG_WAITALL != 0 { 1 } else { low };
    let queue = call.kernel.net.queues.get(&id);
    let available = queue.map_or(0, super::queue::Queue::bytes);
    let finished = queue.is_none_or(|queue| queue.finished);
    let ended = receive_ended(call.kernel, id, socket) || socket.error.is_some();
    if available >= target || available > 0 && (ended || !waits) {
        let mut received = take_stream(call, id, len, flags);
        let left = call.kernel.net.queues.get(&id).map_or(0, super::queue::Queue::bytes);
        received.ended = ended && left == 0;
        return Ok(received);
    }
    // A TCP socket that has seen the end keeps saying so, whatever error came after (Linux's `SOCK_DONE`).
    if finished && socket.is_tcp() {
        return Ok(Received { ended: true, ..Received::default() });
    }
    call.socket_mut(id).take_error()?;
    let socket = call.socket(id);
    if receive_ended(call.kernel, id, socket) {
        return Ok(Received { ended: true, ..Received::default() });
    }
    if socket.is_tcp() && socket.stage == Stage::Idle {
        return Err(ENOTCONN.into());
    }
    if !waits {
        return Err(EAGAIN.into());
    }
    Err(call.socket_wait(Request::Data(id, target), socket.options.receive_timeout).into())
}

/// The errno of a stream that was never connected.
fn unconnected(socket: &Socket) -> Option<Stop> {
    let never = socket.error.is_none() && !socket.receive_shut && socket.stage != Stage::Connecting;
    match (socket.stage, socket.family) {
        (Stage::Connected, _) => None,
        (_, Family::Unix) => Some(EINVAL.into()),
        (Stage::Listening, _) => Some(ENOTCONN.into()),
        _ if never && socket.peer.is_none() => Some(ENOTCONN.into()),
        _ => None,
    }
}

/// Takes bytes from the front of a stream, up to where another sender begins, or with the first open files.
///
/// With `SO_PASSCRED` one read never mixes bytes of two senders; open files end a read, so that
/// they arrive with the bytes they were sent with (`unix(7)`).
fn take_stream(call: &mut Call<'_>, id: Id, len: usize, flags: u32) -> Received {
    let by_sender = call.socket(id).options.is_on(SO_PASSCRED);
    let was_writable = peer_writable(call.kernel, id);
    let queue = call.kernel.net.queues.get(&id).expect("there are bytes in it");
    let mut received = Received::default();
    let mut spent = Vec::new();
    for packet in &queue.packets {
        let first = spent.is_empty();
        let other_sender = by_sender && packet.identity != received.identity;
        if received.bytes.len() == len || !first && other_sender {
            break;
        }
        received.identity = packet.identity;
        let count = packet.bytes.len().min(len - received.bytes.len());
        received.bytes.extend_from_slice(&packet.bytes.as_slice()[..count]);
        spent.push(count);
        if !packet.rights.is_empty() {
            received.rights.clone_from(&packet.rights);
            break;
        }
    }
    received.size = received.bytes.len();
    if flags & MSG_PEEK == 0 {
        consume(call.kernel, id, &spent);
        notify_room(call.kernel, id, was_writable);
    } else {
        // The files are there twice now: once in the message, once for the caller.
        received.rights.iter().for_each(|description| descriptor::retain(call.kernel, *description));
    }
    received
}

fn consume(kernel: &mut Kernel, id: Id, spent: &[usize]) {
    let queue = kernel.net.queues.get_mut(&id).expect("something was taken from it");
    for count in spent {
        let packet = queue.packets.front_mut().expect("as many as were read");
        packet.bytes.consume(*count);
        packet.rights.clear();
        if packet.bytes.is_empty() {
            queue.packets.pop_front();
        } else {
            break;
        }
    }
}

pub(super) fn peer_writable(kernel: &Kernel, id: Id) -> bool {
    let peer = kernel.net.sockets.get(&id).and_then(|socket| socket.peer);
    peer.is_some_and(|peer| can_write(kernel, peer))
}

fn can_write(kernel: &Kernel, id: Id) -> bool {
    kernel.net.sockets.get(&id).is_some_and(|socket| is_writable(kernel, id, socket))
}

/// Whoever waits for room hears of it: TCP when there is room again, Unix sockets with everything that is read.
pub(super) fn notify_room(kernel: &mut Kernel, id: Id, was_writable: bool) {
    let Some(socket) = kernel.net.sockets.get(&id) else { return };
    let (Some(peer), is_unix) = (socket.peer, socket.family == Family::Unix) else { return };
    if peer_writable(kernel, id) && (is_unix || !was_writable) {
        wake(kernel, peer, ROOM);
    }
}

fn receive_message(call: &mut Call<'_>, id: Id, len: usize, flags: u32, waits: bool) -> Result<Received, Stop> {
    let socket = call.socket(id);
    if socket.kind == Kind::Packets && socket.stage != Stage::Connected {
        return Err(ENOTCONN.into());
    }
    let queue = call.kernel.net.queues.get(&id);
    let is_empty = queue.is_none_or(|queue| queue.packets.is_empty());
    if socket.family != Family::Unix || is_empty {
        call.socket_mut(id).take_error()?;
    }
    let socket = call.socket(id);
    if !is_empty {
        return Ok(take_message(call, id, len, flags));
    }
    if receive_ended(call.kernel, id, socket) {
        return Ok(Received { ended: true, ..Received::default() });
    }
    if !waits {
        return Err(EAGAIN.into());
    }
    Err(call.socket_wait(Request::Data(id, 1), socket.options.receive_timeout).into())
}

fn take_message(call: &mut Call<'_>, id: Id, len: usize, flags: u32) -> Received {
    let queue = call.kernel.net.queues.get_mut(&id).expect("there is a message in it");
    let packet = queue.packets.front().expect("there is a message in it");
    let bytes = packet.bytes.as_slice();
    let received = Received {
        bytes: bytes[..bytes.len().min(len)].to_vec(),
        size: bytes.len(),
        from: packet.from.clone(),
        rights: packet.rights.clone(),
        identity: packet.identity,
        ended: false,
    };
    if flags & MSG_PEEK == 0 {
        let sender = packet.sender;
        queue.packets.pop_front();
        if let Some(sender) = sender.filter(|sender| can_write(call.kernel, *sender)) {
            wake(call.kernel, sender, ROOM);
        }
    } else {
        received.rights.iter().for_each(|description| descriptor::retain(call.kernel, *description));
    }
    received
}
