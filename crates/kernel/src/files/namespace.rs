//! Calls that make and remove names.

use super::inode::{Kind, S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFMT, S_IFREG, S_IFSOCK};
use super::stat::at_flags;
use super::walk::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW, Node, Place};
use super::{base, file_system, notify};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::Fd;
use crate::errno::{EBUSY, EEXIST, EINVAL, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, EPERM, EXDEV, Errno};
use crate::id::Id;

/// `unlinkat(2)`: as `rmdir(2)`.
const AT_REMOVEDIR: u32 = 0x200;

/// `EPERM` for directories of `/proc` and `/sys`, whose names are not ours to change.
pub fn check_changeable(kernel: &Kernel, directory: Id) -> Result<(), Errno> {
    let is_fixed = kernel.files.known.get(directory).is_some_and(|base| base::is_synthetic(&base.path));
    if is_fixed { Err(EPERM) } else { Ok(()) }
}

/// `mkdir(2)`.
pub fn mkdir(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_directory(call, AT_FDCWD, call.args[0], call.args[1])
}

/// `mkdirat(2)`.
pub fn mkdirat(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_directory(call, call.int(0), call.args[1], call.args[2])
}

fn make_directory(call: &mut Call<'_>, dir: Fd, path: u64, mode: u64) -> Result<u64, Stop> {
    let place = call.entry_at(dir, path)?;
    check_free(&place)?;
    call.create_entry(&place, Kind::Directory, mode as u32 & 0o1777)?;
    Ok(0)
}

fn check_free(place: &Place) -> Result<(), Errno> {
    if place.node.is_some() { Err(EEXIST) } else { Ok(()) }
}

/// `EEXIST` if the name is taken; `ENOENT` for a slash behind what is to be no directory.
fn check_free_name(place: &Place) -> Result<(), Errno> {
    check_free(place)?;
    if place.slash { Err(ENOENT) } else { Ok(()) }
}

/// `mknod(2)`.
pub fn mknod(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_node(call, AT_FDCWD, call.args[0], call.args[1] as u32, call.args[2] as u32)
}

/// `mknodat(2)`.
pub fn mknodat(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_node(call, call.int(0), call.args[1], call.args[2] as u32, call.args[3] as u32)
}

fn make_node(call: &mut Call<'_>, dir: Fd, path: u64, mode: u32, device: u32) -> Result<u64, Stop> {
    let kind = match mode & S_IFMT {
        0 | S_IFREG => Kind::Regular,
        S_IFIFO => Kind::Fifo,
        S_IFSOCK => Kind::Socket,
        S_IFCHR => Kind::Character(device),
        S_IFBLK => Kind::Block(device),
        S_IFDIR => return Err(EPERM.into()),
        _ => return Err(EINVAL.into()),
    };
    let place = call.entry_at(dir, path)?;
    check_free_name(&place)?;
    call.asker().may_change(call.kernel, place.parent)?;
    if matches!(kind, Kind::Character(_) | Kind::Block(_)) && !call.can(Capability::Node) {
        return Err(EPERM.into());
    }
    call.create_entry(&place, kind, mode & 0o7777)?;
    Ok(0)
}

/// `symlink(2)`.
pub fn symlink(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_link(call, call.args[0], AT_FDCWD, call.args[1])
}

/// `symlinkat(2)`.
pub fn symlinkat(call: &mut Call<'_>) -> Result<u64, Stop> {
    make_link(call, call.args[0], call.int(1), call.args[2])
}

fn make_link(call: &mut Call<'_>, target: u64, dir: Fd, path: u64) -> Result<u64, Stop> {
    let target = call.load_path(target)?;
    if target.is_empty() {
        return Err(ENOENT.into());
    }
    let place = call.entry_at(dir, path)?;
    check_free_name(&place)?;
    call.create_entry(&place, Kind::Link(target.into()), 0o777)?;
    Ok(0)
}

/// `link(2)`.
pub fn link(call: &mut Call<'_>) -> Result<u64, Stop> {
    name_again(call, (AT_FDCWD, call.args[0]), (AT_FDCWD, call.args[1]), AT_SYMLINK_NOFOLLOW)
}

/// `linkat(2)`.
pub fn linkat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[4], AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)?;
    let follow = if flags & AT_SYMLINK_FOLLOW != 0 { 0 } else { AT_SYMLINK_NOFOLLOW };
    name_again(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), flags & AT_EMPTY_PATH | follow)
}

fn name_again(call: &mut Call<'_>, old: (Fd, u64), new: (Fd, u64), flags: u32) -> Result<u64, Stop> {
    let node = call.node_at(old.0, old.1, flags)?;
    let place = call.entry_at(new.0, new.1)?;
    check_free_name(&place)?;
    let Node::Inode(id) = node else { return Err(EXDEV.into()) };
    // A new file does not know on which of the file systems that take new files it is: /dev/shm is as good as /tmp.
    let is_known = call.kernel.files.known.get(id).is_some();
    if is_known
        && file_system::device_of(call.kernel, id) != file_system::device_of_directory(call.kernel, place.parent)
    {
        return Err(EXDEV.into());
    }
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    call.asker().may_change(call.kernel, place.parent)?;
    if inode.is_directory() {
        return Err(EPERM.into());
    }
    // Only a file of O_TMPFILE may get its first name.
    if inode.links == 0 && !call.kernel.files.unnamed.remove(&id) {
        return Err(ENOENT.into());
    }
    change_links(call.kernel, id, 1)?;
    call.kernel.set_entry(place.parent, &place.name, Some(id));
    notify::created(call.kernel, place.parent, &place.name, false);
    Ok(0)
}

/// Counts names of an inode.
pub fn change_links(kernel: &mut Kernel, id: Id, by: i32) -> Result<(), Errno> {
    let now = kernel.clock.real();
    let inode = kernel.inode_mut(id)?;
    inode.links = inode.links.saturating_add_signed(by);
    inode.changed = now;
    Ok(())
}

/// `unlink(2)`.
pub fn unlink(call: &mut Call<'_>) -> Result<u64, Stop> {
    remove_name(call, AT_FDCWD, call.args[0])
}

/// `rmdir(2)`.
pub fn rmdir(call: &mut Call<'_>) -> Result<u64, Stop> {
    remove_directory(call, AT_FDCWD, call.args[0])
}

/// `unlinkat(2)`.
pub fn unlinkat(call: &mut Call<'_>) -> Result<u64, Stop> {
    match at_flags(call.args[2], AT_REMOVEDIR)? {
        0 => remove_name(call, call.int(0), call.args[1]),
        _ => remove_directory(call, call.int(0), call.args[1]),
    }
}

fn remove_name(call: &mut Call<'_>, dir: Fd, path: u64) -> Result<u64, Stop> {
    let place = call.entry_at(dir, path)?;
    if place.name.is_empty() {
        return Err(EISDIR.into());
    }
    let id = place.inode()?;
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    if inode.is_directory() {
        return Err(EISDIR.into());
    }
    if place.slash {
        return Err(ENOTDIR.into());
    }
    call.asker().may_remove(call.kernel, place.parent, &inode)?;
    check_changeable(call.kernel, place.parent)?;
    call.kernel.set_entry(place.parent, &place.name, None);
    if let Some(path) = call.kernel.path_in(place.parent, &place.name) {
        call.kernel.path_changed(&path, &[&path, b" (deleted)".as_slice()].concat());
    }
    notify::unlinked(call.kernel, id);
    drop_name(call, id)?;
    notify::deleted(call.kernel, place.parent, &place.name, false);
    Ok(0)
}

/// One name less; the file ends if that was the last and nobody has it open.
pub fn drop_name(call: &mut Call<'_>, id: Id) -> Result<(), Errno> {
    change_links(call.kernel, id, -1)?;
    super::forget_if_unused(call.kernel, call.memory, id);
    Ok(())
}

fn remove_directory(call: &mut Call<'_>, dir: Fd, path: u64) -> Result<u64, Stop> {
    let given = call.load_path(path)?;
    let place = call.entry_at(dir, path)?;
    if place.name.is_empty() {
        return Err(last_of(&given).into());
    }
    let id = place.inode()?;
    check_removable(call, &place, id)?;
    call.kernel.set_entry(place.parent, &place.name, None);
    change_links(call.kernel, place.parent, -1)?;
    end_directory(call, id)?;
    notify::deleted(call.kernel, place.parent, &place.name, true);
    Ok(0)
}

/// What `rmdir(2)` says of paths that end in no name.
fn last_of(path: &[u8]) -> Errno {
    match path.split(|byte| *byte == b'/').rfind(|name| !name.is_empty()) {
        Some(b".") => EINVAL,
        Some(b"..") => ENOTEMPTY,
        _ => EBUSY,
    }
}

fn check_removable(call: &Call<'_>, place: &Place, id: Id) -> Result<(), Errno> {
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    call.asker().may_remove(call.kernel, place.parent, &inode)?;
    check_changeable(call.kernel, place.parent)?;
    if !inode.is_directory() {
        return Err(ENOTDIR);
    }
    if is_mounted(call.kernel, id) {
        return Err(EBUSY);
    }
    if call.kernel.entries(id).is_empty() { Ok(()) } else { Err(ENOTEMPTY) }
}

/// Whether something is mounted on a directory.
pub fn is_mounted(kernel: &Kernel, id: Id) -> bool {
    let base = kernel.files.known.get(id);
    base.is_some_and(|base| matches!(base.path.as_slice(), b"/" | b"/proc" | b"/sys" | b"/dev"))
}

/// A directory without a name has no links at all; who works in it keeps it.
pub fn end_directory(call: &mut Call<'_>, id: Id) -> Result<(), Errno> {
    let (parent, name) = call.kernel.place_of(id);
    // Its `..` still leads where it led.
    call.kernel.directory_mut(id).place = Some((parent, name));
    call.kernel.inode_mut(id)?.links = 0;
    super::forget_if_unused(call.kernel, call.memory, id);
    Ok(())
}
