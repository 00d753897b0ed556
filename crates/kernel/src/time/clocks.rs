//! Reading and setting clocks.

use super::alarm::TimeBase;
use super::timeval::{load_timeval, store_timeval};
use super::{NEVER, SECOND, expire, usage};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, EPERM};
use crate::id::{Pid, Tid};
use crate::{Kernel, Process, Thread};
use memory::Memory;

/// The period of the coarse clocks: a kernel of 250 Hz.
const COARSE: u64 = 4_000_000;

impl TimeBase {
    /// What the clock shows.
    #[must_use]
    pub fn now(self, kernel: &Kernel) -> u64 {
        match self {
            Self::Real => kernel.clock.real(),
            Self::Monotonic => kernel.clock.now(),
            Self::Process(pid) => {
                kernel.processes.get(&pid).map_or(0, |process: &Process| usage::process_time(kernel, process))
            }
            Self::Thread(tid) => kernel.threads.get(&tid).map_or(0, |thread| thread.processor_time(kernel.clock.now())),
        }
    }
}

/// When the monotonic clock will show what the real-time clock shows at `real`.
#[must_use]
pub fn monotonic_of(kernel: &Kernel, real: u64) -> u64 {
    real.saturating_sub(kernel.clock.real() - kernel.clock.now())
}

/// What a clock's number means; `EINVAL` if nothing.
pub fn base(call: &Call<'_>, id: i32) -> Result<TimeBase, Stop> {
    Ok(match id {
        0 | 5 | 8 | 11 => TimeBase::Real,
        1 | 4 | 6 | 7 | 9 => TimeBase::Monotonic,
        2 => TimeBase::Process(call.pid),
        3 => TimeBase::Thread(call.tid),
        ..0 => return processor_clock(call, id),
        _ => return Err(EINVAL.into()),
    })
}

/// `clock_getcpuclockid(3)`, `pthread_getcpuclockid(3)`: a process's or thread's number, inverted, in the upper bits.
fn processor_clock(call: &Call<'_>, id: i32) -> Result<TimeBase, Stop> {
    let number = !(id >> 3) as u32;
    let is_thread = id & 4 != 0;
    match id & 3 {
        3 => call.unsupported("a clock behind a descriptor"),
        _ if is_thread => {
            let tid = if number == 0 { call.tid } else { Tid(number) };
            let is_ours = call.kernel.threads.get(&tid).is_some_and(|thread| thread.pid == call.pid);
            if is_ours { Ok(TimeBase::Thread(tid)) } else { Err(EINVAL.into()) }
        }
        _ => {
            let pid = if number == 0 { call.pid } else { Pid(number) };
            if call.kernel.processes.contains_key(&pid) { Ok(TimeBase::Process(pid)) } else { Err(EINVAL.into()) }
        }
    }
}

fn is_coarse(id: i32) -> bool {
    matches!(id, 5 | 6)
}

/// `clock_gettime(2)`.
pub fn clock_gettime(call: &mut Call<'_>) -> Result<u64, Stop> {
    let id = call.int(0);
    let now = base(call, id)?.now(call.kernel);
    let now = if is_coarse(id) { now - now % COARSE } else { now };
    call.store_timespec(call.args[1], now)?;
    Ok(0)
}

/// `clock_getres(2)`.
pub fn clock_getres(call: &mut Call<'_>) -> Result<u64, Stop> {
    let id = call.int(0);
    base(call, id)?;
    if call.args[1] != 0 {
        call.store_timespec(call.args[1], if is_coarse(id) { COARSE } else { 1 })?;
    }
    Ok(0)
}

/// `clock_settime(2)`: of all clocks only the real-time one can be set.
pub fn clock_settime(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.int(0) != 0 {
        base(call, call.int(0))?;
        return Err(EINVAL.into());
    }
    let real = call.load_timespec(call.args[1])?;
    set_real(call, real)
}

fn set_real(call: &mut Call<'_>, real: u64) -> Result<u64, Stop> {
    if !call.can(Capability::Time) {
        return Err(EPERM.into());
    }
    // Time before boot cannot be, and neither can the end of time in a program's life.
    const YEARS: u64 = 30 * 365 * 86_400 * SECOND;
    if real < call.kernel.clock.now() || real > NEVER - YEARS {
        return Err(EINVAL.into());
    }
    set_clock(call.kernel, call.memory, real);
    Ok(0)
}

/// Sets the real-time clock. Waits and timers that end at one of its times end earlier or later then.
pub fn set_clock(kernel: &mut Kernel, memory: &mut Memory, real: u64) {
    let before = kernel.clock.real();
    kernel.clock.set_real(real);
    let waits: Vec<Tid> = kernel.threads.iter().filter(|(_, thread)| is_real(thread)).map(|(tid, _)| *tid).collect();
    for tid in waits {
        let wait = kernel.threads.get_mut(&tid).and_then(|thread| thread.wait.as_mut());
        let deadline = wait.and_then(|wait| wait.deadline.as_mut()).expect("it has one");
        *deadline = deadline.saturating_add(before).saturating_sub(real);
    }
    expire(kernel, memory);
}

/// Whether a thread waits until a time of the real-time clock.
fn is_real(thread: &Thread) -> bool {
    thread.wait.as_ref().is_some_and(|wait| wait.is_real && wait.deadline.is_some())
}

/// `gettimeofday(2)`.
pub fn gettimeofday(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [time, zone, ..] = call.args;
    let real = call.kernel.clock.real();
    if time != 0 {
        store_timeval(call, time, real)?;
    }
    if zone != 0 {
        call.store_u64(zone, 0)?;
    }
    Ok(0)
}

/// `settimeofday(2)`.
pub fn settimeofday(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [time, zone, ..] = call.args;
    if zone != 0 {
        return call.unsupported("a time zone of the kernel");
    }
    if time == 0 {
        return Ok(0);
    }
    let real = load_timeval(call, time)?;
    set_real(call, real)
}

/// `time(2)`.
pub fn time(call: &mut Call<'_>) -> Result<u64, Stop> {
    let seconds = call.kernel.clock.real() / SECOND;
    if call.args[0] != 0 {
        call.store_u64(call.args[0], seconds)?;
    }
    Ok(seconds)
}
