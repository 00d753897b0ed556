//! `timerfd_create(2)` and its kin.

use super::timer::Timer;
use super::wake::wake;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{At, Description, File, O_CLOEXEC, O_NONBLOCK, O_RDWR, Operations, POLLIN, noop_seek, refuse};
use crate::errno::{EAGAIN, EINVAL};
use crate::id::Id;
use crate::wait::{Condition, Wait};
use memory::Memory;

/// `TFD_TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;
/// `TFD_TIMER_CANCEL_ON_SET`.
const CANCEL_ON_SET: u64 = 2;

/// What timer descriptors can do.
pub static OPERATIONS: Operations =
    Operations { read, write: refuse::write, poll, ioctl: refuse::ioctl, close, seek: noop_seek };

/// Fires all timers that are due.
pub fn expire(kernel: &mut Kernel) {
    let now = kernel.clock.now();
    let is_due = |timer: &Timer| timer.deadline(&kernel.clock).is_some_and(|deadline| deadline <= now);
    let due: Vec<Id> = kernel.events.timers.iter().filter(|(_, timer)| is_due(timer)).map(|(id, _)| *id).collect();
    for id in due {
        let timer = kernel.events.timers.get_mut(&id).expect("it was just listed");
        timer.fired = true;
        timer.ticks += 1;
        wake(kernel, File::Timer(id), POLLIN);
    }
}

/// `timerfd_create(2)`.
pub fn create(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[1] as u32;
    // CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME; the alarm clocks would wake a machine that never sleeps.
    let real = match call.int(0) {
        0 => true,
        1 | 7 => false,
        8 | 9 => return call.unsupported("alarm clock"),
        _ => return Err(EINVAL.into()),
    };
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    let id = call.fresh_id();
    let description = Description::new(File::Timer(id), O_RDWR | flags & O_NONBLOCK, b"anon_inode:[timerfd]".to_vec());
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    call.kernel.events.timers.insert(id, Timer { real, ..Timer::default() });
    Ok(fd as u64)
}

fn timer_of(kernel: &Kernel, description: Id) -> Option<(Id, &Timer)> {
    match kernel.descriptions.get(&description)?.file {
        File::Timer(id) => kernel.events.timers.get(&id).map(|timer| (id, timer)),
        _ => None,
    }
}

/// The timer behind the call's first argument.
fn timer_argument(call: &Call<'_>) -> Result<Id, Stop> {
    let description = call.description_of(call.int(0))?;
    Ok(timer_of(call.kernel, description).ok_or(EINVAL)?.0)
}

/// `timerfd_settime(2)`.
pub fn set_time(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, flags, new, old, ..] = call.args;
    let interval = call.load_timespec(new)?;
    let value = call.load_timespec(new.wrapping_add(16))?;
    if flags & !(ABSOLUTE | CANCEL_ON_SET) != 0 {
        return Err(EINVAL.into());
    }
    if flags & CANCEL_ON_SET != 0 {
        return call.unsupported("TFD_TIMER_CANCEL_ON_SET");
    }
    let id = timer_argument(call)?;
    let before = set(call, id, interval, value, flags & ABSOLUTE != 0);
    if old != 0 {
        store_setting(call, old, before)?;
    }
    if flags & ABSOLUTE != 0 && value != 0 {
        expire(call.kernel);
    }
    Ok(0)
}

/// Arms or disarms; the interval and remaining time of before.
fn set(call: &mut Call<'_>, id: Id, interval: u64, value: u64, absolute: bool) -> (u64, u64) {
    let clock = call.kernel.clock;
    let timer = call.kernel.events.timers.get_mut(&id).expect("the caller has it open");
    timer.catch_up(&clock);
    let before = (timer.interval, timer.left(&clock));
    let due_real = timer.real && absolute;
    let due = if absolute { value } else { clock.now().saturating_add(value) };
    *timer = Timer { real: timer.real, due_real, due: (value != 0).then_some(due), interval, fired: false, ticks: 0 };
    before
}

/// `timerfd_gettime(2)`.
pub fn get_time(call: &mut Call<'_>) -> Result<u64, Stop> {
    let id = timer_argument(call)?;
    let clock = call.kernel.clock;
    let timer = call.kernel.events.timers.get_mut(&id).expect("the caller has it open");
    timer.catch_up(&clock);
    let setting = (timer.interval, timer.left(&clock));
    store_setting(call, call.args[1], setting)?;
    Ok(0)
}

/// Writes a `struct itimerspec`.
fn store_setting(call: &mut Call<'_>, address: u64, (interval, left): (u64, u64)) -> Result<(), Stop> {
    call.store_timespec(address, interval)?;
    call.store_timespec(address.wrapping_add(16), left)
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let (id, timer) = timer_of(call.kernel, description).ok_or(EINVAL)?;
    if len < 8 {
        return Err(EINVAL.into());
    }
    if timer.ticks == 0 {
        if call.description(description).is_nonblocking() {
            return Err(EAGAIN.into());
        }
        return Err(Wait::until(Condition::Poll(description, POLLIN)).into());
    }
    let clock = call.kernel.clock;
    let timer = call.kernel.events.timers.get_mut(&id).expect("it was just found");
    timer.catch_up(&clock);
    Ok(std::mem::take(&mut timer.ticks).to_le_bytes().to_vec())
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    timer_of(kernel, description).filter(|(_, timer)| timer.ticks > 0).map_or(0, |_| POLLIN)
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    if let Some((id, _)) = timer_of(kernel, description) {
        kernel.events.timers.remove(&id);
    }
}
