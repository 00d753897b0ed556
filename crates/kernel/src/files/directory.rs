//! Listing directories, and the working directory.

use super::base;
use super::inode::{Inode, entry_type};
use super::permission::EXECUTE;
use super::walk::AT_FDCWD;
use crate::call::{Call, Stop};
use crate::capability::Capability;
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
    let mut is_end = true;
    for (cookie, name) in names_after(call, directory, position)? {
        let Some(entry) = entry(call, directory, cookie, name) else { continue };
        is_end = false;
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

/// Cookies of the entries that every directory has.
const DOT: u64 = 1;
const DOT_DOT: u64 = 2;

/// Names behind a cookie, in the order of theirs.
fn names_after<'a>(
    call: &'a Call<'_>,
    directory: Id,
    position: u64,
) -> Result<impl Iterator<Item = (u64, Vec<u8>)> + 'a, Errno> {
    let inode = call.kernel.inode(directory).filter(Inode::is_directory).ok_or(ENOTDIR)?;
    if inode.links == 0 {
        return Err(ENOENT);
    }
    let base = call.kernel.files.known.get(directory);
    let below = base.map(|base| base::listing(call.kernel, &base.path)).unwrap_or_default();
    let is_behind = move |(cookie, _): &(u64, Vec<u8>)| *cookie > position;
    let dots = [(DOT, b".".to_vec()), (DOT_DOT, b"..".to_vec())].into_iter().filter(is_behind);
    let changes = call.kernel.files.directories.get(&directory).map(|changes| &changes.entries);
    let own = changes.into_iter().flatten().filter(|(_, id)| id.is_some());
    let own = own.map(|(name, _)| (base::cookie(name), name.clone()));
    let mut own: Vec<(u64, Vec<u8>)> = own.filter(is_behind).collect();
    own.sort_unstable();
    let start = below.partition_point(|(cookie, _)| *cookie <= position);
    let is_as_below = move |(_, name): &(u64, Vec<u8>)| changes.is_none_or(|changes| !changes.contains_key(name));
    let below = (start..below.len()).map(move |at| below[at].clone()).filter(is_as_below);
    Ok(dots.chain(merged(below, own.into_iter())))
}

/// Two ascending sequences as one.
fn merged<T: Ord>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(first), Some(second)) if second < first => other.next(),
        (None, _) => other.next(),
        _ => one.next(),
    })
}

fn entry(call: &Call<'_>, directory: Id, cookie: u64, name: Vec<u8>) -> Option<Entry> {
    let id = match cookie {
        DOT => directory,
        DOT_DOT => call.kernel.place_of(directory).0,
        _ => call.kernel.lookup(directory, &name)?,
    };
    let inode = call.kernel.inode(id)?;
    Some(Entry { cookie, name, number: inode.number, kind: entry_type(inode.full_mode()) })
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
    if !call.can(Capability::Chroot) {
        return Err(crate::errno::EPERM.into());
    }
    if directory == base::root() { Ok(0) } else { call.unsupported("another root than /") }
}

/// `lseek(2)`.
pub fn lseek(call: &mut Call<'_>) -> Result<u64, Stop> {
    let description = call.description_of(call.int(0)).map_err(|_| EBADF)?;
    let whence = call.args[2] as u32;
    if whence > 4 {
        return Err(EINVAL.into());
    }
    let file = call.description(description).file;
    (file.operations().seek)(call, description, call.args[1] as i64, whence)
}
