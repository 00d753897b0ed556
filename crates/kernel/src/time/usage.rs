//! Processor time.
//!
//! A thread uses the processor whenever it does not wait, and all of that counts as user time.

use super::timeval::store_timeval;
use super::{SECOND, TICK, TimeBase};
use crate::call::{Call, Stop};
use crate::errno::EINVAL;
use crate::id::Pid;
use crate::process::limit;
use crate::signal::number::{SIGKILL, SIGXCPU};
use crate::{Kernel, Process};

/// Size of `struct rusage`.
const USAGE_SIZE: usize = 144;

/// Processor time of a process, without its children, in nanoseconds.
#[must_use]
pub fn process_time(kernel: &Kernel, process: &Process) -> u64 {
    let now = kernel.clock.now();
    let threads = process.threads.iter().filter_map(|tid| kernel.threads.get(tid));
    process.usage.ended + threads.map(|thread| thread.processor_time(now)).sum::<u64>()
}

/// `RLIMIT_CPU`: a signal for every second above the soft limit, death at the hard one (`getrlimit(2)`).
///
/// The soft limit is raised as it is passed, which is how Linux sends the signal once for each
/// second.
pub fn enforce_limits(kernel: &mut Kernel) {
    let is_over = |process: &Process| {
        let (soft, hard) = process.limits[limit::PROCESSOR];
        let limit = soft.min(hard);
        limit != u64::MAX && !process.is_zombie() && process_time(kernel, process) / SECOND >= limit
    };
    let over: Vec<Pid> =
        kernel.processes.values().filter(|process| is_over(process)).map(|process| process.pid).collect();
    for pid in over {
        let process = kernel.processes.get(&pid).expect("found above");
        let used = process_time(kernel, process) / SECOND;
        let process = kernel.processes.get_mut(&pid).expect("found above");
        let (soft, hard) = &mut process.limits[limit::PROCESSOR];
        let signal = if used >= *hard { SIGKILL } else { SIGXCPU };
        *soft = used + 1;
        super::send(kernel, pid, signal);
    }
}

/// `times(2)`.
pub fn times(call: &mut Call<'_>) -> Result<u64, Stop> {
    let process = call.process();
    let (own, children) = (process_time(call.kernel, process), process.usage.children);
    if call.args[0] != 0 {
        let fields = [own / TICK, 0, children / TICK, 0];
        let bytes: Vec<u8> = fields.into_iter().flat_map(u64::to_le_bytes).collect();
        call.store(call.args[0], &bytes)?;
    }
    Ok(call.kernel.clock.now() / TICK)
}

/// `getrusage(2)`.
pub fn getrusage(call: &mut Call<'_>) -> Result<u64, Stop> {
    let time = match call.int(0) {
        0 => process_time(call.kernel, call.process()),
        -1 => call.process().usage.children,
        1 => TimeBase::Thread(call.tid).now(call.kernel),
        _ => return Err(EINVAL.into()),
    };
    store_usage(call, call.args[1], time)?;
    Ok(0)
}

/// `struct rusage` with this processor time.
pub fn store_usage(call: &mut Call<'_>, address: u64, time: u64) -> Result<(), Stop> {
    call.store(address, &[0; USAGE_SIZE])?;
    store_timeval(call, address, time)
}
