//! Calls that change what `stat(2)` tells: permissions, owners, times.

use super::inode::{Inode, S_ISGID, S_ISUID};
use super::namespace::check_changeable;
use super::permission::WRITE;
use super::stat::at_flags;
use super::walk::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, Node};
use super::{base, notify};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::Fd;
use crate::errno::{EACCES, EINVAL, ENOENT, EOPNOTSUPP, EPERM, Errno};
use crate::id::Id;

/// The inode behind a node, if its metadata can be changed.
fn changeable(kernel: &Kernel, node: Node) -> Result<(Id, Inode), Stop> {
    let Node::Inode(id) = node else {
        return Err(Stop::Unsupported("changing the metadata of what has no place in the tree".into()));
    };
    let is_fixed = kernel.files.known.get(id).is_some_and(|base| base::is_synthetic(&base.path));
    if is_fixed {
        return Err(EPERM.into());
    }
    Ok((id, kernel.inode(id).ok_or(ENOENT)?))
}

/// The node behind an open descriptor (not one of `O_PATH`).
fn node_of_open(call: &Call<'_>, fd: Fd) -> Result<Node, Errno> {
    call.description_of(fd)?;
    call.node_of(fd)
}

/// `chmod(2)`.
pub fn chmod(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    set_mode(call, node, call.args[1] as u32)
}

/// `fchmod(2)`.
pub fn fchmod(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = node_of_open(call, call.int(0))?;
    set_mode(call, node, call.args[1] as u32)
}

/// `fchmodat(2)`: the kernel's own has no flags.
pub fn fchmodat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(call.int(0), call.args[1], 0)?;
    set_mode(call, node, call.args[2] as u32)
}

/// `fchmodat2(2)`.
pub fn fchmodat2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[3], AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)?;
    let node = call.node_at(call.int(0), call.args[1], flags)?;
    set_mode(call, node, call.args[2] as u32)
}

fn set_mode(call: &mut Call<'_>, node: Node, mode: u32) -> Result<u64, Stop> {
    let (id, inode) = changeable(call.kernel, node)?;
    if inode.is_link() {
        return Err(EOPNOTSUPP.into());
    }
    let asker = call.asker();
    asker.owns(&inode)?;
    // Who is not in the group cannot make the file act as the group.
    let lost = if !asker.can(Capability::SetId) && !asker.is_in(inode.gid) { S_ISGID } else { 0 };
    change(call.kernel, id, |inode| inode.mode = mode & 0o7777 & !lost)
}

/// Changes an inode and notes when.
fn change(kernel: &mut Kernel, id: Id, with: impl FnOnce(&mut Inode)) -> Result<u64, Stop> {
    let now = kernel.clock.real();
    let inode = kernel.inode_mut(id)?;
    with(inode);
    inode.changed = now;
    notify::attributes(kernel, id);
    Ok(0)
}

/// `chown(2)`.
pub fn chown(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    set_owner(call, node, call.args[1] as u32, call.args[2] as u32)
}

/// `lchown(2)`.
pub fn lchown(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], AT_SYMLINK_NOFOLLOW)?;
    set_owner(call, node, call.args[1] as u32, call.args[2] as u32)
}

/// `fchown(2)`.
pub fn fchown(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = node_of_open(call, call.int(0))?;
    set_owner(call, node, call.args[1] as u32, call.args[2] as u32)
}

/// `fchownat(2)`.
pub fn fchownat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = at_flags(call.args[4], AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)?;
    let node = call.node_at(call.int(0), call.args[1], flags)?;
    set_owner(call, node, call.args[2] as u32, call.args[3] as u32)
}

/// An id that stays as it is.
const SAME: u32 = u32::MAX;

fn set_owner(call: &mut Call<'_>, node: Node, uid: u32, gid: u32) -> Result<u64, Stop> {
    let (id, inode) = changeable(call.kernel, node)?;
    let asker = call.asker();
    let owner_stays = uid == SAME || uid == inode.uid && asker.uid == inode.uid;
    let group_is_own = gid == SAME || asker.uid == inode.uid && (asker.is_in(gid) || gid == inode.gid);
    if !(asker.can(Capability::Chown) || owner_stays && group_is_own) {
        return Err(EPERM.into());
    }
    change(call.kernel, id, |inode| {
        inode.uid = if uid == SAME { inode.uid } else { uid };
        inode.gid = if gid == SAME { inode.gid } else { gid };
        if !inode.is_directory() {
            let group = if inode.mode & 0o10 == 0 { 0 } else { S_ISGID };
            inode.mode &= !(S_ISUID | group);
        }
    })
}

/// One time to set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Now,
    Omit,
    At(u64),
}

/// `utimensat(2)`.
pub fn utimensat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let times = if call.args[2] == 0 { [Time::Now; 2] } else { [timespec(call, 0)?, timespec(call, 16)?] };
    if times == [Time::Omit; 2] {
        return Ok(0);
    }
    let flags = at_flags(call.args[3], AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)?;
    // futimens(3): a null path means the descriptor.
    let node = match call.args[1] {
        0 if flags & AT_EMPTY_PATH != 0 || flags == 0 => node_of_open(call, call.int(0))?,
        0 => return Err(EINVAL.into()),
        path => call.node_at(call.int(0), path, flags)?,
    };
    set_times(call, node, times)
}

fn timespec(call: &mut Call<'_>, offset: u64) -> Result<Time, Stop> {
    let (seconds, nanos) =
        (call.load_u64(call.args[2].wrapping_add(offset))?, call.load_u64(call.args[2].wrapping_add(offset + 8))?);
    match nanos {
        0x3fff_ffff => Ok(Time::Now),
        0x3fff_fffe => Ok(Time::Omit),
        _ if nanos >= 1_000_000_000 => Err(EINVAL.into()),
        _ => moment(call, seconds, nanos),
    }
}

fn moment(call: &Call<'_>, seconds: u64, nanos: u64) -> Result<Time, Stop> {
    if (seconds as i64) < 0 {
        return call.unsupported("times before 1970");
    }
    Ok(Time::At(seconds.saturating_mul(1_000_000_000).saturating_add(nanos)))
}

/// `utime(2)`.
pub fn utime(call: &mut Call<'_>) -> Result<u64, Stop> {
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    if call.args[1] == 0 {
        return set_times(call, node, [Time::Now; 2]);
    }
    let (accessed, modified) = (call.load_u64(call.args[1])?, call.load_u64(call.args[1].wrapping_add(8))?);
    let times = [moment(call, accessed, 0)?, moment(call, modified, 0)?];
    set_times(call, node, times)
}

/// `utimes(2)`.
pub fn utimes(call: &mut Call<'_>) -> Result<u64, Stop> {
    let times = timevals(call, call.args[1])?;
    let node = call.node_at(AT_FDCWD, call.args[0], 0)?;
    set_times(call, node, times)
}

/// `futimesat(2)`.
pub fn futimesat(call: &mut Call<'_>) -> Result<u64, Stop> {
    let times = timevals(call, call.args[2])?;
    let node =
        if call.args[1] == 0 { node_of_open(call, call.int(0))? } else { call.node_at(call.int(0), call.args[1], 0)? };
    set_times(call, node, times)
}

fn timevals(call: &mut Call<'_>, address: u64) -> Result<[Time; 2], Stop> {
    if address == 0 {
        return Ok([Time::Now; 2]);
    }
    let mut one = |offset| {
        let (seconds, micros) = (call.load_u64(address + offset)?, call.load_u64(address + offset + 8)?);
        if micros < 1_000_000 { moment(call, seconds, micros * 1000) } else { Err(EINVAL.into()) }
    };
    Ok([one(0)?, one(16)?])
}

fn set_times(call: &mut Call<'_>, node: Node, times: [Time; 2]) -> Result<u64, Stop> {
    let (id, inode) = changeable(call.kernel, node)?;
    let asker = call.asker();
    let owns = asker.owns(&inode);
    match times {
        // To say "now", the right to write is enough.
        [Time::Now, Time::Now] => owns.or_else(|_| asker.may(&inode, WRITE)).map_err(|_| EACCES)?,
        _ => owns?,
    }
    let now = call.kernel.clock.real();
    change(call.kernel, id, |inode| {
        let set = |field: &mut u64, time| match time {
            Time::Now => *field = now,
            Time::At(moment) => *field = moment,
            Time::Omit => {}
        };
        set(&mut inode.accessed, times[0]);
        set(&mut inode.modified, times[1]);
    })
}

/// `EPERM` where nothing can be changed; for calls on attributes.
pub fn check_attributes(kernel: &Kernel, id: Id) -> Result<(), Errno> {
    check_changeable(kernel, id)
}
