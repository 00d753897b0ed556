//! Sending signals: who gets them, what is dropped, what happens at once.

use super::info::SI_TIMER;
use super::number::{Default, FIRST_REAL_TIME, SIGCHLD, SIGCONT, SIGKILL, STOPS, Set, bit, default};
use crate::id::{Pid, Tid};
use crate::process::{Process, SignalInfo, State, limit};
use crate::{Kernel, event};

/// `SIG_DFL`.
pub const SIG_DFL: u64 = 0;
/// `SIG_IGN`.
pub const SIG_IGN: u64 = 1;

/// `SA_NOCLDSTOP`.
const NO_CHILD_STOP: u64 = 1;

/// `CLD_CONTINUED`.
const CLD_CONTINUED: i32 = 6;

/// Who a signal is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A process: any of its threads that does not block it.
    Process(Pid),
    /// One thread.
    Thread(Tid),
    /// Every process of a group.
    Group(Pid),
}

/// Sends a signal, whatever the permissions. Nothing happens to processes that have ended.
pub fn send(kernel: &mut Kernel, target: Target, info: SignalInfo) {
    match target {
        Target::Process(pid) => to_process(kernel, pid, info),
        Target::Thread(tid) => to_thread(kernel, tid, info),
        Target::Group(group) => {
            for pid in members(kernel, group) {
                to_process(kernel, pid, info);
            }
        }
    }
    event::signal_sent(kernel, info.number);
}

/// The living processes of a group, by number.
#[must_use]
pub fn members(kernel: &Kernel, group: Pid) -> Vec<Pid> {
    let living = kernel.processes.values().filter(|process| process.group == group && !process.is_zombie());
    living.map(|process| process.pid).collect()
}

/// Which thread's mask decides whether an ignored signal is dropped: Linux asks the thread that
/// `kill(2)` names, which is the first one.
fn to_process(kernel: &mut Kernel, pid: Pid, info: SignalInfo) {
    let Some(process) = kernel.processes.get(&pid).filter(|process| !process.is_zombie()) else { return };
    let Some(&first) = process.threads.first() else { return };
    let main = if process.threads.contains(&Tid(pid.0)) { Tid(pid.0) } else { first };
    if !prepare(kernel, pid, main, info.number) {
        return;
    }
    let process = kernel.processes.get_mut(&pid).expect("looked at above");
    let room = process.limits[limit::SIGNALS].0;
    enqueue(&mut process.signals.pending, info, room);
}

fn to_thread(kernel: &mut Kernel, tid: Tid, info: SignalInfo) {
    let Some(pid) = kernel.threads.get(&tid).map(|thread| thread.pid) else { return };
    if prepare(kernel, pid, tid, info.number) {
        let room = kernel.processes.get(&pid).expect("a thread has a process").limits[limit::SIGNALS].0;
        enqueue(&mut kernel.threads.get_mut(&tid).expect("looked at above").pending, info, room);
    }
}

/// Standard signals that are already pending are not queued again (`signal(7)`). A timer's signal always is: the timer rests
/// until it is taken, so there is one of each at most. Real-time signals are queued while there is room
/// (`RLIMIT_SIGPENDING`).
fn enqueue(pending: &mut Vec<SignalInfo>, info: SignalInfo, room: u64) {
    let is_known = pending.iter().any(|old| old.number == info.number);
    let may_queue = info.number >= FIRST_REAL_TIME && (pending.len() as u64) < room;
    if may_queue || info.code == SI_TIMER || !is_known {
        pending.push(info);
    }
}

/// Whether another real-time signal could be queued for a process or thread (`sigqueue(3)`, `EAGAIN`).
#[must_use]
pub fn has_room(kernel: &Kernel, target: Target) -> bool {
    let thread = |tid: Tid| kernel.threads.get(&tid);
    let process = |pid: Pid| kernel.processes.get(&pid);
    let (pending, owner) = match target {
        Target::Thread(tid) => (thread(tid).map(|thread| &thread.pending), thread(tid).map(|thread| thread.pid)),
        Target::Process(pid) | Target::Group(pid) => (process(pid).map(|owner| &owner.signals.pending), Some(pid)),
    };
    let room = owner.and_then(process).map_or(0, |owner| owner.limits[limit::SIGNALS].0);
    pending.is_some_and(|pending| (pending.len() as u64) < room)
}

/// What sending does at once, even if the signal is blocked or ignored; tells whether the signal is to be queued.
///
/// "SIGCONT ... pending stop signals are discarded, and vice versa" (POSIX, "Signal Concepts"), at
/// the moment of sending and even if blocked.
fn prepare(kernel: &mut Kernel, pid: Pid, tid: Tid, number: u8) -> bool {
    if number == SIGKILL {
        // Stopped or not, it has to end.
        kernel.processes.get_mut(&pid).expect("the caller looked").state = State::Running;
    } else if number == SIGCONT {
        discard(kernel, pid, STOPS);
        resume(kernel, pid);
    } else if STOPS & bit(number) != 0 {
        discard(kernel, pid, bit(SIGCONT));
    }
    let blocked = kernel.threads.get(&tid).map_or(0, |thread| thread.blocked);
    let process = kernel.processes.get(&pid).expect("the caller looked");
    blocked & bit(number) != 0 || !is_ignored(process, number)
}

/// Lets a stopped process go on.
fn resume(kernel: &mut Kernel, pid: Pid) {
    let process = kernel.processes.get_mut(&pid).expect("a living process");
    if process.is_stopped() {
        process.state = State::Running;
        process.continued = true;
        tell_parent(kernel, pid, CLD_CONTINUED, SIGCONT);
    }
}

/// `SIGCHLD` about a stop, unless the parent does not want to know (`SA_NOCLDSTOP`).
pub(super) fn tell_parent(kernel: &mut Kernel, pid: Pid, code: i32, signal: u8) {
    let process = kernel.processes.get(&pid).expect("a living process");
    let parent = process.parent;
    let uid = process.credentials.user[0];
    let info =
        SignalInfo { number: SIGCHLD, code, pid: pid.0, uid, status: i32::from(signal), ..SignalInfo::default() };
    let wants = |parent: &Process| parent.signals.actions[usize::from(SIGCHLD)].flags & NO_CHILD_STOP == 0;
    if kernel.processes.get(&parent).is_some_and(wants) {
        send(kernel, Target::Process(parent), info);
    }
}

/// Whether a process does nothing about a signal.
///
/// A signal whose default is to be ignored counts as well: it is never queued unless blocked.
#[must_use]
pub fn is_ignored(process: &Process, number: u8) -> bool {
    match process.signals.actions[usize::from(number)].handler {
        SIG_IGN => number != SIGKILL && STOPS & bit(number) & super::number::UNCATCHABLE == 0,
        SIG_DFL => matches!(default(number), Default::Ignore | Default::Continue),
        _ => false,
    }
}

/// Takes signals of a set out of everything that is pending in a process.
pub fn discard(kernel: &mut Kernel, pid: Pid, set: Set) {
    let keep = |info: &SignalInfo| set & bit(info.number) == 0;
    let Some(process) = kernel.processes.get_mut(&pid) else { return };
    process.signals.pending.retain(keep);
    for tid in process.threads.clone() {
        kernel.threads.get_mut(&tid).expect("a thread of a process exists").pending.retain(keep);
    }
}

/// A signal that cannot be put off, because the thread cannot go on. If the thread blocks or ignores it, the process ends
/// as if it had made no arrangement.
///
/// Goes before everything else that is pending, because the instruction cannot complete: its
/// handler must run before any other does.
pub fn force(kernel: &mut Kernel, tid: Tid, info: SignalInfo) {
    let Some(thread) = kernel.threads.get_mut(&tid) else { return };
    let is_blocked = thread.blocked & bit(info.number) != 0;
    thread.blocked &= !bit(info.number);
    thread.pending.insert(0, info);
    let process = kernel.processes.get_mut(&thread.pid).expect("a thread has a process");
    let action = &mut process.signals.actions[usize::from(info.number)];
    if is_blocked || action.handler == SIG_IGN {
        *action = crate::process::Action::default();
    }
}
