//! The bytes of regular files, and what an open regular file or directory can do.
//!
//! A file of the host is read where it is; the first write or mapping makes an object of `memory` over it.

use super::inode::{Kind, S_ISGID, S_ISUID};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{At, File, O_APPEND, Operations, refuse};
use crate::errno::{EFBIG, EINVAL, EISDIR, ENOENT, ENOSPC, ENXIO, Errno};
use crate::id::Id;
use memory::{Memory, ObjectId};

/// What an open regular file or directory can do.
pub static OPERATIONS: Operations =
    Operations { read, write, poll: refuse::poll, ioctl: super::ioctl::on_file, close: refuse::close, seek };

/// `RLIMIT_FSIZE`.
const LIMIT_SIZE: usize = 1;
/// `SIGXFSZ`.
const SIGXFSZ: u8 = 25;

/// The object that holds a file's content, made if there is none yet, and its length.
pub fn content(kernel: &Kernel, memory: &mut Memory, inode: Id) -> Result<(ObjectId, u64), Errno> {
    let object = ObjectId(inode.0);
    if !memory.object_exists(object) {
        let base = kernel.files.known.get(inode).ok_or(ENOENT)?;
        match kernel.host.0.large(&base.path) {
            Some(source) => memory.create_object_from(object, source),
            None => memory.create_object_over(object, kernel.host.0.content(&base.path).ok_or(ENOENT)?),
        }
    }
    let length = memory.object_len(object);
    Ok((object, length))
}

/// How long a file is.
#[must_use]
pub fn length(kernel: &Kernel, memory: &Memory, inode: Id) -> u64 {
    let object = ObjectId(inode.0);
    if memory.object_exists(object) {
        return memory.object_len(object);
    }
    kernel.files.known.get(inode).map_or(0, |base| base.size)
}

/// Up to `len` bytes of a file, fewer at its end.
#[must_use]
pub fn read_at(kernel: &Kernel, memory: &Memory, inode: Id, offset: u64, len: usize) -> Vec<u8> {
    let object = ObjectId(inode.0);
    if memory.object_exists(object) {
        let rest = memory.object_len(object).saturating_sub(offset);
        let mut bytes = vec![0; len.min(usize::try_from(rest).unwrap_or(usize::MAX))];
        let got = memory.read_object(object, offset, &mut bytes);
        bytes.truncate(got);
        return bytes;
    }
    let Some(base) = kernel.files.known.get(inode) else { return Vec::new() };
    if let Some(source) = kernel.host.0.large(&base.path) {
        let rest = usize::try_from(source.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len.min(rest)];
        source.read(offset, &mut bytes);
        return bytes;
    }
    let Some(bytes) = kernel.host.0.content(&base.path) else { return Vec::new() };
    let start = bytes.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
    bytes[start..bytes.len().min(start.saturating_add(len))].to_vec()
}

/// Writes bytes into a file, which grows if needed.
pub fn write_at(kernel: &mut Kernel, memory: &mut Memory, inode: Id, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
    let (object, length) = content(kernel, memory, inode)?;
    let end = offset.checked_add(bytes.len() as u64).filter(|end| i64::try_from(*end).is_ok()).ok_or(EFBIG)?;
    if end > length {
        memory.resize_object(object, end).map_err(|_| ENOSPC)?;
    }
    memory.write_object(object, offset, bytes).map_err(|_| ENOSPC)?;
    touch(kernel, inode)
}

/// Sets a file's length.
pub fn resize(kernel: &mut Kernel, memory: &mut Memory, inode: Id, length: u64) -> Result<(), Errno> {
    let (object, _) = content(kernel, memory, inode)?;
    i64::try_from(length).map_err(|_| EFBIG)?;
    memory.resize_object(object, length).map_err(|_| ENOSPC)?;
    touch(kernel, inode)
}

/// Notes that the content has changed now.
pub fn touch(kernel: &mut Kernel, inode: Id) -> Result<(), Errno> {
    let now = kernel.clock.real();
    let inode = kernel.inode_mut(inode)?;
    (inode.modified, inode.changed) = (now, now);
    Ok(())
}

/// Takes set-id bits away, as a write by an ordinary user does (`write(2)`).
pub fn drop_set_id(call: &mut Call<'_>, id: Id) {
    let is_ordinary = !call.asker().is_privileged;
    let Some(inode) = call.kernel.inode(id).filter(|inode| is_ordinary && inode.mode & (S_ISUID | S_ISGID) != 0) else {
        return;
    };
    let group = if inode.mode & 0o10 == 0 { 0 } else { S_ISGID };
    if let Ok(inode) = call.kernel.inode_mut(id) {
        inode.mode &= !(S_ISUID | group);
    }
}

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
        super::notify::accessed(call.kernel, inode);
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
    drop_set_id(call, inode);
    super::notify::modified(call.kernel, inode);
    if at.is_none() {
        call.description_mut(description).offset = offset + count as u64;
    }
    Ok(count)
}

/// How much of a write the limits and seals let through.
fn allowed(call: &mut Call<'_>, inode: Id, offset: u64, len: usize) -> Result<usize, Stop> {
    let end = offset.saturating_add(len as u64);
    super::seal::check_write(call.kernel, inode, end > length(call.kernel, call.memory, inode))?;
    check_size(call, offset)?;
    let limit = call.process().limits[LIMIT_SIZE].0.min(i64::MAX as u64);
    Ok(len.min(usize::try_from(limit - offset).unwrap_or(usize::MAX)))
}

/// `EFBIG` and `SIGXFSZ` if a file may not reach beyond `offset` (`setrlimit(2)`).
pub fn check_size(call: &mut Call<'_>, offset: u64) -> Result<(), Stop> {
    if offset >= call.process().limits[LIMIT_SIZE].0 {
        super::raise(call, SIGXFSZ);
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
        Ok(_) => Err(crate::errno::EOVERFLOW),
        Err(_) => Err(EINVAL),
    }
}
