//! `fcntl(2)`.
//!
//! Two kinds of flags: those of a descriptor (`FD_CLOEXEC`, one for each number) and those of the
//! open description (status flags, owner, locks of `F_OFD_*`), which dup(2) and fork(2) share. What
//! is looked up through `description` is seen by everyone who shares it, so such a call conflicts
//! with theirs.

use super::lock_calls::{self, Family};
use super::{duplicate, seal};
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, File, O_APPEND, O_ASYNC, O_DIRECT, O_NOATIME, O_NONBLOCK, O_PATH};
use crate::errno::{EBADF, EINVAL, EPERM};
use crate::id::Id;
use crate::pipe;

const F_DUPFD: u64 = 0;
const F_GETFD: u64 = 1;
const F_SETFD: u64 = 2;
const F_GETFL: u64 = 3;
const F_SETFL: u64 = 4;
const F_GETLK: u64 = 5;
const F_SETLK: u64 = 6;
const F_SETLKW: u64 = 7;
const F_SETOWN: u64 = 8;
const F_GETOWN: u64 = 9;
const F_GETSIG: u64 = 11;
const F_SETOWN_EX: u64 = 15;
const F_GETOWN_EX: u64 = 16;
const F_OFD_GETLK: u64 = 36;
const F_OFD_SETLK: u64 = 37;
const F_OFD_SETLKW: u64 = 38;
const F_SETLEASE: u64 = 1024;
const F_GETLEASE: u64 = 1025;
const F_DUPFD_QUERY: u64 = 1027;
const F_DUPFD_CLOEXEC: u64 = 1030;
const F_SETPIPE_SZ: u64 = 1031;
const F_GETPIPE_SZ: u64 = 1032;
const F_ADD_SEALS: u64 = 1033;
const F_GET_SEALS: u64 = 1034;

/// Commands that take a descriptor of `O_PATH`.
///
/// open(2), `O_PATH`: "other file operations (...) fail with the error EBADF".
const WITH_PATH: [u64; 6] = [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_QUERY];

/// Status flags that `F_SETFL` changes; it ignores the others.
///
/// The list is that of fcntl(2); the access mode and the flags of creation stay.
const CHANGEABLE: u32 = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;

/// `fcntl(2)`.
pub fn fcntl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (fd, command) = (call.int(0), call.args[1] as u32 as u64);
    let description = call.description_or_path(fd)?;
    let is_path = call.description(description).flags & O_PATH != 0;
    if is_path && !WITH_PATH.contains(&command) {
        return Err(EBADF.into());
    }
    match command {
        F_DUPFD => Ok(duplicate::from(call, fd, false)?),
        F_DUPFD_CLOEXEC => Ok(duplicate::from(call, fd, true)?),
        F_GETFD => Ok(call.process().descriptors.get(fd)?.close_on_exec.into()),
        F_SETFD => {
            call.process_mut().descriptors.get_mut(fd)?.close_on_exec = call.args[2] & 1 != 0;
            Ok(0)
        }
        F_DUPFD_QUERY => {
            let other = call.description_or_path(call.args[2] as Fd)?;
            Ok((other == description).into())
        }
        _ => on_description(call, description, command),
    }
}

fn on_description(call: &mut Call<'_>, description: Id, command: u64) -> Result<u64, Stop> {
    match command {
        F_GETFL => Ok(call.description(description).flags.into()),
        F_SETFL => set_status(call, description),
        F_GETLK => lock_calls::get(call, description, Family::Process),
        F_SETLK => lock_calls::set(call, description, Family::Process, false),
        F_SETLKW => lock_calls::set(call, description, Family::Process, true),
        F_OFD_GETLK => lock_calls::get(call, description, Family::Description),
        F_OFD_SETLK => lock_calls::set(call, description, Family::Description, false),
        F_OFD_SETLKW => lock_calls::set(call, description, Family::Description, true),
        F_SETOWN => {
            call.description_mut(description).owner = call.int(2);
            Ok(0)
        }
        F_GETOWN => Ok(i64::from(call.description(description).owner) as u64),
        F_GETSIG => Ok(0),
        F_GETPIPE_SZ => Ok(pipe::find(call.kernel, description).ok_or(EBADF)?.1.capacity()),
        F_SETPIPE_SZ => Ok(pipe::set_capacity(call, description, call.args[2])?),
        F_ADD_SEALS => seal::add(call, description, call.args[2] as u32),
        F_GET_SEALS => seal::get(call, description),
        // F_UNLCK: nobody holds one, because nobody can get one.
        F_GETLEASE => Ok(2),
        F_SETLEASE if call.args[2] == 2 => Err(crate::errno::EAGAIN.into()),
        F_SETLEASE => call.unsupported("leases"),
        10 => call.unsupported("F_SETSIG"),
        F_SETOWN_EX => set_owner(call, description),
        F_GETOWN_EX => get_owner(call, description),
        1026 => call.unsupported("F_NOTIFY"),
        1035..=1038 => call.unsupported("hints on the lifetime of data"),
        _ => Err(EINVAL.into()),
    }
}

const F_OWNER_PID: u32 = 1;
const F_OWNER_PGRP: u32 = 2;

/// `F_SETOWN_EX`: kept as `F_SETOWN` keeps it, groups negative.
fn set_owner(call: &mut Call<'_>, description: Id) -> Result<u64, Stop> {
    let (kind, number) = (call.load_u32(call.args[2])?, call.load_u32(call.args[2].wrapping_add(4))? as i32);
    let owner = match kind {
        0 => return call.unsupported("F_OWNER_TID"),
        F_OWNER_PID => number,
        F_OWNER_PGRP => -number,
        _ => return Err(EINVAL.into()),
    };
    call.description_mut(description).owner = owner;
    Ok(0)
}

fn get_owner(call: &mut Call<'_>, description: Id) -> Result<u64, Stop> {
    let owner = call.description(description).owner;
    let kind = if owner < 0 { F_OWNER_PGRP } else { F_OWNER_PID };
    call.store_u32(call.args[2], kind)?;
    call.store_u32(call.args[2].wrapping_add(4), owner.unsigned_abs())?;
    Ok(0)
}

fn set_status(call: &mut Call<'_>, description: Id) -> Result<u64, Stop> {
    let wanted = call.args[2] as u32 & CHANGEABLE;
    let open = call.description(description);
    let (before, file) = (open.flags, open.file);
    let added = wanted & !before;
    if added & O_ASYNC != 0 {
        return call.unsupported("O_ASYNC");
    }
    let is_pipe = matches!(file, File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_));
    if added & O_DIRECT != 0 && is_pipe {
        return call.unsupported("O_DIRECT on a pipe");
    }
    if added & O_DIRECT != 0 && !matches!(file, File::Inode(_)) {
        return Err(EINVAL.into());
    }
    if added & O_NOATIME != 0
        && let File::Inode(id) = file
        && let Some(inode) = call.kernel.inode(id)
    {
        call.asker().owns(&inode).map_err(|_| EPERM)?;
    }
    call.description_mut(description).flags = before & !CHANGEABLE | wanted;
    Ok(0)
}
