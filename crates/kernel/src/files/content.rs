//! The bytes of regular files.
//!
//! A file of the host is read where it is; the first write or mapping makes an object of `memory` over it.

use super::disk;
use super::inode::{S_ISGID, S_ISUID};
use crate::Kernel;
use crate::call::Call;
use crate::capability::Capability;
use crate::errno::{EFBIG, ENOENT, ENOSPC, Errno};
use crate::id::Id;
use memory::{Memory, ObjectId};

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
    disk::before_write(kernel, memory, inode, offset, end);
    if end > length {
        memory.resize_object(object, end).map_err(|_| ENOSPC)?;
    }
    memory.write_object(object, offset, bytes).map_err(|_| ENOSPC)?;
    disk::after_write(kernel, memory, inode, (offset, end), length);
    touch(kernel, inode)
}

/// Sets a file's length.
pub fn resize(kernel: &mut Kernel, memory: &mut Memory, inode: Id, length: u64) -> Result<(), Errno> {
    let (object, _) = content(kernel, memory, inode)?;
    i64::try_from(length).map_err(|_| EFBIG)?;
    disk::note_size(kernel, memory, inode, length);
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
    let is_ordinary = !call.can(Capability::SetId);
    let Some(inode) = call.kernel.inode(id).filter(|inode| is_ordinary && inode.mode & (S_ISUID | S_ISGID) != 0) else {
        return;
    };
    let group = if inode.mode & 0o10 == 0 { 0 } else { S_ISGID };
    if let Ok(inode) = call.kernel.inode_mut(id) {
        inode.mode &= !(S_ISUID | group);
    }
}
