//! Timers of `timer_create(2)`.

use super::alarm::{Alarm, TimeBase};
use super::clocks::{base, monotonic_of};
use super::own_mut;
use super::state::{Notify, Own, Timer};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{EAGAIN, EINVAL, EOPNOTSUPP};
use crate::id::{Pid, Tid};
use crate::process::SignalInfo;
use crate::signal::number::SIGALRM;
use crate::signal::{self, SI_TIMER, Target};

const SIGEV_SIGNAL: u32 = 0;
const SIGEV_NONE: u32 = 1;
const SIGEV_THREAD: u32 = 2;
const SIGEV_THREAD_ID: u32 = 4;

/// `TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;

/// A program that never deletes its timers must not fill our memory.
const COUNT_MAX: usize = 31_000;

impl Timer {
    /// When it fires by itself, on the monotonic clock.
    pub fn deadline(&self, kernel: &Kernel) -> Option<u64> {
        let due = self.alarm.due.filter(|_| !self.alarm.fired && self.notify != Notify::Nothing)?;
        match self.base {
            TimeBase::Monotonic => Some(due),
            TimeBase::Real => Some(monotonic_of(kernel, due)),
            TimeBase::Process(_) | TimeBase::Thread(_) => None,
        }
    }
}

/// `timer_create(2)`.
pub fn timer_create(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, event, address, ..] = call.args;
    let clock = call.int(0);
    let base = base(call, clock)?;
    if matches!(clock, 4..=6) {
        return Err(EOPNOTSUPP.into());
    }
    let own = call.kernel.timers.by_process.get(&call.pid);
    let (id, count) = own.map_or((0, 0), |own| (own.next, own.posix.len()));
    let notify = if event == 0 {
        // Without a choice: SIGALRM, with the timer's number as value.
        Notify::Signal { number: SIGALRM, value: id as u64, thread: None }
    } else {
        load_event(call, event)?
    };
    if count >= COUNT_MAX {
        return Err(EAGAIN.into());
    }
    call.store_u32(address, id as u32)?;
    let own = own_mut(call.kernel, call.pid);
    own.next = id.wrapping_add(1) & i32::MAX;
    own.posix.insert(id, Timer { base, alarm: Alarm::default(), notify, overrun: 0 });
    Ok(0)
}

/// `struct sigevent`.
fn load_event(call: &mut Call<'_>, address: u64) -> Result<Notify, Stop> {
    let value = call.load_u64(address)?;
    let signal = call.load_u32(address.wrapping_add(8))?;
    let notify = call.load_u32(address.wrapping_add(12))?;
    let thread = call.load_u32(address.wrapping_add(16))?;
    let thread = match notify {
        SIGEV_NONE => return Ok(Notify::Nothing),
        SIGEV_SIGNAL | SIGEV_THREAD => None,
        SIGEV_THREAD_ID => {
            let is_ours = call.process().threads.contains(&Tid(thread));
            Some(if is_ours { Tid(thread) } else { return Err(EINVAL.into()) })
        }
        _ => return Err(EINVAL.into()),
    };
    if !(1..=64).contains(&signal) {
        return Err(EINVAL.into());
    }
    Ok(Notify::Signal { number: signal as u8, value, thread })
}

fn timer(call: &Call<'_>) -> Result<Timer, Stop> {
    let own = call.kernel.timers.by_process.get(&call.pid);
    own.and_then(|own: &Own| own.posix.get(&call.int(0)).copied()).ok_or(EINVAL.into())
}

/// `timer_settime(2)`.
pub fn timer_settime(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, flags, new, old, ..] = call.args;
    if new == 0 {
        return Err(EINVAL.into());
    }
    let interval = call.load_timespec(new)?;
    let value = call.load_timespec(new.wrapping_add(16))?;
    let before = timer(call)?;
    let now = before.base.now(call.kernel);
    let alarm = match value {
        0 => Alarm::default(),
        value if flags & ABSOLUTE != 0 => Alarm { due: Some(value), interval, fired: false },
        value => Alarm::after(now, value, interval),
    };
    discard_pending(call.kernel, call.pid, call.int(0));
    let id = call.int(0);
    own_mut(call.kernel, call.pid).posix.insert(id, Timer { alarm, overrun: 0, ..before });
    if old != 0 {
        store(call, old, &before.alarm, now)?;
    }
    Ok(0)
}

/// `timer_gettime(2)`.
pub fn timer_gettime(call: &mut Call<'_>) -> Result<u64, Stop> {
    let timer = timer(call)?;
    let now = timer.base.now(call.kernel);
    store(call, call.args[1], &timer.alarm, now)?;
    Ok(0)
}

/// `struct itimerspec`.
fn store(call: &mut Call<'_>, address: u64, alarm: &Alarm, now: u64) -> Result<(), Stop> {
    // A timer that fired once and for all, or whose time has come unnoticed, has nothing left.
    let is_over = alarm.interval == 0 && alarm.due.is_some_and(|due| now >= due);
    call.store_timespec(address, alarm.interval)?;
    call.store_timespec(address.wrapping_add(16), if is_over { 0 } else { alarm.left(now) })
}

/// `timer_getoverrun(2)`.
pub fn timer_getoverrun(call: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(timer(call)?.overrun as u64)
}

/// `timer_delete(2)`.
pub fn timer_delete(call: &mut Call<'_>) -> Result<u64, Stop> {
    timer(call)?;
    let id = call.int(0);
    discard_pending(call.kernel, call.pid, id);
    own_mut(call.kernel, call.pid).posix.remove(&id);
    Ok(0)
}

/// What a timer sent under its old setting is not delivered any more.
fn discard_pending(kernel: &mut Kernel, pid: Pid, id: i32) {
    let keep = |info: &SignalInfo| info.code != SI_TIMER || info.pid != id as u32;
    let Some(process) = kernel.processes.get_mut(&pid) else { return };
    process.signals.pending.retain(keep);
    for tid in process.threads.clone() {
        kernel.threads.get_mut(&tid).expect("a thread of a process exists").pending.retain(keep);
    }
}

/// Fires what is due.
pub fn expire(kernel: &mut Kernel, pid: Pid) {
    let Some(own) = kernel.timers.by_process.get(&pid) else { return };
    let is_due = |timer: &Timer| timer.notify != Notify::Nothing && timer.alarm.is_due(timer.base.now(kernel));
    let due: Vec<i32> = own.posix.iter().filter(|(_, timer)| is_due(timer)).map(|(id, _)| *id).collect();
    for id in due {
        let timer = own_mut(kernel, pid).posix.get_mut(&id).expect("found above");
        timer.alarm.fired = true;
        let Notify::Signal { number, value, thread } = timer.notify else { continue };
        let info = SignalInfo { number, code: SI_TIMER, pid: id as u32, value, ..SignalInfo::default() };
        let target = thread.map_or(Target::Process(pid), Target::Thread);
        signal::send(kernel, target, info);
    }
}

/// The signal of a timer was taken: the timer goes on, and the signal says how often it fired meanwhile.
pub fn taken(kernel: &mut Kernel, pid: Pid, info: SignalInfo) -> SignalInfo {
    let Some(own) = kernel.timers.by_process.get(&pid) else { return info };
    let Some(timer) = own.posix.get(&(info.pid as i32)) else { return info };
    let now = timer.base.now(kernel);
    let timer = own_mut(kernel, pid).posix.get_mut(&(info.pid as i32)).expect("found above");
    let missed = timer.alarm.rearm(now);
    timer.overrun = i32::try_from(missed).unwrap_or(i32::MAX);
    SignalInfo { uid: timer.overrun as u32, ..info }
}
