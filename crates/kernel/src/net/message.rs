//! `sendmsg(2)`, `recvmsg(2)` and their kin: scattered memory and control messages.
//!
//! Control messages are parsed before anything is sent, and references to open files are taken only
//! when nothing can fail any more: a call that fails or waits must not leave references behind.

use super::name;
use super::options::SO_PASSCRED;
use super::outgoing::Outgoing;
use super::receive::{self, MSG_TRUNC, Received, receive};
use super::send::{MSG_DONTWAIT, send};
use super::socket::{Family, Identity};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::{self, Fd};
use crate::errno::{EAGAIN, EINVAL, EMSGSIZE, EPERM};
use crate::event::Timeout;
use crate::guest::Piece;
use crate::id::{Id, Pid};

/// Control messages were cut.
const MSG_CTRUNC: u32 = 0x8;
/// Received descriptors are closed on exec.
const MSG_CMSG_CLOEXEC: u32 = 0x4000_0000;
/// Wait for the first message only.
const MSG_WAITFORONE: u32 = 0x1_0000;
/// The end of a record.
const MSG_EOR: u32 = 0x80;

/// `SOL_SOCKET`.
const SOL_SOCKET: u32 = 1;
/// Open files.
const SCM_RIGHTS: u32 = 1;
/// Who sends.
const SCM_CREDENTIALS: u32 = 2;
/// Bytes of `struct cmsghdr`.
const HEADER: usize = 16;
/// Descriptors in one message.
const RIGHTS_MAX: usize = 253;
/// Control bytes that a message may have (Linux's `optmem_max`).
const CONTROL_MAX: u64 = 131_072;

/// Bytes of `struct mmsghdr`, and where it keeps the length.
const MANY: u64 = 64;
const MANY_LENGTH: u64 = 56;
/// `UIO_MAXIOV`.
const MANY_MAX: u64 = 1024;

/// `struct msghdr`.
struct Header {
    address: u64,
    name: u64,
    name_length: u32,
    pieces: Vec<Piece>,
    control: u64,
    control_length: u64,
}

fn load_header(call: &mut Call<'_>, address: u64) -> Result<Header, Stop> {
    let bytes: [u8; 56] = call.load(address)?;
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let count = number(24);
    if count > MANY_MAX {
        return Err(EMSGSIZE.into());
    }
    let pieces = call.load_pieces(number(16), count)?;
    let name_length = number(8) as u32;
    if (name_length as i32) < 0 {
        return Err(EINVAL.into());
    }
    Ok(Header { address, name: number(0), name_length, pieces, control: number(32), control_length: number(40) })
}

/// `sendmsg(2)`.
pub fn sendmsg(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (description, id) = call.socket_of(call.int(0))?;
    send_one(call, description, id, call.args[1], call.args[2] as u32)
}

fn send_one(call: &mut Call<'_>, description: Id, id: Id, address: u64, flags: u32) -> Result<u64, Stop> {
    let header = load_header(call, address)?;
    let family = call.socket(id).family;
    let to = match header.name {
        0 => None,
        _ if header.name_length == 0 => None,
        name => Some(name::load(call, name, u64::from(header.name_length), family)?),
    };
    let bytes = call.gather(&header.pieces)?;
    let (rights, identity) = load_control(call, id, &header)?;
    let outgoing = Outgoing { bytes: &bytes, to, flags, rights, identity };
    send(call, description, id, outgoing).map(|count| count as u64)
}

/// The open files and the identity that a message carries.
fn load_control(call: &mut Call<'_>, id: Id, header: &Header) -> Result<(Vec<Id>, Option<Identity>), Stop> {
    let (mut rights, mut identity) = (Vec::new(), None);
    if header.control_length > CONTROL_MAX {
        return Err(crate::errno::ENOBUFS.into());
    }
    let bytes =
        if header.control == 0 { Vec::new() } else { call.load_bytes(header.control, header.control_length as usize)? };
    let is_unix = call.socket(id).family == Family::Unix;
    for (level, kind, data) in split_control(&bytes)? {
        match (level, kind) {
            (SOL_SOCKET, _) if !is_unix => return Err(EINVAL.into()),
            (SOL_SOCKET, SCM_RIGHTS) => rights.extend(load_rights(call, data)?),
            (SOL_SOCKET, SCM_CREDENTIALS) => identity = Some(load_identity(call, data)?),
            (SOL_SOCKET, _) => return Err(EINVAL.into()),
            _ if is_unix => {}
            _ => return call.unsupported(format!("control message {level}/{kind}")),
        }
    }
    if rights.len() > RIGHTS_MAX {
        return Err(EINVAL.into());
    }
    // Only now: nothing above may keep a reference when it fails.
    rights.iter().for_each(|description| descriptor::retain(call.kernel, *description));
    Ok((rights, identity))
}

/// Level, type and data of a control message (`cmsg(3)`).
type Message<'a> = (u32, u32, &'a [u8]);

/// The control messages in some bytes.
///
/// `cmsg(3)`: each message is aligned to 8 bytes; a length that reaches beyond the buffer is
/// `EINVAL` for the whole call.
fn split_control(mut bytes: &[u8]) -> Result<Vec<Message<'_>>, Stop> {
    let mut messages = Vec::new();
    while bytes.len() >= HEADER {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let length = u64::from_le_bytes(*bytes.first_chunk().expect("sixteen bytes"));
        let length = usize::try_from(length).map_err(|_| EINVAL)?;
        if length < HEADER || length > bytes.len() {
            return Err(EINVAL.into());
        }
        messages.push((number(8), number(12), &bytes[HEADER..length]));
        bytes = &bytes[length.next_multiple_of(8).min(bytes.len())..];
    }
    Ok(messages)
}

fn load_rights(call: &Call<'_>, data: &[u8]) -> Result<Vec<Id>, Stop> {
    let numbers = data.chunks_exact(4).map(|bytes| Fd::from_le_bytes(bytes.try_into().expect("four bytes")));
    Ok(numbers.map(|fd| call.description_or_path(fd)).collect::<Result<_, _>>()?)
}

/// A process may name itself; only the superuser may name others (`unix(7)`).
fn load_identity(call: &Call<'_>, data: &[u8]) -> Result<Identity, Stop> {
    if data.len() != 12 {
        return Err(EINVAL.into());
    }
    let number = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
    let (pid, uid, gid) = (Pid(number(0)), number(4), number(8));
    let credentials = &call.process().credentials;
    let is_allowed = (pid == call.pid || call.can(Capability::Admin))
        && (credentials.user[..3].contains(&uid) || call.can(Capability::User))
        && (credentials.group[..3].contains(&gid) || call.can(Capability::Group));
    if is_allowed { Ok(Identity { pid, uid, gid }) } else { Err(EPERM.into()) }
}

/// `recvmsg(2)`.
pub fn recvmsg(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (description, id) = call.socket_of(call.int(0))?;
    receive_one(call, description, id, call.args[1], call.args[2] as u32)
}

fn receive_one(call: &mut Call<'_>, description: Id, id: Id, address: u64, flags: u32) -> Result<u64, Stop> {
    let header = load_header(call, address)?;
    let length = header.pieces.iter().map(|piece| piece.length).sum::<u64>().min(i32::MAX as u64) as usize;
    let done = receive::progress(call);
    let received = match receive(call, description, id, length - done, flags) {
        Ok(received) => received,
        Err(stop) => return receive::enough(done, stop),
    };
    if !receive::throws_away(call.socket(id), flags) {
        call.scatter(&skip(&header.pieces, done), &received.bytes)?;
    }
    let done = done + received.bytes.len();
    receive::wait_for_rest(call, description, id, flags, done, length, &received)?;
    let control_flags = store_control(call, id, &header, &received, flags)?;
    store_name(call, id, &header, &received)?;
    let truncated = if received.size > received.bytes.len() { MSG_TRUNC } else { 0 };
    let record = if call.socket(id).kind == super::socket::Kind::Packets && !received.ended { MSG_EOR } else { 0 };
    let returned = control_flags | truncated | record | flags & MSG_CMSG_CLOEXEC;
    call.store_u32(header.address.wrapping_add(48), returned)?;
    Ok(receive::result(flags, done, &received))
}

/// The pieces without their first bytes.
fn skip(pieces: &[Piece], mut count: usize) -> Vec<Piece> {
    let mut rest = Vec::new();
    for piece in pieces {
        let now = count.min(piece.length as usize) as u64;
        count -= now as usize;
        rest.push(Piece { address: piece.address.wrapping_add(now), length: piece.length - now });
    }
    rest
}

fn store_name(call: &mut Call<'_>, id: Id, header: &Header, received: &Received) -> Result<(), Stop> {
    if header.name == 0 {
        return Ok(());
    }
    let bytes = receive::sender_name(call.socket(id), received);
    let room = bytes.len().min(header.name_length as usize);
    call.store(header.name, &bytes[..room])?;
    call.store_u32(header.address.wrapping_add(8), bytes.len() as u32)
}

/// Writes the control messages that fit; the flags for those that do not.
fn store_control(call: &mut Call<'_>, id: Id, header: &Header, received: &Received, flags: u32) -> Result<u32, Stop> {
    let room = if header.control == 0 { 0 } else { header.control_length as usize };
    let mut control = Control { bytes: Vec::new(), room, cut: false };
    if call.socket(id).options.is_on(SO_PASSCRED) && call.socket(id).family == Family::Unix {
        let identity = received.identity.unwrap_or(Identity { pid: Pid(0), uid: 65_534, gid: 65_534 });
        let numbers = [identity.pid.0, identity.uid, identity.gid];
        control.push(SCM_CREDENTIALS, &numbers.map(u32::to_le_bytes).concat());
    }
    if !received.rights.is_empty() {
        let fitting = control.descriptors_fitting();
        let numbers = install_rights(call, received, fitting, flags & MSG_CMSG_CLOEXEC != 0);
        control.cut |= numbers.len() < received.rights.len();
        if !numbers.is_empty() {
            control.push(SCM_RIGHTS, &numbers.iter().flat_map(|fd| fd.to_le_bytes()).collect::<Vec<u8>>());
        }
    }
    call.store(header.control, &control.bytes)?;
    call.store_u64(header.address.wrapping_add(40), control.bytes.len() as u64)?;
    Ok(if control.cut { MSG_CTRUNC } else { 0 })
}

/// Control messages in the making.
struct Control {
    bytes: Vec<u8>,
    room: usize,
    cut: bool,
}

impl Control {
    fn left(&self) -> usize {
        self.room - self.bytes.len()
    }

    fn descriptors_fitting(&self) -> usize {
        self.left().saturating_sub(HEADER) / 4
    }

    /// Appends a message, cut to the room there is, as Linux's `put_cmsg` does.
    fn push(&mut self, kind: u32, data: &[u8]) {
        if self.left() < HEADER {
            self.cut = true;
            return;
        }
        let whole = HEADER + data.len();
        let length = whole.min(self.left());
        self.cut |= length < whole;
        self.bytes.extend((length as u64).to_le_bytes());
        self.bytes.extend(SOL_SOCKET.to_le_bytes());
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(&data[..length - HEADER]);
        let padded = self.bytes.len().next_multiple_of(8).min(self.room);
        self.bytes.resize(padded, 0);
    }
}

/// Gives the caller descriptors for the open files that fit; the others are closed.
///
/// What does not fit is closed, and `MSG_CTRUNC` says so (`unix(7)`).
fn install_rights(call: &mut Call<'_>, received: &Received, fitting: usize, close_on_exec: bool) -> Vec<Fd> {
    let mut numbers = Vec::new();
    for description in &received.rights {
        let free = call.process().descriptors.free(0, call.descriptor_limit());
        if let (true, Ok(fd)) = (numbers.len() < fitting, free) {
            call.refer(fd, *description, close_on_exec);
            numbers.push(fd);
        }
        // The reference of the message ends in either case.
        call.kernel.release(call.memory, *description);
    }
    numbers
}

/// `sendmmsg(2)`.
pub fn sendmmsg(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (description, id) = call.socket_of(call.int(0))?;
    let [_, vector, count, flags, ..] = call.args;
    let count = u64::from(count as u32).min(MANY_MAX);
    for index in 0..count {
        let address = vector.wrapping_add(MANY * index);
        match send_one(call, description, id, address, flags as u32) {
            Ok(length) => call.store_u32(address.wrapping_add(MANY_LENGTH), length as u32)?,
            // Linux stops at the first that fails or would wait and reports those before it.
            Err(_) if index > 0 => return Ok(index),
            Err(stop) => return Err(stop),
        }
    }
    Ok(count)
}

/// `recvmmsg(2)`.
///
/// `progress` counts whole messages here; inside of one it is not used, since `MSG_WAITALL` does
/// not apply to messages.
pub fn recvmmsg(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (description, id) = call.socket_of(call.int(0))?;
    let [_, vector, count, flags, time, _] = call.args;
    let timeout = call.load_timeout(time)?;
    let count = u64::from(count as u32).min(MANY_MAX);
    let mut flags = flags as u32;
    let mut done = receive::progress(call) as u64;
    call.resumed.iter_mut().for_each(|wait| wait.progress = 0);
    while done < count {
        let address = vector.wrapping_add(MANY * done);
        match receive_one(call, description, id, address, flags & !MSG_WAITFORONE) {
            Ok(length) => call.store_u32(address.wrapping_add(MANY_LENGTH), length as u32)?,
            Err(Stop::Wait(wait)) => return Err(wait.progress(done).into()),
            Err(Stop::Errno(_)) if done > 0 => return Ok(done),
            Err(stop) => return Err(stop),
        }
        done += 1;
        // The time is looked at after each message only (`recvmmsg(2)`, bugs).
        if timeout != Timeout::Never && call.time_left(timeout) == 0 {
            break;
        }
        if flags & MSG_WAITFORONE != 0 {
            flags |= MSG_DONTWAIT;
        }
    }
    if done == 0 && count > 0 { Err(EAGAIN.into()) } else { Ok(done) }
}
