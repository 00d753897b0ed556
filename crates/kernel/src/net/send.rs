//! Sending: `sendto(2)`, and what all of its kin come down to.

use super::close::{drop_rights, reset};
use super::far_log;
use super::outgoing::Outgoing;
use super::poll::{ARRIVED, ROOM, is_overfull, send_ended, wake};
use super::queue::Packet;
use super::request::Request;
use super::socket::{Family, Identity, Kind, Socket, Stage};
use super::{name, udp, unix};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::At;
use crate::errno::{EAGAIN, ECONNREFUSED, EINVAL, EISCONN, EMSGSIZE, ENOTCONN, EOPNOTSUPP, EPIPE, Errno};
use crate::id::Id;
use crate::process::SignalInfo;
use crate::signal;

/// Urgent data.
const MSG_OOB: u32 = 0x1;
/// This call does not wait.
pub const MSG_DONTWAIT: u32 = 0x40;
/// No `SIGPIPE`.
pub const MSG_NOSIGNAL: u32 = 0x4000;
/// Without copying.
const MSG_ZEROCOPY: u32 = 0x400_0000;
/// Data with the request for a connection.
const MSG_FASTOPEN: u32 = 0x2000_0000;

/// `SIGPIPE`.
const SIGPIPE: u8 = 13;
/// The longest piece of a Unix stream that stays together (Linux's `SKB_MAX_HEAD(0) + UNIX_SKB_FRAGS_SZ`).
const PIECE_MAX: usize = 3776 + 32_768;

/// `sendto(2)`.
pub fn sendto(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, buffer, length, flags, name, name_length] = call.args;
    let (description, id) = call.socket_of(call.int(0))?;
    let family = call.socket(id).family;
    let to = if name == 0 { None } else { Some(name::load(call, name, name_length, family)?) };
    let bytes = call.load_bytes(buffer, length.min(i32::MAX as u64) as usize)?;
    let outgoing = Outgoing { bytes: &bytes, to, flags: flags as u32, rights: Vec::new(), identity: None };
    send(call, description, id, outgoing).map(|count| count as u64)
}

/// `write(2)` on a socket.
pub fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], at: At) -> Result<usize, Stop> {
    if at.is_some() {
        return Err(crate::errno::ESPIPE.into());
    }
    let id = super::open::of_description(call.kernel, description).ok_or(EINVAL)?;
    send(call, description, id, Outgoing { bytes, to: None, flags: 0, rights: Vec::new(), identity: None })
}

/// Sends; the open files of a message that is not sent are let go again.
///
/// That also holds for a call that waits: it is redone from its arguments, and finds its files again.
pub fn send(call: &mut Call<'_>, description: Id, id: Id, mut outgoing: Outgoing<'_>) -> Result<usize, Stop> {
    let result = try_send(call, description, id, &mut outgoing);
    let unsent = Packet { rights: outgoing.rights, ..Packet::new(&[]) };
    drop_rights(call.kernel, call.memory, &unsent);
    result
}

fn try_send(call: &mut Call<'_>, description: Id, id: Id, outgoing: &mut Outgoing<'_>) -> Result<usize, Stop> {
    check_flags(call, id, outgoing.flags)?;
    let waits = outgoing.flags & MSG_DONTWAIT == 0 && !call.description(description).is_nonblocking();
    let socket = call.socket(id);
    match (socket.family, socket.kind) {
        (Family::Unix, Kind::Stream) => send_unix_stream(call, id, outgoing, waits),
        (Family::Unix, _) => send_unix_message(call, id, outgoing, waits),
        (_, Kind::Stream) => send_tcp(call, id, outgoing, waits),
        _ => udp::send(call, id, outgoing),
    }
}

fn check_flags(call: &Call<'_>, id: Id, flags: u32) -> Result<(), Stop> {
    let socket = call.socket(id);
    if flags & MSG_OOB != 0 && socket.kind != Kind::Stream {
        return Err(EOPNOTSUPP.into());
    }
    for (flag, name) in [(MSG_OOB, "MSG_OOB"), (MSG_FASTOPEN, "MSG_FASTOPEN"), (MSG_ZEROCOPY, "MSG_ZEROCOPY")] {
        if flags & flag != 0 {
            return call.unsupported(name);
        }
    }
    Ok(())
}

/// The bytes of a stream that an earlier try of this call has sent already.
pub(super) fn progress(call: &Call<'_>) -> usize {
    call.resumed.as_ref().map_or(0, |wait| wait.progress as usize)
}

/// How sending ends when the direction is closed: with the error that waits, or `EPIPE` and a signal.
fn broken(call: &mut Call<'_>, id: Id, flags: u32) -> Stop {
    match call.socket_mut(id).error.take() {
        Some(error) if error != EPIPE => error.into(),
        _ => pipe_error(call, flags),
    }
}

fn pipe_error(call: &mut Call<'_>, flags: u32) -> Stop {
    if flags & MSG_NOSIGNAL == 0 {
        signal::send(call.kernel, signal::Target::Thread(call.tid), SignalInfo::kernel(SIGPIPE));
    }
    EPIPE.into()
}

/// When not all could be sent: waits, or gives back what was.
pub(super) fn partly(call: &Call<'_>, id: Id, sent: usize, waits: bool) -> Result<usize, Stop> {
    if waits && !call.timed_out() {
        let wait = call.socket_wait(Request::Room(id), call.socket(id).options.send_timeout);
        return Err(wait.progress(sent as u64).into());
    }
    if sent > 0 { Ok(sent) } else { Err(EAGAIN.into()) }
}

/// How many bytes a TCP socket takes for its peer now.
///
/// The room is the sender's buffer and the receiver's together: on the loopback interface both fill
/// up before a writer blocks.
pub(super) fn room(kernel: &Kernel, socket: &Socket, peer: Id) -> usize {
    (socket.options.send_buffer + kernel.net.receive_limit(peer)).saturating_sub(kernel.net.sent(peer))
}

fn send_tcp(call: &mut Call<'_>, id: Id, outgoing: &Outgoing<'_>, waits: bool) -> Result<usize, Stop> {
    let socket = call.socket(id);
    if socket.stage == Stage::Connecting {
        let wait = call.socket_wait(Request::Answer(id), socket.options.send_timeout);
        return Err(if waits && !call.timed_out() { wait.into() } else { EAGAIN.into() });
    }
    let sent = progress(call);
    if socket.error.is_some() || socket.send_shut || socket.stage != Stage::Connected {
        return if sent > 0 { Ok(sent) } else { Err(broken(call, id, outgoing.flags)) };
    }
    let peer = socket.peer.expect("a connected socket has a peer");
    let rest = &outgoing.bytes[sent..];
    if !call.kernel.net.queues.contains_key(&peer) {
        return Ok(send_to_closed(call, id, outgoing.bytes.len(), rest.is_empty()));
    }
    let now = rest.len().min(room(call.kernel, socket, peer));
    if let Some(late) = call.kernel.net.late.get_mut(&peer) {
        late.bytes.extend_from_slice(&rest[..now]);
    } else if now > 0 {
        call.kernel.net.queues.get_mut(&peer).expect("looked at above").append(&rest[..now]);
        wake(call.kernel, peer, ARRIVED);
        far_log::absorb(call.kernel, peer);
    }
    if now == rest.len() { Ok(outgoing.bytes.len()) } else { partly(call, id, sent + now, waits) }
}

/// Data for a side that has closed is sent, and answered with a reset.
fn send_to_closed(call: &mut Call<'_>, id: Id, length: usize, nothing: bool) -> usize {
    if !nothing {
        reset(call.kernel, id);
    }
    length
}

fn send_unix_stream(call: &mut Call<'_>, id: Id, outgoing: &mut Outgoing<'_>, waits: bool) -> Result<usize, Stop> {
    let socket = call.socket(id);
    match (socket.stage, &outgoing.to) {
        (Stage::Connected, Some(_)) => return Err(EISCONN.into()),
        (Stage::Connected, None) => {}
        (_, Some(_)) => return Err(EOPNOTSUPP.into()),
        _ => return Err(ENOTCONN.into()),
    }
    let mut sent = progress(call);
    if send_ended(call.kernel, socket) {
        return if sent > 0 { Ok(sent) } else { Err(pipe_error(call, outgoing.flags)) };
    }
    let peer = socket.peer.expect("a connected socket has a peer");
    let buffer = socket.options.send_buffer;
    if !outgoing.rights.is_empty() && call.kernel.net.far.ends.contains_key(&peer) {
        return call.unsupported("SCM_RIGHTS to a peer");
    }
    let identity = Some(outgoing.identity.unwrap_or_else(|| Identity::of(call.process())));
    while sent < outgoing.bytes.len() {
        let queue = call.kernel.net.queues.get_mut(&peer).expect("it is not closed");
        if queue.cost() >= buffer {
            return partly(call, id, sent, waits);
        }
        let piece = (outgoing.bytes.len() - sent).min(buffer / 2 - 64).min(PIECE_MAX);
        let bytes = &outgoing.bytes[sent..sent + piece];
        let rights = if sent == 0 { std::mem::take(&mut outgoing.rights) } else { Vec::new() };
        queue.packets.push_back(Packet { rights, identity, ..Packet::new(bytes) });
        sent += piece;
        wake(call.kernel, peer, ARRIVED);
        far_log::absorb(call.kernel, peer);
    }
    Ok(sent)
}

/// Datagrams and packets of Unix sockets: all or nothing.
///
/// "All or nothing": a datagram longer than the send buffer is `EMSGSIZE` and would never fit.
fn send_unix_message(call: &mut Call<'_>, id: Id, outgoing: &mut Outgoing<'_>, waits: bool) -> Result<usize, Stop> {
    let socket = call.socket(id);
    let packets = socket.kind == Kind::Packets;
    if packets {
        call.socket_mut(id).take_error()?;
    }
    let receiver = message_receiver(call, id, outgoing)?;
    let socket = call.socket(id);
    if outgoing.bytes.len() > socket.options.send_buffer - 32 {
        return Err(EMSGSIZE.into());
    }
    if socket.send_shut || packets && send_ended(call.kernel, socket) {
        return Err(EPIPE.into());
    }
    let Some(queue) = call.kernel.net.queues.get(&receiver) else {
        return Err(forget_peer(call, id).into());
    };
    if queue.deaf {
        return Err(EPIPE.into());
    }
    if queue.in_flight(id) >= socket.options.send_buffer || is_overfull(call.kernel, id, receiver) {
        if !waits || call.timed_out() {
            return Err(EAGAIN.into());
        }
        let timeout = call.socket(id).options.send_timeout;
        return Err(call.socket_wait(Request::Mailbox { from: id, to: receiver }, timeout).into());
    }
    let identity = Some(outgoing.identity.unwrap_or_else(|| Identity::of(call.process())));
    let from = call.socket(id).local.clone();
    let rights = std::mem::take(&mut outgoing.rights);
    let packet = Packet { from, sender: Some(id), rights, identity, ..Packet::new(outgoing.bytes) };
    call.kernel.net.queues.get_mut(&receiver).expect("looked at above").packets.push_back(packet);
    wake(call.kernel, receiver, ARRIVED);
    Ok(outgoing.bytes.len())
}

fn message_receiver(call: &Call<'_>, id: Id, outgoing: &Outgoing<'_>) -> Result<Id, Errno> {
    let socket = call.socket(id);
    match (&outgoing.to, socket.kind) {
        // A destination is of no use to packets, which go to the peer (`unix_seqpacket_sendmsg`).
        (Some(given), Kind::Datagram) => {
            let other = unix::find(call, given, Kind::Datagram)?;
            unix::check_willing(call.kernel, id, other)?;
            Ok(other)
        }
        _ if socket.stage == Stage::Connected => socket.peer.ok_or(ENOTCONN),
        _ => Err(ENOTCONN),
    }
}

/// The fixed destination of a datagram socket is gone: it has none from now on.
fn forget_peer(call: &mut Call<'_>, id: Id) -> Errno {
    let socket = call.socket_mut(id);
    (socket.peer, socket.remote, socket.stage) = (None, None, Stage::Idle);
    wake(call.kernel, id, ROOM);
    ECONNREFUSED
}
