//! `eventfd(2)`.

use super::counter::{Counter, MAX};
use super::wake::wake;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{
    At, Description, File, O_CLOEXEC, O_NONBLOCK, O_RDWR, Operations, POLLERR, POLLIN, POLLOUT, noop_seek, refuse,
};
use crate::errno::{EAGAIN, EINVAL};
use crate::id::Id;
use crate::wait::{Condition, Wait};
use memory::Memory;

/// `EFD_SEMAPHORE`.
const SEMAPHORE: u32 = 1;

/// What event descriptors can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl: refuse::ioctl, close, seek: noop_seek };

/// `eventfd(2)` of old: no flags.
pub fn eventfd(call: &mut Call<'_>) -> Result<u64, Stop> {
    create(call, 0)
}

/// `eventfd2(2)`.
pub fn eventfd2(call: &mut Call<'_>) -> Result<u64, Stop> {
    create(call, call.args[1] as u32)
}

fn create(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    if flags & !(SEMAPHORE | O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let id = call.fresh_id();
    let description = Description::new(File::Event(id), O_RDWR | flags & O_NONBLOCK, b"anon_inode:[eventfd]".to_vec());
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    let counter = Counter { value: u64::from(call.args[0] as u32), semaphore: flags & SEMAPHORE != 0 };
    call.kernel.events.counters.insert(id, counter);
    Ok(fd as u64)
}

/// The counter of a description.
fn counter_of(kernel: &Kernel, description: Id) -> Option<(Id, &Counter)> {
    match kernel.descriptions.get(&description)?.file {
        File::Event(id) => kernel.events.counters.get(&id).map(|counter| (id, counter)),
        _ => None,
    }
}

/// eventfd(2): the whole value, or 1 with `EFD_SEMAPHORE`.
fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    if len < 8 {
        return Err(EINVAL.into());
    }
    let (id, counter) = counter_of(call.kernel, description).ok_or(EINVAL)?;
    let taken = if counter.semaphore { counter.value.min(1) } else { counter.value };
    if taken == 0 {
        return wait_or_again(call, description, Condition::Poll(description, POLLIN));
    }
    change(call.kernel, id, |value| value - taken, POLLOUT);
    Ok(taken.to_le_bytes().to_vec())
}

/// A value of 2^64 - 1 cannot be added; the counter stops at 2^64 - 2 (`eventfd(2)`).
fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    let added = bytes.try_into().map(u64::from_le_bytes).map_err(|_| EINVAL)?;
    let (id, counter) = counter_of(call.kernel, description).ok_or(EINVAL)?;
    if added == u64::MAX {
        return Err(EINVAL.into());
    }
    if added > MAX - counter.value {
        return wait_or_again(call, description, Condition::CounterRoom(id, added));
    }
    change(call.kernel, id, |value| value + added, POLLIN);
    Ok(8)
}

fn wait_or_again<T>(call: &Call<'_>, description: Id, condition: Condition) -> Result<T, Stop> {
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(condition).into())
}

/// The only place where an open counter changes, so that nobody who polls it is forgotten.
fn change(kernel: &mut Kernel, id: Id, to: impl Fn(u64) -> u64, events: u16) {
    let counter = kernel.events.counters.get_mut(&id).expect("an open counter exists");
    counter.value = to(counter.value);
    wake(kernel, File::Event(id), events);
}

/// Whether that much could be added to a counter.
#[must_use]
pub fn has_room(kernel: &Kernel, id: Id, added: u64) -> bool {
    kernel.events.counters.get(&id).is_none_or(|counter| added <= MAX - counter.value)
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let Some((_, counter)) = counter_of(kernel, description) else { return POLLERR };
    let readable = if counter.value > 0 { POLLIN } else { 0 };
    let writable = if counter.value < MAX { POLLOUT } else { 0 };
    readable | writable
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    if let Some((id, _)) = counter_of(kernel, description) {
        kernel.events.counters.remove(&id);
    }
}
