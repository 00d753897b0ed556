//! Calls about length and storage: `truncate(2)`, `fallocate(2)`, `fsync(2)`, `posix_fadvise(2)`.

use super::inode::Kind;
use super::permission::WRITE;
use super::walk::{AT_FDCWD, Node};
use super::{content, disk, notify, regular, seal};
use crate::call::{Call, Stop};
use crate::descriptor::File;
use crate::errno::{EBADF, EFBIG, EINVAL, EISDIR, ENODEV, ENOENT, EOPNOTSUPP, ESPIPE, ETXTBSY, Errno};
use crate::id::Id;

/// Zeros are written in pieces of this size.
const PIECE: u64 = 1 << 16;

/// `truncate(2)`.
pub fn truncate(call: &mut Call<'_>) -> Result<u64, Stop> {
    let length = checked_length(call.args[1])?;
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    let Node::Inode(id) = node else { return Err(EINVAL.into()) };
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    match inode.kind {
        Kind::Regular => {}
        Kind::Directory => return Err(EISDIR.into()),
        _ => return Err(EINVAL.into()),
    }
    call.asker().may(&inode, WRITE)?;
    if super::is_running(call.kernel, id) {
        return Err(ETXTBSY.into());
    }
    set_length(call, id, length)
}

/// `ftruncate(2)`.
pub fn ftruncate(call: &mut Call<'_>) -> Result<u64, Stop> {
    let length = checked_length(call.args[1])?;
    let description = call.description_of(call.int(0))?;
    let open = call.description(description);
    let File::Inode(id) = open.file else { return Err(EINVAL.into()) };
    let is_regular = call.kernel.inode(id).is_some_and(|inode| inode.kind == Kind::Regular);
    if !open.is_writable() || !is_regular {
        return Err(EINVAL.into());
    }
    set_length(call, id, length)
}

fn checked_length(argument: u64) -> Result<u64, Errno> {
    if i64::try_from(argument).is_ok() { Ok(argument) } else { Err(EINVAL) }
}

fn set_length(call: &mut Call<'_>, id: Id, length: u64) -> Result<u64, Stop> {
    let before = content::length(call.kernel, call.memory, id);
    seal::check_resize(call.kernel, id, before, length)?;
    if length > before {
        regular::check_size(call, length - 1)?;
    }
    content::resize(call.kernel, call.memory, id, length)?;
    content::drop_set_id(call, id);
    notify::modified(call.kernel, id);
    Ok(0)
}

/// `FALLOC_FL_KEEP_SIZE`.
const KEEP_SIZE: u64 = 1;
/// `FALLOC_FL_PUNCH_HOLE`.
const PUNCH_HOLE: u64 = 2;

/// `fallocate(2)`: as on tmpfs, which the tree is.
pub fn fallocate(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (mode, offset, length) = (call.args[1] as u32 as u64, call.args[2] as i64, call.args[3] as i64);
    let description = call.description_of(call.int(0))?;
    if offset < 0 || length <= 0 {
        return Err(EINVAL.into());
    }
    if mode & !(KEEP_SIZE | PUNCH_HOLE) != 0 || mode == PUNCH_HOLE {
        return Err(EOPNOTSUPP.into());
    }
    let open = call.description(description);
    if !open.is_writable() {
        return Err(EBADF.into());
    }
    let id = match open.file {
        File::Inode(id) => id,
        File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_) => return Err(ESPIPE.into()),
        _ => return Err(ENODEV.into()),
    };
    let end = offset.checked_add(length).ok_or(EFBIG)? as u64;
    match mode {
        0 => grow_to(call, id, end),
        KEEP_SIZE => Ok(0),
        _ => clear(call, id, offset as u64, end),
    }
}

fn grow_to(call: &mut Call<'_>, id: Id, end: u64) -> Result<u64, Stop> {
    if end > content::length(call.kernel, call.memory, id) {
        return set_length(call, id, end);
    }
    Ok(0)
}

/// Zeros between two offsets, as far as the file reaches.
fn clear(call: &mut Call<'_>, id: Id, start: u64, end: u64) -> Result<u64, Stop> {
    seal::check_write(call.kernel, id, false)?;
    let end = end.min(content::length(call.kernel, call.memory, id));
    let mut at = start;
    while at < end {
        let now = PIECE.min(end - at);
        content::write_at(call.kernel, call.memory, id, at, &vec![0; now as usize])?;
        at += now;
    }
    Ok(0)
}

/// `fsync(2)`.
pub fn fsync(call: &mut Call<'_>) -> Result<u64, Stop> {
    sync_one(call, false)
}

/// `fdatasync(2)`.
pub fn fdatasync(call: &mut Call<'_>) -> Result<u64, Stop> {
    sync_one(call, true)
}

/// Unless power may fail there is no disk that could be behind.
fn sync_one(call: &mut Call<'_>, only_data: bool) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let File::Inode(id) = call.description(description).file else { return Err(EINVAL.into()) };
    disk::sync_file(call.kernel, call.memory, id, only_data);
    Ok(0)
}

/// `sync(2)`.
pub fn sync(call: &mut Call<'_>) -> Result<u64, Stop> {
    disk::sync_all(call.kernel, call.memory);
    Ok(0)
}

/// `syncfs(2)`.
pub fn syncfs(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.description_of(call.int(0))?;
    disk::sync_all(call.kernel, call.memory);
    Ok(0)
}

/// `sync_file_range(2)`: promises nothing about names and sizes, so it makes nothing durable.
pub fn sync_file_range(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let (offset, length, flags) = (call.args[1] as i64, call.args[2] as i64, call.args[3]);
    if flags & !7 != 0 || offset < 0 || length < 0 || offset.checked_add(length).is_none() {
        return Err(EINVAL.into());
    }
    match call.description(description).file {
        File::Inode(_) => Ok(0),
        _ => Err(ESPIPE.into()),
    }
}

/// `posix_fadvise(2)`: advice changes nothing that can be noticed.
pub fn fadvise(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    if matches!(call.description(description).file, File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_)) {
        return Err(ESPIPE.into());
    }
    let is_known = call.args[3] <= 5;
    if is_known && call.args[2] as i64 >= 0 { Ok(0) } else { Err(EINVAL.into()) }
}

/// `readahead(2)`.
pub fn readahead(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let open = call.description(description);
    if !open.is_readable() {
        return Err(EBADF.into());
    }
    let File::Inode(id) = open.file else { return Err(EINVAL.into()) };
    let is_regular = call.kernel.inode(id).is_some_and(|inode| inode.kind == Kind::Regular);
    if is_regular { Ok(0) } else { Err(EINVAL.into()) }
}
