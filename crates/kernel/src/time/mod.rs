//! Clocks, sleeping and timers.
//!
//! Time is virtual: the world lets it pass and then calls [`expire`]; [`next_deadline`] says how far it may jump when
//! nothing else can move. A timer that has fired rests until its signal is taken, as in Linux; so a timer that nobody
//! handles keeps nothing moving.

mod alarm;
mod clocks;
mod interval;
mod posix;
mod sleep;
pub(crate) mod state;
mod timeval;
mod usage;

pub use alarm::TimeBase;
pub use clocks::{monotonic_of, set_clock};
pub use sleep::store_remaining;
pub use state::Timers;
pub use usage::{process_time, store_usage};

use crate::Kernel;
use crate::event;
use crate::id::Pid;
use crate::process::SignalInfo;
use crate::signal::number::SIGALRM;
use crate::signal::{self, SI_TIMER, Target};
use crate::table::footprint::Changers::Threads;
use crate::table::footprint::FootprintRule::{Asks, ChangesProcess, Everything, Local, ReadsClock, Sleeps};
use crate::table::footprint::Subject::Caller;
use crate::table::narration::Words;
use crate::table::syscall::{Argument::*, Row};
use memory::Memory;
use state::Own;

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// Nanoseconds in a clock tick (`sysconf(_SC_CLK_TCK)` is 100).
pub const TICK: u64 = SECOND / 100;

/// Times from here on never come: 292 years, as far as Linux counts (`KTIME_MAX`).
pub const NEVER: u64 = i64::MAX as u64;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(35, "nanosleep", sleep::nanosleep, &[Time, Hex], Sleeps).says(Words::Sleep(0)),
    Row::full(36, "getitimer", interval::getitimer, &[Int, Hex], ChangesProcess),
    Row::full(37, "alarm", interval::alarm, &[Size], ChangesProcess).silent(),
    Row::full(38, "setitimer", interval::setitimer, &[Int, Hex, Hex], ChangesProcess),
    Row::full(96, "gettimeofday", clocks::gettimeofday, &[Hex, Hex], ReadsClock).silent(),
    Row::full(98, "getrusage", usage::getrusage, &[Int, Hex], Asks(Threads, Caller))
        .partial("processor time only, all of it as user time; the other members are 0")
        .silent(),
    Row::full(100, "times", usage::times, &[Hex], Asks(Threads, Caller)).partial("all processor time is user time"),
    Row::full(164, "settimeofday", clocks::settimeofday, &[Hex, Hex], Everything),
    Row::full(201, "time", clocks::time, &[Hex], ReadsClock).silent(),
    Row::full(222, "timer_create", posix::timer_create, &[Clock, Hex, Hex], Everything),
    Row::full(223, "timer_settime", posix::timer_settime, &[Int, Hex, Hex, Hex], Everything),
    Row::full(224, "timer_gettime", posix::timer_gettime, &[Int, Hex], Everything),
    Row::full(225, "timer_getoverrun", posix::timer_getoverrun, &[Int], Everything),
    Row::full(226, "timer_delete", posix::timer_delete, &[Int], Everything),
    Row::full(227, "clock_settime", clocks::clock_settime, &[Clock, Time], Everything),
    Row::full(228, "clock_gettime", clocks::clock_gettime, &[Clock, Hex], ReadsClock).silent(),
    Row::full(229, "clock_getres", clocks::clock_getres, &[Clock, Hex], Local),
    Row::full(230, "clock_nanosleep", sleep::clock_nanosleep, &[Clock, Hex, Time, Hex], Sleeps)
        .partial("not on clocks of processor time")
        .says(Words::SleepUnlessUntil(2)),
];

/// The earliest time, on the monotonic clock, at which a timer fires or a wait ends by itself.
#[must_use]
pub fn next_deadline(kernel: &Kernel) -> Option<u64> {
    let may_run = |pid: Pid| kernel.processes.get(&pid).is_some_and(|process| !process.is_stopped());
    let waits = kernel.threads.values().filter(|thread| may_run(thread.pid));
    // A wait whose moment has come is over: nothing needs to pass for it.
    let waits =
        waits.filter_map(|thread| thread.wait.as_ref()?.deadline).filter(|deadline| *deadline > kernel.clock.now());
    let timers = kernel.timers.by_process.values().flat_map(|own| own.deadlines(kernel));
    waits.chain(timers).chain(event::next_deadline(kernel)).filter(|deadline| *deadline < NEVER).min()
}

/// When timers of a process will send signals by themselves.
pub fn alarms(kernel: &Kernel, pid: Pid) -> impl Iterator<Item = u64> {
    kernel.timers.by_process.get(&pid).into_iter().flat_map(|own| own.deadlines(kernel))
}

/// Whether a timer of a process will send a signal by itself.
#[must_use]
pub fn has_alarm(kernel: &Kernel, pid: Pid) -> bool {
    alarms(kernel, pid).next().is_some()
}

impl Own {
    /// What will fire by itself while all wait: timers of processor time do not.
    fn deadlines(&self, kernel: &Kernel) -> impl Iterator<Item = u64> {
        let real = Some(self.interval[0]).filter(|alarm| !alarm.fired).and_then(|alarm| alarm.due);
        let posix = self.posix.values().filter_map(|timer| timer.deadline(kernel));
        real.into_iter().chain(posix)
    }
}

/// Fires all timers that are due.
pub fn expire(kernel: &mut Kernel, _: &mut Memory) {
    let pids: Vec<Pid> = kernel.timers.by_process.keys().copied().collect();
    for pid in pids {
        interval::expire(kernel, pid);
        posix::expire(kernel, pid);
    }
    usage::enforce_limits(kernel);
    event::expire(kernel);
}

/// A signal was taken: the timer that sent it goes on, and tells how often it fired meanwhile.
pub fn taken(kernel: &mut Kernel, pid: Pid, info: SignalInfo) -> SignalInfo {
    if !kernel.timers.by_process.contains_key(&pid) {
        return info;
    }
    match (info.code, info.number) {
        (SI_TIMER, _) => posix::taken(kernel, pid, info),
        (_, SIGALRM) => {
            interval::taken(kernel, pid);
            info
        }
        _ => info,
    }
}

/// A process has ended: its timers are gone.
pub fn forget(kernel: &mut Kernel, pid: Pid) {
    kernel.timers.by_process.remove(&pid);
}

/// A process has executed: `timer_create(2)`'s timers are gone, the interval timers stay (`execve(2)`).
pub fn forget_posix(kernel: &mut Kernel, pid: Pid) {
    if let Some(own) = kernel.timers.by_process.get_mut(&pid) {
        own.posix.clear();
    }
    tidy(kernel, pid);
}

/// The timers of a process, made if there are none.
fn own_mut(kernel: &mut Kernel, pid: Pid) -> &mut Own {
    let timers = &mut kernel.timers.by_process;
    if !timers.contains_key(&pid) {
        timers.insert(pid, Own::default());
    }
    timers.get_mut(&pid).expect("made above")
}

/// Nothing is kept about a process that never had a timer worth keeping.
fn tidy(kernel: &mut Kernel, pid: Pid) {
    if kernel.timers.by_process.get(&pid).is_some_and(|own| *own == Own::default()) {
        kernel.timers.by_process.remove(&pid);
    }
}

fn send(kernel: &mut Kernel, pid: Pid, number: u8) {
    signal::send(kernel, Target::Process(pid), SignalInfo::kernel(number));
}
