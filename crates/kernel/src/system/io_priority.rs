//! `ioprio_set(2)`: remembered, and told again. There is no disk that anybody would wait for.

use super::schedule::{meant, thread, thread_mut};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, EPERM, ESRCH};
use crate::id::Tid;
use crate::thread::{Processor, REAL_TIME, RESET_ON_FORK};

/// Where the class is in a priority; the rest is data of the class.
const CLASS_SHIFT: u16 = 13;
/// The classes: none, real time, best effort, idle.
const CLASS_REAL_TIME: u16 = 1;
const CLASS_BEST_EFFORT: u16 = 2;
const CLASS_IDLE: u16 = 3;
/// `SCHED_IDLE`.
const POLICY_IDLE: u32 = 5;

/// The threads that a call means, by `IOPRIO_WHO_*`; `ESRCH` if there are none.
fn targets(call: &Call<'_>) -> Result<Vec<Tid>, Stop> {
    let targets = meant(call, call.int(0).checked_sub(1).ok_or(EINVAL)?)?;
    if targets.is_empty() { Err(ESRCH.into()) } else { Ok(targets) }
}

/// `ioprio_set(2)`.
pub(super) fn ioprio_set(call: &mut Call<'_>) -> Result<u64, Stop> {
    let priority = call.args[2] as u16;
    let is_allowed = match priority >> CLASS_SHIFT {
        0 => priority == 0,
        CLASS_REAL_TIME if !call.can(Capability::Nice) && !call.can(Capability::Admin) => return Err(EPERM.into()),
        class => class <= CLASS_IDLE,
    };
    if !is_allowed {
        return Err(EINVAL.into());
    }
    for tid in targets(call)? {
        if !may_set(call, tid) {
            return Err(EPERM.into());
        }
        thread_mut(call, tid).processor.io = priority;
    }
    Ok(0)
}

/// The owner of a thread may, and who may set any priority.
fn may_set(call: &Call<'_>, tid: Tid) -> bool {
    let owner = call.kernel.processes.get(&thread(call, tid).pid).expect("a thread has a process").credentials.user[0];
    let [real, effective, ..] = call.process().credentials.user;
    owner == real || owner == effective || call.can(Capability::Nice)
}

/// `ioprio_get(2)`: of one thread what was set; of several the best that they have.
pub(super) fn ioprio_get(call: &mut Call<'_>) -> Result<u64, Stop> {
    let targets = targets(call)?;
    if call.int(0) == 1 {
        return Ok(u64::from(thread(call, targets[0]).processor.io));
    }
    let best = targets.into_iter().map(|tid| effective(thread(call, tid).processor)).min();
    best.map(u64::from).ok_or(ESRCH.into())
}

/// What counts: without a priority of its own a thread has one that follows from how it is scheduled.
fn effective(processor: Processor) -> u16 {
    let class = match processor.policy.0 & !RESET_ON_FORK {
        _ if processor.io != 0 => return processor.io,
        POLICY_IDLE => CLASS_IDLE,
        policy if REAL_TIME.contains(&policy) => CLASS_REAL_TIME,
        _ => CLASS_BEST_EFFORT,
    };
    class << CLASS_SHIFT | ((processor.nice + 20) / 5) as u16
}
