//! `read(2)`, `write(2)` and their kin: written once for all kinds of files.

use super::device_operations;
use crate::call::{Call, Stop};
use crate::descriptor::{At, File, O_APPEND, POLLIN};
use crate::errno::{EBADF, EFAULT, EINVAL, EOPNOTSUPP, ESPIPE, Errno};
use crate::guest::{Piece, window};
use crate::id::Id;
use crate::net::far_live;
use memory::Protection;

/// Linux moves at most this much in one call (`read(2)`, NOTES).
pub const TRANSFER_MAX: u64 = 0x7fff_f000;

/// What is copied at once.
const STEP: usize = 1 << 20;

/// Flags of `preadv2(2)` that change nothing here: nothing is written late, nothing waits for a disk.
const RWF_HARMLESS: u64 = 0x1 | 0x2 | 0x4;
/// `RWF_DSYNC` and `RWF_SYNC`: one write as to a file that is open with `O_DSYNC`, or with `O_SYNC`.
const RWF_SYNCS: u64 = 0x2 | 0x4;
/// `RWF_NOWAIT`.
const RWF_NOWAIT: u64 = 0x8;
/// `RWF_APPEND`.
const RWF_APPEND: u64 = 0x10;

/// `read(2)`.
pub fn read(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pieces = one_piece(call);
    receive(call, &pieces, None)
}

/// `write(2)`.
pub fn write(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pieces = one_piece(call);
    send(call, &pieces, None)
}

/// `pread64(2)`.
pub fn pread(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset(call.args[3])?;
    let pieces = one_piece(call);
    receive(call, &pieces, Some(at))
}

/// `pwrite64(2)`.
pub fn pwrite(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset(call.args[3])?;
    let pieces = one_piece(call);
    send(call, &pieces, Some(at))
}

/// `readv(2)`.
pub fn readv(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pieces = many_pieces(call)?;
    receive(call, &pieces, None)
}

/// `writev(2)`.
pub fn writev(call: &mut Call<'_>) -> Result<u64, Stop> {
    let pieces = many_pieces(call)?;
    send(call, &pieces, None)
}

/// `preadv(2)`.
pub fn preadv(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset(call.args[3])?;
    let pieces = many_pieces(call)?;
    receive(call, &pieces, Some(at))
}

/// `pwritev(2)`.
pub fn pwritev(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset(call.args[3])?;
    let pieces = many_pieces(call)?;
    send(call, &pieces, Some(at))
}

/// `preadv2(2)`.
pub fn preadv2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset_or_current(call.args[3])?;
    check_flags(call, RWF_HARMLESS | RWF_NOWAIT)?;
    let pieces = many_pieces(call)?;
    receive(call, &pieces, at)
}

/// `pwritev2(2)`.
pub fn pwritev2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let at = offset_or_current(call.args[3])?;
    check_flags(call, RWF_HARMLESS | RWF_NOWAIT | RWF_APPEND)?;
    let pieces = many_pieces(call)?;
    if call.args[5] & RWF_SYNCS != 0 && call.kernel.files.disk.is_some() {
        return call.unsupported("RWF_SYNC and RWF_DSYNC, while power may fail");
    }
    if call.args[5] & RWF_APPEND == 0 {
        return send(call, &pieces, at);
    }
    let description = call.description_of(call.int(0))?;
    let before = call.description(description).flags;
    call.description_mut(description).flags |= O_APPEND;
    let result = send(call, &pieces, at);
    call.description_mut(description).flags = before;
    result
}

fn check_flags(call: &Call<'_>, known: u64) -> Result<(), Stop> {
    let flags = call.args[5];
    if flags & !known != 0 {
        return Err(EOPNOTSUPP.into());
    }
    let description = call.description_of(call.int(0))?;
    let is_inode = matches!(call.description(description).file, File::Inode(_));
    if flags & RWF_NOWAIT != 0 && !is_inode { call.unsupported("RWF_NOWAIT on this kind of file") } else { Ok(()) }
}

fn offset(argument: u64) -> Result<u64, Errno> {
    if i64::try_from(argument).is_ok() { Ok(argument) } else { Err(EINVAL) }
}

/// `preadv2(2)`: -1 means the current position.
fn offset_or_current(argument: u64) -> Result<At, Errno> {
    if argument == u64::MAX { Ok(None) } else { offset(argument).map(Some) }
}

fn one_piece(call: &Call<'_>) -> [Piece; 1] {
    [Piece { address: call.args[1], length: call.args[2] }]
}

fn many_pieces(call: &mut Call<'_>) -> Result<Vec<Piece>, Stop> {
    // EBADF comes before anything about the pieces.
    call.description_of(call.int(0))?;
    call.load_pieces(call.args[1], call.args[2])
}

/// Reads from the descriptor in the first argument into pieces.
fn receive(call: &mut Call<'_>, pieces: &[Piece], at: At) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let open = call.description(description);
    if !open.is_readable() {
        return Err(EBADF.into());
    }
    let file = open.file;
    check_position(file, at)?;
    let Ok(length) = reachable(call, pieces, Protection::WRITE) else { return receive_nowhere(call, description, at) };
    let is_endless = matches!(file, File::Inode(_) | File::Device(_));
    let step = if is_endless { STEP } else { length };
    let mut done = 0;
    // A guest with little memory can ask for much: what has no natural end goes in steps.
    loop {
        let now = step.min(length - done);
        let bytes = (file.operations().read)(call, description, now, at.map(|at| at + done as u64))?;
        let places: Vec<Piece> = window(pieces, done as u64, now as u64).collect();
        call.scatter(&places, &bytes)?;
        done += bytes.len();
        if bytes.len() < now || done == length {
            return Ok(done as u64);
        }
    }
}

/// Reads into memory that is not there: waiting and the end come first, `EFAULT` only when there is something to copy.
fn receive_nowhere(call: &mut Call<'_>, description: Id, at: At) -> Result<u64, Stop> {
    let (file, offset) = (call.description(description).file, call.description(description).offset);
    let is_kept = matches!(file, File::Inode(_) | File::Text(_));
    if !is_kept && call.kernel.poll(call.memory, description) & POLLIN != 0 {
        return Err(EFAULT.into());
    }
    let bytes = (file.operations().read)(call, description, 1, at)?;
    call.description_mut(description).offset = offset;
    if bytes.is_empty() { Ok(0) } else { Err(EFAULT.into()) }
}

/// Writes pieces to the descriptor in the first argument.
fn send(call: &mut Call<'_>, pieces: &[Piece], at: At) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let open = call.description(description);
    if !open.is_writable() {
        return Err(EBADF.into());
    }
    let file = open.file;
    check_position(file, at)?;
    if matches!(file, File::Device(_)) && device_operations::swallows(call, description) {
        let length: u64 = pieces.iter().map(|piece| piece.length).fold(0, u64::saturating_add);
        return Ok(length.min(TRANSFER_MAX));
    }
    let length = reachable(call, pieces, Protection::READ)?;
    if let File::Socket(socket) = file
        && let Some(written) = far_live::write(call, (description, socket), pieces, length)
    {
        return written.map(|written| written as u64);
    }
    let is_endless = matches!(file, File::Inode(_) | File::Device(_));
    let step = if is_endless { STEP } else { length };
    let mut done = 0;
    loop {
        let now = step.min(length - done);
        let places: Vec<Piece> = window(pieces, done as u64, now as u64).collect();
        let bytes = call.gather(&places)?;
        let written = (file.operations().write)(call, description, &bytes, at.map(|at| at + done as u64));
        match written {
            // What was written before is told first; the error comes with the next call.
            Err(_) if done > 0 => return Ok(done as u64),
            written => done += written?,
        }
        if done == length || done % step != 0 {
            return Ok(done as u64);
        }
    }
}

/// `ESPIPE` for positions in what has none.
pub fn check_position(file: File, at: At) -> Result<(), Errno> {
    let is_seekable = matches!(file, File::Inode(_) | File::Text(_) | File::Device(_));
    if at.is_some() && !is_seekable { Err(ESPIPE) } else { Ok(()) }
}

/// How many bytes of the pieces the guest may touch, up to the most that Linux moves; `EFAULT` if it is none of many.
///
/// Looked at before anything moves: what is taken out of a pipe must find its place.
fn reachable(call: &mut Call<'_>, pieces: &[Piece], needed: Protection) -> Result<usize, Errno> {
    let (mut wanted, mut total) = (0u64, 0u64);
    for piece in pieces {
        let length = piece.length.min(TRANSFER_MAX - wanted);
        wanted += length;
        let reached = reachable_from(call, piece.address, length, needed);
        total += reached;
        if reached < length {
            let space = call.space();
            call.memory.note_fault(space, piece.address.saturating_add(reached));
            break;
        }
    }
    if total == 0 && wanted > 0 { Err(EFAULT) } else { Ok(total as usize) }
}

fn reachable_from(call: &Call<'_>, start: u64, length: u64, needed: Protection) -> u64 {
    let (space, mut at) = (call.space(), start);
    let Some(end) = start.checked_add(length) else { return 0 };
    while at < end {
        let Some(mapping) = call.memory.mapping_at(space, at) else {
            // A stack grows when it is touched; the access itself will tell.
            return if grows_to(call, at) { length } else { at - start };
        };
        if !mapping.protection.contains(needed) {
            return at - start;
        }
        at = mapping.start + mapping.len;
    }
    length
}

fn grows_to(call: &Call<'_>, address: u64) -> bool {
    let above = call.memory.mappings(call.space()).find(|mapping| mapping.start > address);
    above.is_some_and(|mapping| mapping.grows_down)
}

/// Reads from a description for calls that move bytes inside the kernel (`sendfile(2)`).
pub fn take(call: &mut Call<'_>, description: Id, length: usize, at: At) -> Result<Vec<u8>, Stop> {
    let file = call.description(description).file;
    check_position(file, at)?;
    (file.operations().read)(call, description, length, at)
}

/// Writes to a description for calls that move bytes inside the kernel.
pub fn put(call: &mut Call<'_>, description: Id, bytes: &[u8], at: At) -> Result<usize, Stop> {
    let file = call.description(description).file;
    check_position(file, at)?;
    (file.operations().write)(call, description, bytes, at)
}
