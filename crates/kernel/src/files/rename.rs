//! `rename(2)`.
//!
//! A program sees which error comes first, so the order of the checks matters: devices, existence,
//! slashes, loops, identity, permissions, kinds. Nothing is changed before all have passed, so a
//! rename happens wholly or not at all.

use super::inode::Inode;
use super::namespace::{change_links, check_changeable, drop_name, end_directory, is_mounted};
use super::permission::WRITE;
use super::walk::{AT_FDCWD, Place};
use super::{file_system, notify};
use crate::call::{Call, Stop};
use crate::descriptor::Fd;
use crate::errno::{EBUSY, EEXIST, EINVAL, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, EXDEV, Errno};
use crate::id::Id;

/// Fail if the new name exists.
const NOREPLACE: u64 = 1;
/// Exchange the two names.
const EXCHANGE: u64 = 2;
/// Leave a whiteout, for overlay file systems.
const WHITEOUT: u64 = 4;

/// No path: where one of two that are exchanged is meanwhile.
const NOWHERE: &[u8] = b"\0";

/// `rename(2)`.
pub fn rename(call: &mut Call<'_>) -> Result<u64, Stop> {
    change_name(call, (AT_FDCWD, call.args[0]), (AT_FDCWD, call.args[1]), 0)
}

/// `renameat(2)`.
pub fn renameat(call: &mut Call<'_>) -> Result<u64, Stop> {
    change_name(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), 0)
}

/// `renameat2(2)`.
pub fn renameat2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[4] as u32 as u64;
    if flags & !(NOREPLACE | EXCHANGE | WHITEOUT) != 0 || (flags & EXCHANGE != 0 && flags != EXCHANGE) {
        return Err(EINVAL.into());
    }
    call.only_flags(flags, NOREPLACE | EXCHANGE, "flags")?;
    change_name(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), flags)
}

/// One side of a renaming.
struct Side {
    place: Place,
    found: Option<(Id, Inode)>,
}

impl Side {
    fn at(call: &mut Call<'_>, (dir, path): (Fd, u64)) -> Result<Self, Stop> {
        let place = call.entry_at(dir, path)?;
        if place.name.is_empty() {
            return Err(EBUSY.into());
        }
        let found = place.inode().ok().and_then(|id| Some((id, call.kernel.inode(id)?)));
        Ok(Self { place, found })
    }

    fn is_directory(&self) -> bool {
        self.found.as_ref().is_some_and(|(_, inode)| inode.is_directory())
    }

    fn id(&self) -> Option<Id> {
        self.found.as_ref().map(|(id, _)| *id)
    }
}

fn change_name(call: &mut Call<'_>, old: (Fd, u64), new: (Fd, u64), flags: u64) -> Result<u64, Stop> {
    let (old, new) = (Side::at(call, old)?, Side::at(call, new)?);
    if device(call, &old) != device(call, &new) {
        return Err(EXDEV.into());
    }
    let from = old.id().ok_or(ENOENT)?;
    match (flags, new.id()) {
        (NOREPLACE, Some(_)) => return Err(EEXIST.into()),
        (EXCHANGE, None) => return Err(ENOENT.into()),
        _ => check_slashes(&old, &new, flags)?,
    }
    check_loops(call, &old, &new, flags)?;
    // Two names of one file: nothing to do (`rename(2)`).
    if new.id() == Some(from) {
        return Ok(0);
    }
    check_rights(call, &old, &new)?;
    if flags == EXCHANGE {
        return exchange(call, &old, &new);
    }
    check_kinds(call, &old, &new)?;
    carry_out(call, &old, &new, from)?;
    Ok(0)
}

fn device(call: &Call<'_>, side: &Side) -> u32 {
    file_system::device_of_directory(call.kernel, side.place.parent)
}

/// A slash at the end asks for a directory.
fn check_slashes(old: &Side, new: &Side, flags: u64) -> Result<(), Errno> {
    let wrong = !old.is_directory() && (old.place.slash || (new.place.slash && flags & EXCHANGE == 0));
    let wrong_new = flags & EXCHANGE != 0 && !new.is_directory() && new.place.slash;
    if wrong || wrong_new { Err(ENOTDIR) } else { Ok(()) }
}

/// A directory cannot move into itself, nor replace one that it is in.
fn check_loops(call: &Call<'_>, old: &Side, new: &Side, flags: u64) -> Result<(), Errno> {
    if old.id().is_some_and(|id| is_within(call, new.place.parent, id)) {
        return Err(EINVAL);
    }
    if new.id().is_some_and(|id| is_within(call, old.place.parent, id)) {
        return Err(if flags & EXCHANGE != 0 { EINVAL } else { ENOTEMPTY });
    }
    Ok(())
}

/// Whether a directory is `ancestor` or lies in it.
///
/// Up the chain of parents: O(depth). Loops cannot exist, since this check keeps them out.
fn is_within(call: &Call<'_>, mut directory: Id, ancestor: Id) -> bool {
    loop {
        if directory == ancestor {
            return true;
        }
        let parent = call.kernel.place_of(directory).0;
        if parent == directory {
            return false;
        }
        directory = parent;
    }
}

fn check_rights(call: &Call<'_>, old: &Side, new: &Side) -> Result<(), Errno> {
    let asker = call.asker();
    for side in [old, new] {
        check_changeable(call.kernel, side.place.parent)?;
        match &side.found {
            Some((_, inode)) => asker.may_remove(call.kernel, side.place.parent, inode)?,
            None => asker.may_change(call.kernel, side.place.parent)?,
        }
        let moves = old.place.parent != new.place.parent;
        if let Some((_, inode)) = side.found.as_ref().filter(|(_, inode)| moves && inode.is_directory()) {
            // Its `..` changes.
            asker.may(inode, WRITE)?;
        }
        if side.id().is_some_and(|id| is_mounted(call.kernel, id)) {
            return Err(EBUSY);
        }
    }
    if call.kernel.inode(new.place.parent).is_none_or(|parent| parent.links == 0) { Err(ENOENT) } else { Ok(()) }
}

/// A directory replaces only an empty one, and nothing else replaces a directory.
fn check_kinds(call: &Call<'_>, old: &Side, new: &Side) -> Result<(), Errno> {
    let Some(replaced) = new.id() else { return Ok(()) };
    match (old.is_directory(), new.is_directory()) {
        (true, false) => Err(ENOTDIR),
        (false, true) => Err(EISDIR),
        (true, true) if !call.kernel.entries(replaced).is_empty() => Err(ENOTEMPTY),
        _ => Ok(()),
    }
}

/// The old name goes and the new one comes in one step: no other thread sees both, or neither.
fn carry_out(call: &mut Call<'_>, old: &Side, new: &Side, from: Id) -> Result<(), Errno> {
    let paths = (path_of(call, old), path_of(call, new));
    call.kernel.set_entry(old.place.parent, &old.place.name, None);
    put(call, &new.place, from, old.is_directory())?;
    if old.is_directory() {
        change_links(call.kernel, old.place.parent, -1)?;
        change_links(call.kernel, new.place.parent, 1)?;
    }
    if let (Some(old), Some(new)) = paths {
        call.kernel.path_changed(&new, &[&new, b" (deleted)".as_slice()].concat());
        call.kernel.path_changed(&old, &new);
    }
    notify::moved(call.kernel, [&old.place, &new.place], (from, old.is_directory()), new.id());
    match new.id() {
        Some(replaced) if new.is_directory() => {
            change_links(call.kernel, new.place.parent, -1)?;
            end_directory(call, replaced)
        }
        Some(replaced) => drop_name(call, replaced),
        None => Ok(()),
    }
}

fn path_of(call: &Call<'_>, side: &Side) -> Option<Vec<u8>> {
    call.kernel.path_in(side.place.parent, &side.place.name)
}

/// Lets a name lead to something that had another.
fn put(call: &mut Call<'_>, place: &Place, id: Id, is_directory: bool) -> Result<(), Errno> {
    call.kernel.set_entry(place.parent, &place.name, Some(id));
    if is_directory {
        call.kernel.directory_mut(id).place = Some((place.parent, place.name.clone()));
    }
    let now = call.kernel.clock.real();
    call.kernel.inode_mut(id)?.changed = now;
    Ok(())
}

fn exchange(call: &mut Call<'_>, old: &Side, new: &Side) -> Result<u64, Stop> {
    let (first, second) = (old.id().ok_or(ENOENT)?, new.id().ok_or(ENOENT)?);
    let paths = (path_of(call, old), path_of(call, new));
    put(call, &new.place, first, old.is_directory())?;
    put(call, &old.place, second, new.is_directory())?;
    let moved = i32::from(old.is_directory()) - i32::from(new.is_directory());
    change_links(call.kernel, new.place.parent, moved)?;
    change_links(call.kernel, old.place.parent, -moved)?;
    if let (Some(old), Some(new)) = paths {
        call.kernel.path_changed(&new, NOWHERE);
        call.kernel.path_changed(&old, &new);
        call.kernel.path_changed(NOWHERE, &old);
    }
    notify::moved(call.kernel, [&old.place, &new.place], (first, old.is_directory()), None);
    notify::moved(call.kernel, [&new.place, &old.place], (second, new.is_directory()), None);
    Ok(0)
}
