//! `fcntl(F_SETLK)` and its kin, and `flock(2)`.
//!
//! Differences between the families that programs stumble over: record locks belong to the process
//! and end with *any* descriptor of the file that it closes; `flock(2)` and OFD locks belong to the
//! description, survive `fork(2)`, and end with its last descriptor.

use super::lock::{LockRequest, Mode, Owner, Record};
use super::{content, locking};
use crate::call::{Call, Stop};
use crate::descriptor::File;
use crate::errno::{EAGAIN, EBADF, EDEADLOCK, EINVAL, EOVERFLOW, Errno};
use crate::id::Id;
use crate::wait::{Condition, Wait};

const F_RDLCK: u16 = 0;
const F_WRLCK: u16 = 1;
const F_UNLCK: u16 = 2;

/// `struct flock` of the guest.
struct Flock {
    kind: u16,
    whence: u16,
    start: i64,
    length: i64,
}

/// Whose locks a command is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `F_SETLK`: of the process.
    Process,
    /// `F_OFD_SETLK`: of the description.
    Description,
}

fn load(call: &mut Call<'_>, family: Family) -> Result<Flock, Stop> {
    let bytes: [u8; 32] = call.load(call.args[2])?;
    let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let eight = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let pid = i32::from_le_bytes(bytes[24..28].try_into().expect("four bytes"));
    // fcntl(2): l_pid of open description locks must be 0.
    if family == Family::Description && pid != 0 {
        return Err(EINVAL.into());
    }
    Ok(Flock { kind: two(0), whence: two(2), start: eight(8), length: eight(16) })
}

fn mode(kind: u16) -> Result<Option<Mode>, Errno> {
    match kind {
        F_RDLCK => Ok(Some(Mode::Shared)),
        F_WRLCK => Ok(Some(Mode::Exclusive)),
        F_UNLCK => Ok(None),
        _ => Err(EINVAL),
    }
}

/// First and last byte that a `struct flock` means.
fn range(call: &Call<'_>, description: Id, flock: &Flock) -> Result<(u64, u64), Errno> {
    let open = call.description(description);
    let base = match flock.whence {
        0 => 0,
        1 => open.offset,
        2 => match open.file {
            File::Inode(id) => content::length(call.kernel, call.memory, id),
            _ => 0,
        },
        _ => return Err(EINVAL),
    };
    let first = (base as i64).checked_add(flock.start).ok_or(EOVERFLOW)?;
    if first < 0 {
        return Err(EINVAL);
    }
    let (first, last) = match flock.length {
        0 => (first, i64::MAX),
        length if length > 0 => (first, first.checked_add(length - 1).ok_or(EOVERFLOW)?),
        length => (first.checked_add(length).ok_or(EINVAL)?, first - 1),
    };
    if first < 0 { Err(EINVAL) } else { Ok((first as u64, last as u64)) }
}

fn owner(call: &Call<'_>, description: Id, family: Family) -> Owner {
    match family {
        Family::Process => Owner::Process(call.pid),
        Family::Description => Owner::Description(description),
    }
}

fn key(call: &Call<'_>, description: Id) -> Result<Id, Stop> {
    match locking::key(call.description(description).file) {
        Some(key) => Ok(key),
        None => call.unsupported("locks on this kind of file"),
    }
}

/// `F_GETLK`: the lock in the way, or `F_UNLCK`.
pub fn get(call: &mut Call<'_>, description: Id, family: Family) -> Result<u64, Stop> {
    let flock = load(call, family)?;
    let mode = mode(flock.kind)?.ok_or(EINVAL)?;
    let (start, end) = range(call, description, &flock)?;
    let wanted = Record { start, end, owner: owner(call, description, family), mode };
    let file = key(call, description)?;
    let found = locking::in_the_way(call.kernel, file, &wanted);
    let Some(held) = found else {
        call.store(call.args[2], &F_UNLCK.to_le_bytes())?;
        return Ok(0);
    };
    let bytes = describe(&held);
    call.store(call.args[2], &bytes)?;
    Ok(0)
}

fn describe(held: &Record) -> Vec<u8> {
    let kind = if held.mode == Mode::Shared { F_RDLCK } else { F_WRLCK };
    let length = if held.end == i64::MAX as u64 { 0 } else { held.end - held.start + 1 };
    let pid = match held.owner {
        Owner::Process(pid) => pid.0 as i32,
        Owner::Description(_) => -1,
    };
    let mut bytes = Vec::new();
    bytes.extend(kind.to_le_bytes());
    bytes.extend([0; 6]);
    bytes.extend(held.start.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(pid.to_le_bytes());
    bytes
}

/// `F_SETLK`, or `F_SETLKW` if it may wait.
pub fn set(call: &mut Call<'_>, description: Id, family: Family, waits: bool) -> Result<u64, Stop> {
    let flock = load(call, family)?;
    let mode = mode(flock.kind)?;
    let (start, end) = range(call, description, &flock)?;
    let open = call.description(description);
    let is_allowed = match mode {
        Some(Mode::Shared) => open.is_readable(),
        Some(Mode::Exclusive) => open.is_writable(),
        None => true,
    };
    if !is_allowed {
        return Err(EBADF.into());
    }
    // The lock would outlive its descriptor: Linux gives it back at once.
    if family == Family::Process && waits && call.description_now(call.int(0)) != Ok(description) {
        return Err(EBADF.into());
    }
    let file = key(call, description)?;
    let record = Record { start, end, owner: owner(call, description, family), mode: mode.unwrap_or(Mode::Shared) };
    if mode.is_none() {
        locking::change(call.kernel, file, |locks| locks.unlock(&record));
        return Ok(0);
    }
    take(call, file, record, waits)
}

/// Only process locks are checked for a deadlock, as in Linux (fcntl(2), "deadlock detection"): a
/// cycle of OFD or `flock` locks waits for ever, and the search reports it.
fn take(call: &mut Call<'_>, file: Id, record: Record, waits: bool) -> Result<u64, Stop> {
    if locking::in_the_way(call.kernel, file, &record).is_none() {
        locking::change(call.kernel, file, |locks| locks.lock(record));
        return Ok(0);
    }
    if !waits {
        return Err(EAGAIN.into());
    }
    if matches!(record.owner, Owner::Process(_)) && locking::would_deadlock(call.kernel, file, &record) {
        return Err(EDEADLOCK.into());
    }
    Err(Wait::until(Condition::Lock(LockRequest::Record { file, record })).into())
}

const LOCK_SH: u64 = 1;
const LOCK_EX: u64 = 2;
const LOCK_NB: u64 = 4;
const LOCK_UN: u64 = 8;
const LOCK_MAND: u64 = 32;

/// `flock(2)`.
pub fn flock(call: &mut Call<'_>) -> Result<u64, Stop> {
    let operation = call.args[1] as u32 as u64;
    if operation & LOCK_MAND != 0 {
        // Linux ignores it since 5.17, whatever else is asked for.
        return Ok(0);
    }
    let mode = match operation & !LOCK_NB {
        LOCK_SH => Some(Mode::Shared),
        LOCK_EX => Some(Mode::Exclusive),
        LOCK_UN => None,
        _ => return Err(EINVAL.into()),
    };
    let description = call.description_of(call.int(0))?;
    let file = key(call, description)?;
    let Some(mode) = mode else {
        locking::set_whole(call.kernel, file, description, None);
        return Ok(0);
    };
    if locking::whole_of(call.kernel, file, description) == Some(mode) {
        return Ok(0);
    }
    // Conversion is not atomic: the old lock goes first, even if the new one cannot be had (`flock(2)`, NOTES).
    locking::set_whole(call.kernel, file, description, None);
    if locking::whole_is_free(call.kernel, file, description, mode) {
        locking::set_whole(call.kernel, file, description, Some(mode));
        return Ok(0);
    }
    if operation & LOCK_NB != 0 {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Lock(LockRequest::Whole { file, description, mode })).into())
}
