//! What an open regular file or directory can do.
//!
//! A regular file is always ready: poll(2) says so and `O_NONBLOCK` changes nothing. The offset
//! belongs to the description; read and advance are one step here, as POSIX demands of reads
//! through a shared description (XSH 2.9.7).

use super::content::{drop_set_id, length, read_at, write_at};
use super::inode::Kind;
use super::{disk, ioctl, notify, seal};
use crate::call::{Call, Stop};
use crate::descriptor::{At, File, O_APPEND, O_DSYNC, O_SYNC, Operations, refuse};
use crate::errno::{EFBIG, EINVAL, EISDIR, ENXIO, EOVERFLOW, Errno};
use crate::id::Id;
use crate::process::SignalInfo;
use crate::signal::{self, Target};

/// What an open regular file or directory can do.
pub static OPERATIONS: Operations =
    Operations { read, write, poll: refuse::poll, ioctl: ioctl::on_file, close: refuse::close, seek };

/// `RLIMIT_FSIZE`.
const LIMIT_SIZE: usize = 1;
/// `SIGXFSZ`.
const SIGXFSZ: u8 = 25;

fn inode_of(call: &Call<'_>, description: Id) -> Id {
    match call.description(description).file {
        File::Inode(id) => id,
        other => panic!("{other:?} is no inode"),
    }
}

/// `EISDIR` for a directory, the inode of a regular file.
fn regular(call: &Call<'_>, description: Id) -> Result<Id, Stop> {
    let id = inode_of(call, description);
    match call.kernel.inode(id).map(|inode| inode.kind) {
        Some(Kind::Regular) => Ok(id),
        Some(Kind::Directory) => Err(EISDIR.into()),
        _ => Err(EINVAL.into()),
    }
}

fn read(call: &mut Call<'_>, description: Id, len: usize, at: At) -> Result<Vec<u8>, Stop> {
    let inode = regular(call, description)?;
    let offset = at.unwrap_or(call.description(description).offset);
    let bytes = read_at(call.kernel, call.memory, inode, offset, len);
    if at.is_none() && !bytes.is_empty() {
        call.description_mut(description).offset = offset + bytes.len() as u64;
    }
    if !bytes.is_empty() {
        notify::accessed(call.kernel, inode);
    }
    Ok(bytes)
}

fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], at: At) -> Result<usize, Stop> {
    let inode = regular(call, description)?;
    let open = call.description(description);
    // pwrite(2), BUGS: with O_APPEND Linux appends whatever the offset.
    let appends = open.flags & O_APPEND != 0;
    let offset = if appends { length(call.kernel, call.memory, inode) } else { at.unwrap_or(open.offset) };
    if bytes.is_empty() {
        return Ok(0);
    }
    let count = allowed(call, inode, offset, bytes.len())?;
    write_at(call.kernel, call.memory, inode, offset, &bytes[..count])?;
    let flags = call.description(description).flags;
    if flags & O_DSYNC != 0 {
        let only_data = flags & O_SYNC != O_SYNC;
        disk::sync_written(call.kernel, call.memory, inode, (offset, offset + count as u64), only_data);
    }
    drop_set_id(call, inode);
    notify::modified(call.kernel, inode);
    if at.is_none() {
        call.description_mut(description).offset = offset + count as u64;
    }
    Ok(count)
}

/// How much of a write the limits and seals let through.
///
/// A write is cut at the limit, and fails only if not a single byte fits (`setrlimit(2)`,
/// `write(2)`).
fn allowed(call: &mut Call<'_>, inode: Id, offset: u64, len: usize) -> Result<usize, Stop> {
    let end = offset.saturating_add(len as u64);
    seal::check_write(call.kernel, inode, end > length(call.kernel, call.memory, inode))?;
    check_size(call, offset)?;
    let limit = call.process().limits[LIMIT_SIZE].0.min(i64::MAX as u64);
    Ok(len.min(usize::try_from(limit - offset).unwrap_or(usize::MAX)))
}

/// `EFBIG` and `SIGXFSZ` if a file may not reach beyond `offset` (`setrlimit(2)`).
pub fn check_size(call: &mut Call<'_>, offset: u64) -> Result<(), Stop> {
    if offset >= call.process().limits[LIMIT_SIZE].0 {
        let info = SignalInfo { number: SIGXFSZ, ..SignalInfo::default() };
        signal::send(call.kernel, Target::Thread(call.tid), info);
        return Err(EFBIG.into());
    }
    if offset >= i64::MAX as u64 { Err(EFBIG.into()) } else { Ok(()) }
}

fn seek(call: &mut Call<'_>, description: Id, offset: i64, whence: u32) -> Result<u64, Stop> {
    let inode = inode_of(call, description);
    let position = call.description(description).offset;
    let is_directory = call.kernel.inode(inode).is_some_and(|inode| inode.is_directory());
    let end = if is_directory { i64::MAX as u64 } else { length(call.kernel, call.memory, inode) };
    let target = target(offset, whence, position, end)?;
    call.description_mut(description).offset = target;
    Ok(target)
}

/// Where `lseek(2)` leads. Files have no holes but the one at their end, which the manual allows.
pub fn target(offset: i64, whence: u32, position: u64, end: u64) -> Result<u64, Errno> {
    let base = match whence {
        0 => 0,
        1 => position,
        2 => end,
        3 | 4 => {
            let inside = u64::try_from(offset).ok().filter(|offset| *offset < end).ok_or(ENXIO)?;
            return Ok(if whence == 3 { inside } else { end });
        }
        _ => return Err(EINVAL),
    };
    let sum = i128::from(base) + i128::from(offset);
    match u64::try_from(sum) {
        Ok(target) if sum <= i128::from(i64::MAX) => Ok(target),
        Ok(_) => Err(EOVERFLOW),
        Err(_) => Err(EINVAL),
    }
}
