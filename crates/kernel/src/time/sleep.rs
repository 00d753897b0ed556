//! Sleeping.
//!
//! Time is virtual: a sleep is a deadline on the clock of the world, which advances in steps of its
//! own and never by itself. Absolute and relative sleeps differ only in how the deadline is found.

use super::clocks::{base, monotonic_of};
use super::{SECOND, TimeBase};
use crate::call::{Call, Stop};
use crate::errno::{EFAULT, EINTR, EOPNOTSUPP, Errno};
use crate::wait::{Interruption, Wait};
use crate::{Kernel, Tid};
use memory::Memory;

/// `TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;

/// `nanosleep(2)`.
pub fn nanosleep(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [request, remaining, ..] = call.args;
    let now = call.kernel.clock.now();
    let deadline = |call: &mut Call<'_>| call.load_timespec(request).map(|length| now.saturating_add(length));
    sleep(call, deadline, false, Interruption::Remaining { address: remaining })
}

/// `clock_nanosleep(2)`.
pub fn clock_nanosleep(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, flags, request, remaining, ..] = call.args;
    let id = call.int(0);
    let base = base(call, id)?;
    match base {
        // MONOTONIC_RAW and the coarse clocks cannot wake anybody, and neither can a thread's own.
        _ if matches!(id, 4..=6) => return Err(EOPNOTSUPP.into()),
        TimeBase::Thread(_) if id == 3 => return Err(EOPNOTSUPP.into()),
        TimeBase::Process(_) | TimeBase::Thread(_) => return call.unsupported("sleep on a clock of processor time"),
        TimeBase::Real | TimeBase::Monotonic => {}
    }
    let deadline = |call: &mut Call<'_>| {
        let time = call.load_timespec(request)?;
        Ok(match base {
            _ if flags & ABSOLUTE == 0 => call.kernel.clock.now().saturating_add(time),
            TimeBase::Real => monotonic_of(call.kernel, time),
            _ => time,
        })
    };
    let is_relative = flags & ABSOLUTE == 0;
    let is_real = base == TimeBase::Real && !is_relative;
    sleep(
        call,
        deadline,
        is_real,
        if is_relative { Interruption::Remaining { address: remaining } } else { Interruption::Fail },
    )
}

/// Waits until the first deadline that was computed; a sleep that is redone keeps it (`restart_syscall(2)`).
///
/// The first deadline is kept when the call is redone, as Linux does through `restart_block`: a
/// sleep that is interrupted by signals again and again still ends.
fn sleep(
    call: &mut Call<'_>,
    first: impl FnOnce(&mut Call<'_>) -> Result<u64, Stop>,
    is_real: bool,
    interruption: Interruption,
) -> Result<u64, Stop> {
    let deadline = match call.resumed.as_ref().and_then(|wait| wait.deadline) {
        Some(deadline) => deadline,
        None => first(call)?,
    };
    if call.kernel.clock.now() >= deadline {
        return Ok(0);
    }
    Err(Wait::any(Vec::new()).deadline(Some(deadline)).real(is_real).interruption(interruption).into())
}

/// Writes what is left of an interrupted wait, if the program gave an address; what the call fails with.
pub fn store_remaining(kernel: &Kernel, memory: &mut Memory, tid: Tid, address: u64, left: u64) -> Errno {
    let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
    let Some(process) = process.filter(|_| address != 0) else { return EINTR };
    let bytes = [(left / SECOND).to_le_bytes(), (left % SECOND).to_le_bytes()].concat();
    memory.write(process.space, address, &bytes).map_or(EFAULT, |()| EINTR)
}
