//! Moving bytes between descriptors: `sendfile(2)`, `splice(2)`, `tee(2)`, `vmsplice(2)`, `copy_file_range(2)`.
//!
//! A call that moves bytes between two descriptors may wait at either. Bytes leave the source only
//! when the sink has taken them, or is known to have room: a call that is redone after a wait
//! begins with the same bytes.

use super::content;
use super::inode::Kind;
use super::transfer::{self, TRANSFER_MAX};
use crate::call::{Call, Stop};
use crate::descriptor::{At, File, O_APPEND, POLLERR, POLLHUP, POLLIN, POLLOUT};
use crate::errno::{EAGAIN, EBADF, EINVAL, EISDIR, EOVERFLOW, ESPIPE, Errno};
use crate::id::Id;
use crate::pipe;
use crate::wait::{Condition, Wait};

/// What one `sendfile(2)` moves at most; callers go on with the rest.
const SEND_MAX: u64 = 1 << 26;

const SPLICE_F_NONBLOCK: u64 = 2;
/// `SPLICE_F_MOVE`, `_NONBLOCK`, `_MORE`, `_GIFT`.
const SPLICE_FLAGS: u64 = 0xf;

/// A description to read from, or `EBADF`.
fn source(call: &Call<'_>, argument: usize) -> Result<Id, Errno> {
    let id = call.description_of(call.int(argument))?;
    if call.description(id).is_readable() { Ok(id) } else { Err(EBADF) }
}

/// A description to write to, or `EBADF`.
fn sink(call: &Call<'_>, argument: usize) -> Result<Id, Errno> {
    let id = call.description_of(call.int(argument))?;
    if call.description(id).is_writable() { Ok(id) } else { Err(EBADF) }
}

/// An offset that the guest keeps, if it keeps one.
fn kept_offset(call: &mut Call<'_>, address: u64) -> Result<At, Stop> {
    if address == 0 {
        return Ok(None);
    }
    let offset = call.load_u64(address)?;
    if i64::try_from(offset).is_ok() { Ok(Some(offset)) } else { Err(EINVAL.into()) }
}

/// Moves a position on: the guest's, or the description's.
fn advance(call: &mut Call<'_>, description: Id, address: u64, at: At, by: usize) -> Result<(), Stop> {
    match at {
        Some(offset) => call.store_u64(address, offset + by as u64),
        None => {
            call.description_mut(description).offset += by as u64;
            Ok(())
        }
    }
}

/// `sendfile(2)`.
pub fn sendfile(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (from, to) = (source(call, 1)?, sink(call, 0)?);
    let at = kept_offset(call, call.args[2])?;
    let File::Inode(id) = call.description(from).file else { return other_source(call, from, to, at) };
    if !call.kernel.inode(id).is_some_and(|inode| inode.kind == Kind::Regular) {
        return Err(EINVAL.into());
    }
    if call.description(to).flags & O_APPEND != 0 {
        return Err(EINVAL.into());
    }
    let offset = at.unwrap_or(call.description(from).offset);
    let length = call.args[3].min(SEND_MAX);
    // What was sent before a wait is not sent again: the offset moves when the call ends, so the same bytes come back.
    let bytes = content::read_at(call.kernel, call.memory, id, offset, length as usize);
    if bytes.is_empty() {
        return Ok(0);
    }
    let sent = transfer::put(call, to, &bytes, None)?;
    advance(call, from, call.args[2], at, sent)?;
    Ok(sent as u64)
}

/// `sendfile(2)` from a synthetic file or a device; from nothing else.
fn other_source(call: &mut Call<'_>, from: Id, to: Id, at: At) -> Result<u64, Stop> {
    if !matches!(call.description(from).file, File::Text(_) | File::Device(_)) {
        return Err(EINVAL.into());
    }
    let before = call.description(from).offset;
    let length = call.args[3].min(1 << 16) as usize;
    let bytes = transfer::take(call, from, length, Some(at.unwrap_or(before)))?;
    if bytes.is_empty() {
        return Ok(0);
    }
    let sent = transfer::put(call, to, &bytes, None)?;
    advance(call, from, call.args[2], at, sent)?;
    Ok(sent as u64)
}

/// `splice(2)`.
pub fn splice(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (length, flags) = (call.args[4].min(TRANSFER_MAX) as usize, call.args[5]);
    if length == 0 {
        return Ok(0);
    }
    if flags & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    let (from, to) = (source(call, 0)?, sink(call, 2)?);
    let pipes = (pipe::find(call.kernel, from).map(|(id, _)| id), pipe::find(call.kernel, to).map(|(id, _)| id));
    let has = (call.args[1] != 0, call.args[3] != 0);
    if (pipes.0.is_some() && has.0) || (pipes.1.is_some() && has.1) {
        return Err(ESPIPE.into());
    }
    let waits = flags & SPLICE_F_NONBLOCK == 0;
    match pipes {
        (Some(first), Some(second)) if first == second => Err(EINVAL.into()),
        (Some(_), Some(_)) => between_pipes(call, from, to, length, waits, true),
        (Some(_), None) => from_pipe(call, from, to, length, waits),
        (None, Some(_)) => to_pipe(call, from, to, length, waits),
        (None, None) => Err(EINVAL.into()),
    }
}

/// The bytes at the front of a pipe, waiting for some; none at its end.
fn front(call: &Call<'_>, from: Id, length: usize, waits: bool) -> Result<Vec<u8>, Stop> {
    let (id, pipe) = pipe::find(call.kernel, from).ok_or(EINVAL)?;
    if !pipe.is_empty() {
        return Ok(pipe.peek(length));
    }
    if pipe::has_no_writers(call.kernel, id) {
        return Ok(Vec::new());
    }
    wait_or_again(call, from, POLLIN | POLLHUP, waits)
}

fn wait_or_again<T>(call: &Call<'_>, description: Id, events: u16, waits: bool) -> Result<T, Stop> {
    if !waits || call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Poll(description, events)).into())
}

fn from_pipe(call: &mut Call<'_>, from: Id, to: Id, length: usize, waits: bool) -> Result<u64, Stop> {
    let at = kept_offset(call, call.args[3])?;
    if call.description(to).flags & O_APPEND != 0 {
        return Err(EINVAL.into());
    }
    let bytes = front(call, from, length, waits)?;
    if bytes.is_empty() {
        return Ok(0);
    }
    let sent = transfer::put(call, to, &bytes, at)?;
    pipe::take_from(call.kernel, from, sent);
    if let Some(offset) = at {
        call.store_u64(call.args[3], offset + sent as u64)?;
    }
    Ok(sent as u64)
}

fn to_pipe(call: &mut Call<'_>, from: Id, to: Id, length: usize, waits: bool) -> Result<u64, Stop> {
    let at = kept_offset(call, call.args[1])?;
    let room = room(call, to, waits)?;
    let bytes = transfer::take(call, from, length.min(room), at)?;
    if bytes.is_empty() {
        return Ok(0);
    }
    let sent = pipe::put_into(call.kernel, to, &bytes);
    if let Some(offset) = at {
        call.store_u64(call.args[1], offset + sent as u64)?;
    }
    Ok(sent as u64)
}

/// Bytes that fit into a pipe, waiting for some room; `EPIPE` if nobody reads.
fn room(call: &mut Call<'_>, to: Id, waits: bool) -> Result<usize, Stop> {
    pipe::check_readers(call, to)?;
    match pipe::find(call.kernel, to).ok_or(EINVAL)?.1.room() {
        0 => wait_or_again(call, to, POLLOUT | POLLERR, waits),
        room => Ok(room),
    }
}

/// From a pipe to another; `tee(2)` leaves the bytes in the first.
fn between_pipes(call: &mut Call<'_>, from: Id, to: Id, length: usize, waits: bool, moves: bool) -> Result<u64, Stop> {
    let bytes = front(call, from, length, waits)?;
    if bytes.is_empty() {
        return Ok(0);
    }
    let room = room(call, to, waits)?;
    let sent = pipe::put_into(call.kernel, to, &bytes[..bytes.len().min(room)]);
    if moves {
        pipe::take_from(call.kernel, from, sent);
    }
    Ok(sent as u64)
}

/// `tee(2)`.
pub fn tee(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (length, flags) = (call.args[2].min(TRANSFER_MAX) as usize, call.args[3]);
    if flags & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    if length == 0 {
        return Ok(0);
    }
    let (from, to) = (source(call, 0)?, sink(call, 1)?);
    let first = pipe::find(call.kernel, from).ok_or(EINVAL)?.0;
    let second = pipe::find(call.kernel, to).ok_or(EINVAL)?.0;
    if first == second {
        return Err(EINVAL.into());
    }
    between_pipes(call, from, to, length, flags & SPLICE_F_NONBLOCK == 0, false)
}

/// `vmsplice(2)`: copies, which only shows if the guest changes what it gave away.
pub fn vmsplice(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.args[3] & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    let description = call.description_of(call.int(0))?;
    pipe::find(call.kernel, description).ok_or(EBADF)?;
    let is_writable = call.description(description).is_writable();
    let result = if is_writable { transfer::writev(call) } else { transfer::readv(call) };
    match result {
        // It waits for room to begin with, not for room for all.
        Err(Stop::Wait(wait)) if wait.progress > 0 => Ok(wait.progress),
        Err(Stop::Wait(_)) if call.args[3] & SPLICE_F_NONBLOCK != 0 => Err(EAGAIN.into()),
        result => result,
    }
}

/// `copy_file_range(2)`.
pub fn copy_file_range(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (from, to) = (call.description_of(call.int(0))?, call.description_of(call.int(2))?);
    if call.args[5] != 0 {
        return Err(EINVAL.into());
    }
    // What kind of files they are comes before how they were opened.
    let (first, second) = (regular(call, from)?, regular(call, to)?);
    let (from, to) = (source(call, 0)?, sink(call, 2)?);
    if call.description(to).flags & O_APPEND != 0 {
        return Err(EBADF.into());
    }
    let (read_at, write_at) = (kept_offset(call, call.args[1])?, kept_offset(call, call.args[3])?);
    let start = read_at.unwrap_or(call.description(from).offset);
    let target = write_at.unwrap_or(call.description(to).offset);
    let length = call.args[4].min(TRANSFER_MAX);
    if start.checked_add(length).is_none() || target.checked_add(length).is_none() {
        return Err(EOVERFLOW.into());
    }
    if first == second && start < target + length && target < start + length {
        return Err(EINVAL.into());
    }
    let bytes = content::read_at(call.kernel, call.memory, first, start, length as usize);
    let sent = transfer::put(call, to, &bytes, Some(target))?;
    // Both move on, even if one of them cannot be told.
    let told = advance(call, from, call.args[1], read_at, sent);
    advance(call, to, call.args[3], write_at, sent)?;
    told.map(|()| sent as u64)
}

fn regular(call: &Call<'_>, description: Id) -> Result<Id, Errno> {
    let File::Inode(id) = call.description(description).file else { return Err(EINVAL) };
    match call.kernel.inode(id).map(|inode| inode.kind) {
        Some(Kind::Regular) => Ok(id),
        Some(Kind::Directory) => Err(EISDIR),
        _ => Err(EINVAL),
    }
}
