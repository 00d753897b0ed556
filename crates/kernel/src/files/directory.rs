//! Listing directories, and the working directory.

use super::inode::{Inode, entry_type};
use super::permission::EXECUTE;
use super::walk::AT_FDCWD;
use crate::call::{Call, Stop};
use crate::descriptor::File;
use crate::errno::{EBADF, EINVAL, ENOENT, ENOTDIR, ERANGE, Errno};
use crate::id::Id;

/// One entry on its way to the guest.
struct Entry {
    /// Where to go on after it.
    cookie: u64,
    name: Vec<u8>,
    number: u64,
    kind: u8,
}

/// `getdents64(2)`.
pub fn getdents64(call: &mut Call<'_>) -> Result<u64, Stop> {
    list(call, |entry| {
        let length = (19 + entry.name.len() + 1).next_multiple_of(8);
        let mut bytes = header(entry, length);
        bytes.push(entry.kind);
        bytes.extend(&entry.name);
        bytes.resize(length, 0);
        bytes
    })
}

/// `getdents(2)`: the kind is the last byte.
pub fn getdents(call: &mut Call<'_>) -> Result<u64, Stop> {
    list(call, |entry| {
        let length = (18 + entry.name.len() + 2).next_multiple_of(8);
        let mut bytes = header(entry, length);
        bytes.extend(&entry.name);
        bytes.resize(length - 1, 0);
        bytes.push(entry.kind);
        bytes
    })
}

fn header(entry: &Entry, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(entry.number.to_le_bytes());
    bytes.extend(entry.cookie.to_le_bytes());
    bytes.extend((length as u16).to_le_bytes());
    bytes
}

fn list(call: &mut Call<'_>, record: fn(&Entry) -> Vec<u8>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0))?;
    let open = call.description(description);
    let File::Inode(directory) = open.file else { return Err(ENOTDIR.into()) };
    let mut position = open.offset;
    let space = call.args[2] as u32 as usize;
    let mut bytes = Vec::new();
    let entries = entries_after(call, directory, position)?;
    let is_end = entries.is_empty();
    for entry in entries {
        let next = record(&entry);
        if bytes.len() + next.len() > space {
            break;
        }
        bytes.extend(next);
        position = entry.cookie;
    }
    if bytes.is_empty() && !is_end {
        return Err(EINVAL.into());
    }
    call.store(call.args[1], &bytes)?;
    call.description_mut(description).offset = position;
    Ok(bytes.len() as u64)
}

/// Entries behind a cookie.
///
/// A cookie is made from the name, so that entries that come and go between two calls neither hide nor repeat others,
/// as `readdir(3)` wants of the rest.
fn entries_after(call: &Call<'_>, directory: Id, position: u64) -> Result<Vec<Entry>, Errno> {
    let inode = call.kernel.inode(directory).filter(Inode::is_directory).ok_or(ENOTDIR)?;
    if inode.links == 0 {
        return Err(ENOENT);
    }
    let dot =
        |cookie, name: &[u8], id| Some(Entry { cookie, name: name.to_vec(), number: number(call, id)?.0, kind: 4 });
    let named = |(name, id): (Vec<u8>, Id)| {
        let (number, kind) = number(call, id)?;
        Some(Entry { cookie: cookie(&name), name, number, kind })
    };
    let parent = call.kernel.place_of(directory).0;
    let dots = [dot(1, b".", directory), dot(2, b"..", parent)].into_iter().flatten();
    let mut entries: Vec<Entry> = dots.chain(call.kernel.entries(directory).into_iter().filter_map(named)).collect();
    entries.retain(|entry| entry.cookie > position);
    entries.sort_by_key(|entry| entry.cookie);
    Ok(entries)
}

fn number(call: &Call<'_>, id: Id) -> Option<(u64, u8)> {
    let inode = call.kernel.inode(id)?;
    Some((inode.number, entry_type(inode.full_mode())))
}

fn cookie(name: &[u8]) -> u64 {
    let hash = name.iter().fold(Id::named("entry"), |id, byte| id.child(u64::from(*byte)));
    (hash.0 >> 1).max(3)
}

/// `getcwd(2)`.
pub fn getcwd(call: &mut Call<'_>) -> Result<u64, Stop> {
    let mut path = call.kernel.path_of(call.process().directories.working).ok_or(ENOENT)?;
    path.push(0);
    if path.len() as u64 > call.args[1] {
        return Err(ERANGE.into());
    }
    call.store(call.args[0], &path)?;
    Ok(path.len() as u64)
}

/// `chdir(2)`.
pub fn chdir(call: &mut Call<'_>) -> Result<u64, Stop> {
    let path = call.load_path(call.args[0])?;
    let directory = call.walk(AT_FDCWD, &path, true)?.inode().map_err(|_| not_there(call, &path))?;
    enter(call, directory)
}

fn not_there(call: &Call<'_>, path: &[u8]) -> Errno {
    let leads_somewhere = call.walk(AT_FDCWD, path, true).is_ok_and(|place| place.node.is_some());
    if leads_somewhere { ENOTDIR } else { ENOENT }
}

/// `fchdir(2)`.
pub fn fchdir(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_or_path(call.int(0))?;
    match call.description(description).file {
        File::Inode(directory) => enter(call, directory),
        _ => Err(ENOTDIR.into()),
    }
}

fn enter(call: &mut Call<'_>, directory: Id) -> Result<u64, Stop> {
    let inode = call.kernel.inode(directory).ok_or(ENOENT)?;
    if !inode.is_directory() {
        return Err(ENOTDIR.into());
    }
    call.asker().may(&inode, EXECUTE)?;
    let path = call.kernel.path_of(directory).unwrap_or_default();
    let left = call.process().directories.working;
    let directories = &mut call.process_mut().directories;
    (directories.working, directories.working_path) = (directory, path);
    super::forget_if_unused(call.kernel, call.memory, left);
    Ok(0)
}

/// `umask(2)`.
pub fn umask(call: &mut Call<'_>) -> Result<u64, Stop> {
    let mask = call.args[0] as u32 & 0o777;
    let before = std::mem::replace(&mut call.process_mut().directories.mask, mask);
    Ok(before.into())
}

/// `chroot(2)`: the root is the world's own; only going there again is modelled.
pub fn chroot(call: &mut Call<'_>) -> Result<u64, Stop> {
    let path = call.load_path(call.args[0])?;
    let directory = call.walk(AT_FDCWD, &path, true)?.inode()?;
    let inode = call.kernel.inode(directory).ok_or(ENOENT)?;
    if !inode.is_directory() {
        return Err(ENOTDIR.into());
    }
    if !call.asker().is_privileged {
        return Err(crate::errno::EPERM.into());
    }
    if directory == super::base::root() { Ok(0) } else { call.unsupported("another root than /") }
}

/// `lseek(2)`.
pub fn lseek(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0)).map_err(|_| EBADF)?;
    let whence = call.args[2] as u32;
    if whence > 4 {
        return Err(EINVAL.into());
    }
    let file = call.description(description).file;
    (crate::descriptor::operations(file).seek)(call, description, call.args[1] as i64, whence)
}
