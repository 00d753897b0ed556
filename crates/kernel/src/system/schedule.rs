//! Scheduling. Any thread that can go on may be next, whatever its priority: that is what a check is about.

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EACCES, EINVAL, EPERM, ESRCH};
use crate::id::{Pid, Tid};
use crate::thread::{REAL_TIME, RESET_ON_FORK};
use crate::{Process, Thread};

/// What of scheduling is not modelled.
pub const NOTE: &str = "remembered, but any thread that can go on may be next";

/// One processor: fewer threads in programs that ask, and smaller states.
const PROCESSORS: u64 = 1;

/// `sched_yield(2)`.
pub fn sched_yield(_: &mut Call<'_>) -> Result<u64, Stop> {
    Ok(0)
}

/// The thread that an argument means; 0 for the caller.
fn target(call: &Call<'_>, value: u64) -> Result<Tid, Stop> {
    if (value as i32) < 0 { Err(EINVAL.into()) } else { any_target(call, value) }
}

/// The same, where a negative number is as good as any that nobody has.
fn any_target(call: &Call<'_>, value: u64) -> Result<Tid, Stop> {
    let tid = if value as u32 == 0 { call.tid } else { Tid(value as u32) };
    if call.kernel.threads.contains_key(&tid) { Ok(tid) } else { Err(ESRCH.into()) }
}

pub(super) fn thread<'a>(call: &'a Call<'_>, tid: Tid) -> &'a Thread {
    call.kernel.threads.get(&tid).expect("the target exists")
}

pub(super) fn thread_mut<'a>(call: &'a mut Call<'_>, tid: Tid) -> &'a mut Thread {
    call.kernel.threads.get_mut(&tid).expect("the target exists")
}

/// Whether the caller may change how a thread is scheduled.
fn may_change(call: &Call<'_>, tid: Tid) -> bool {
    let owner = call.kernel.processes.get(&thread(call, tid).pid).expect("a thread has a process");
    let [_, effective, ..] = call.process().credentials.user;
    let [real, their_effective, ..] = owner.credentials.user;
    call.can(Capability::Nice) || effective == real || effective == their_effective
}

/// `sched_getaffinity(2)`: gives back how many bytes it wrote.
pub fn sched_getaffinity(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, size, address, ..] = call.args;
    if size < 8 && size * 8 < PROCESSORS || !size.is_multiple_of(8) || size == 0 {
        return Err(EINVAL.into());
    }
    any_target(call, pid)?;
    call.store_u64(address, (1 << PROCESSORS) - 1)?;
    Ok(8)
}

/// `sched_setaffinity(2)`: the one processor must be among those that are wanted.
pub fn sched_setaffinity(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, size, address, ..] = call.args;
    let bytes = call.load_bytes(address, size.min(8) as usize)?;
    let tid = any_target(call, pid)?;
    if !may_change(call, tid) {
        return Err(EPERM.into());
    }
    if bytes.first().is_some_and(|byte| byte & 1 == 1) { Ok(0) } else { Err(EINVAL.into()) }
}

/// `getcpu(2)`.
pub fn getcpu(call: &mut Call<'_>) -> Result<u64, Stop> {
    for address in [call.args[0], call.args[1]].into_iter().filter(|address| *address != 0) {
        call.store_u32(address, 0)?;
    }
    Ok(0)
}

/// `sched_getscheduler(2)`.
pub fn sched_getscheduler(call: &mut Call<'_>) -> Result<u64, Stop> {
    let tid = target(call, call.args[0])?;
    Ok(u64::from(thread(call, tid).processor.policy.0))
}

/// `sched_setscheduler(2)`.
pub fn sched_setscheduler(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, policy, address, ..] = call.args;
    if (policy as i32) < 0 || address == 0 {
        return Err(EINVAL.into());
    }
    let priority = call.load_u32(address)?;
    let tid = target(call, pid)?;
    set_policy(call, tid, policy as u32, priority)
}

/// `sched_setparam(2)`.
pub fn sched_setparam(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, address, ..] = call.args;
    if address == 0 || (pid as i32) < 0 {
        return Err(EINVAL.into());
    }
    let priority = call.load_u32(address)?;
    let tid = target(call, pid)?;
    let policy = thread(call, tid).processor.policy.0;
    set_policy(call, tid, policy, priority)
}

fn set_policy(call: &mut Call<'_>, tid: Tid, policy: u32, priority: u32) -> Result<u64, Stop> {
    let kind = policy & !RESET_ON_FORK;
    let is_real_time = REAL_TIME.contains(&kind);
    let is_valid = match kind {
        1 | 2 => (1..=99).contains(&priority),
        0 | 3 | 5 => priority == 0,
        _ => false,
    };
    if !is_valid {
        return Err(EINVAL.into());
    }
    let is_superuser = call.can(Capability::Nice);
    if !is_superuser && (is_real_time || !may_change(call, tid)) {
        return Err(EPERM.into());
    }
    thread_mut(call, tid).processor.policy = (policy, priority);
    Ok(0)
}

/// `sched_getparam(2)`.
pub fn sched_getparam(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, address, ..] = call.args;
    if address == 0 {
        return Err(EINVAL.into());
    }
    let tid = target(call, pid)?;
    let priority = thread(call, tid).processor.policy.1;
    call.store_u32(address, priority)?;
    Ok(0)
}

/// `sched_get_priority_max(2)`.
pub fn sched_get_priority_max(call: &mut Call<'_>) -> Result<u64, Stop> {
    priority_bound(call, 99)
}

/// `sched_get_priority_min(2)`.
pub fn sched_get_priority_min(call: &mut Call<'_>) -> Result<u64, Stop> {
    priority_bound(call, 1)
}

fn priority_bound(call: &Call<'_>, bound: u64) -> Result<u64, Stop> {
    match call.int(0) {
        1 | 2 => Ok(bound),
        0 | 3 | 5 | 6 => Ok(0),
        _ => Err(EINVAL.into()),
    }
}

/// `sched_rr_get_interval(2)`.
pub fn sched_rr_get_interval(call: &mut Call<'_>) -> Result<u64, Stop> {
    let tid = target(call, call.args[0])?;
    let slice = match thread(call, tid).processor.policy.0 {
        1 => 0,
        2 => 100_000_000,
        _ => 4_000_000,
    };
    call.store_timespec(call.args[1], slice)?;
    Ok(0)
}

/// The threads that `getpriority(2)` means: of a process (here: a thread), a group, a user.
pub(super) fn meant(call: &Call<'_>, which: i32) -> Result<Vec<Tid>, Stop> {
    let who = call.args[1] as u32;
    let is_meant: Box<dyn Fn(&Process) -> bool> = match which {
        0 => return Ok(target(call, call.args[1]).into_iter().collect()),
        1 => {
            let group = if who == 0 { call.process().group } else { Pid(who) };
            Box::new(move |process| process.group == group)
        }
        2 => {
            let user = if who == 0 { call.process().credentials.user[0] } else { who };
            Box::new(move |process| process.credentials.user[0] == user)
        }
        _ => return Err(EINVAL.into()),
    };
    let processes = call.kernel.processes.values().filter(|process| is_meant(process));
    Ok(processes.flat_map(|process| process.threads.iter().copied()).collect())
}

/// `getpriority(2)`: the kernel's answer runs from 40 (urgent) to 1.
pub fn getpriority(call: &mut Call<'_>) -> Result<u64, Stop> {
    let nice = meant(call, call.int(0))?.into_iter().map(|tid| thread(call, tid).processor.nice).min();
    nice.map(|nice| (20 - nice) as u64).ok_or(ESRCH.into())
}

/// `setpriority(2)`.
pub fn setpriority(call: &mut Call<'_>) -> Result<u64, Stop> {
    let nice = call.int(2).clamp(-20, 19);
    let targets = meant(call, call.int(0))?;
    if targets.is_empty() {
        return Err(ESRCH.into());
    }
    let is_superuser = call.can(Capability::Nice);
    for tid in targets {
        if !may_change(call, tid) {
            return Err(EPERM.into());
        }
        if nice < thread(call, tid).processor.nice && !is_superuser {
            return Err(EACCES.into());
        }
        thread_mut(call, tid).processor.nice = nice;
    }
    Ok(0)
}
