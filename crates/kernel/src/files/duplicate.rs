//! `close(2)`, `dup(2)` and their kin.

use crate::call::{Call, Stop};
use crate::descriptor::{Fd, O_CLOEXEC};
use crate::errno::{EBADF, EINVAL, EMFILE, Errno};

/// `close(2)`.
pub fn close(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.kernel.close(call.memory, call.pid, call.int(0))?;
    Ok(0)
}

/// `CLOSE_RANGE_UNSHARE`: descriptors are shared by threads only.
const UNSHARE: u64 = 2;
/// `CLOSE_RANGE_CLOEXEC`.
const CLOEXEC: u64 = 4;

/// `close_range(2)`.
pub fn close_range(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (first, last, flags) = (call.args[0] as u32, call.args[1] as u32, call.args[2] as u32 as u64);
    if flags & !(UNSHARE | CLOEXEC) != 0 || first > last {
        return Err(EINVAL.into());
    }
    if flags & UNSHARE != 0 && call.process().threads.len() > 1 {
        return call.unsupported("CLOSE_RANGE_UNSHARE with several threads");
    }
    let open = call.process().descriptors.iter().map(|(fd, _)| fd);
    let chosen: Vec<Fd> = open.filter(|fd| (first..=last).contains(&(*fd as u32))).collect();
    for fd in chosen {
        if flags & CLOEXEC != 0 {
            call.process_mut().descriptors.get_mut(fd)?.close_on_exec = true;
        } else {
            call.kernel.close(call.memory, call.pid, fd)?;
        }
    }
    Ok(0)
}

/// `dup(2)`.
pub fn dup(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(lowest(call, call.int(0), 0, false)?)
}

/// The lowest free descriptor from `from` on for what another refers to.
pub fn lowest(call: &mut Call<'_>, fd: Fd, from: Fd, close_on_exec: bool) -> Result<u64, Errno> {
    let description = call.description_or_path(fd)?;
    let free = call.process().descriptors.free(from, call.descriptor_limit())?;
    call.refer(free, description, close_on_exec);
    Ok(free as u64)
}

/// `dup2(2)`.
pub fn dup2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (old, new) = (call.int(0), call.int(1));
    if old == new {
        call.description_or_path(old)?;
        return Ok(new as u64);
    }
    Ok(onto(call, old, new, false)?)
}

/// `dup3(2)`.
pub fn dup3(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (old, new, flags) = (call.int(0), call.int(1), call.args[2] as u32);
    if flags & !O_CLOEXEC != 0 || old == new {
        return Err(EINVAL.into());
    }
    Ok(onto(call, old, new, flags & O_CLOEXEC != 0)?)
}

fn onto(call: &mut Call<'_>, old: Fd, new: Fd, close_on_exec: bool) -> Result<u64, Errno> {
    if new < 0 || new as u64 >= call.descriptor_limit() {
        return Err(EBADF);
    }
    let description = call.description_or_path(old)?;
    // What was there is closed silently, after the new one is sure to be there.
    crate::descriptor::retain(call.kernel, description);
    let _ = call.kernel.close(call.memory, call.pid, new);
    call.refer(new, description, close_on_exec);
    call.kernel.release(call.memory, description);
    Ok(new as u64)
}

/// `F_DUPFD` and `F_DUPFD_CLOEXEC`.
pub fn from(call: &mut Call<'_>, fd: Fd, close_on_exec: bool) -> Result<u64, Errno> {
    let from = call.args[2];
    if from >= call.descriptor_limit() {
        return Err(EINVAL);
    }
    let from = Fd::try_from(from).map_err(|_| EMFILE)?;
    lowest(call, fd, from, close_on_exec)
}
