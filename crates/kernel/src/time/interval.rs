//! Interval timers: `setitimer(2)`, `alarm(2)`.

use super::alarm::{Alarm, TimeBase};
use super::timeval::{load_timeval, store_timeval};
use super::{SECOND, own_mut, send, tidy};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::EINVAL;
use crate::id::Pid;
use crate::signal::number::{SIGALRM, SIGPROF, SIGVTALRM};

/// Which clock each of the three timers counts by, and what it sends.
fn row(pid: Pid, which: usize) -> (TimeBase, u8) {
    match which {
        0 => (TimeBase::Monotonic, SIGALRM),
        1 => (TimeBase::Process(pid), SIGVTALRM),
        _ => (TimeBase::Process(pid), SIGPROF),
    }
}

fn which(call: &Call<'_>) -> Result<usize, Stop> {
    match call.int(0) {
        which @ 0..=2 => Ok(which as usize),
        _ => Err(EINVAL.into()),
    }
}

/// Time left and interval.
fn current(kernel: &Kernel, pid: Pid, which: usize) -> (u64, u64) {
    let now = row(pid, which).0.now(kernel);
    let alarm = kernel.timers.by_process.get(&pid).map(|own| own.interval[which]).unwrap_or_default();
    (alarm.left(now), alarm.interval)
}

fn set(kernel: &mut Kernel, pid: Pid, which: usize, after: u64, interval: u64) {
    let now = row(pid, which).0.now(kernel);
    // Without a first expiration there are no later ones.
    let interval = if after == 0 { 0 } else { interval };
    own_mut(kernel, pid).interval[which] = Alarm::after(now, after, interval);
    tidy(kernel, pid);
}

/// `getitimer(2)`.
pub fn getitimer(call: &mut Call<'_>) -> Result<u64, Stop> {
    let which = which(call)?;
    let (left, interval) = current(call.kernel, call.pid, which);
    store(call, call.args[1], left, interval)?;
    Ok(0)
}

/// `setitimer(2)`.
pub fn setitimer(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, new, old, ..] = call.args;
    // A null pointer disarms, for old programs.
    let (interval, after) = match new {
        0 => (0, 0),
        address => (load_timeval(call, address)?, load_timeval(call, address.wrapping_add(16))?),
    };
    let which = which(call)?;
    let (left, old_interval) = current(call.kernel, call.pid, which);
    set(call.kernel, call.pid, which, after, interval);
    if old != 0 {
        store(call, old, left, old_interval)?;
    }
    Ok(0)
}

/// `struct itimerval`; a timer that is about to fire shows at least one microsecond.
fn store(call: &mut Call<'_>, address: u64, left: u64, interval: u64) -> Result<(), Stop> {
    let left = if left == 0 { 0 } else { left.max(1000) };
    store_timeval(call, address, interval)?;
    store_timeval(call, address.wrapping_add(16), left)
}

/// `alarm(2)`.
pub fn alarm(call: &mut Call<'_>) -> Result<u64, Stop> {
    let seconds = u64::from(call.args[0] as u32);
    let (left, _) = current(call.kernel, call.pid, 0);
    set(call.kernel, call.pid, 0, seconds * SECOND, 0);
    // A pending alarm is never reported as none; else rounded to the nearest second.
    Ok(if left == 0 { 0 } else { (left.saturating_add(SECOND / 2) / SECOND).max(1) })
}

/// Fires what is due.
pub fn expire(kernel: &mut Kernel, pid: Pid) {
    for which in 0..3 {
        let (base, signal) = row(pid, which);
        let now = base.now(kernel);
        let Some(own) = kernel.timers.by_process.get(&pid) else { return };
        if !own.interval[which].is_due(now) {
            continue;
        }
        let alarm = &mut own_mut(kernel, pid).interval[which];
        if base == TimeBase::Monotonic && alarm.interval > 0 {
            alarm.fired = true;
        } else {
            // The timers of processor time go on by themselves.
            alarm.rearm(now);
        }
        send(kernel, pid, signal);
    }
    tidy(kernel, pid);
}

/// `SIGALRM` was taken: `ITIMER_REAL` goes on.
pub fn taken(kernel: &mut Kernel, pid: Pid) {
    let now = kernel.clock.now();
    let alarm = &mut own_mut(kernel, pid).interval[0];
    if alarm.fired {
        alarm.rearm(now);
    }
}
