//! How threads and processes end.
//!
//! A thread that ends is gone at once. On Linux it can be seen for a moment longer (`/proc`, a
//! signal that is lost on it): see "not covered" in decision 14.

use super::robust;
use crate::call::{Call, Control, Stop};
use crate::id::{Pid, Tid};
use crate::kernel::Ended;
use crate::process::{Process, SignalInfo, State};
use crate::signal::number::SIGCHLD;
use crate::signal::{self, SIG_IGN, Target, job};
use crate::{Kernel, descriptor, files, futex, ipc, terminal, time};
use memory::{Memory, SpaceId};

/// Who gets the children of those that have no subreaper: nobody that could be asked, as `init(1)` it reaps at once.
const INIT: Pid = Pid(1);

/// `SA_NOCLDWAIT`.
const SA_NOCLDWAIT: u64 = 2;

/// `CLD_EXITED`, `CLD_KILLED`, `CLD_DUMPED`.
const CLD_EXITED: i32 = 1;

/// `_exit(2)` of one thread.
pub fn exit(call: &mut Call<'_>) -> Result<u64, Stop> {
    let status = (call.args[0] as i32 & 0xff) << 8;
    end_thread(call.kernel, call.memory, call.tid, status);
    Err(Control::Ended.into())
}

/// `exit_group(2)`.
pub fn exit_group(call: &mut Call<'_>) -> Result<u64, Stop> {
    let status = (call.args[0] as i32 & 0xff) << 8;
    end_process(call.kernel, call.memory, call.pid, status);
    Err(Control::Ended.into())
}

/// Ends one thread; the process ends with its last one, and with that one's status.
pub fn end_thread(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, status: i32) {
    let Some(pid) = kernel.threads.get(&tid).map(|thread| thread.pid) else { return };
    let process = kernel.processes.get(&pid).expect("a thread has a process");
    if process.threads.len() == 1 {
        end_process(kernel, memory, pid, status);
    } else {
        release_thread(kernel, memory, tid);
    }
}

/// Ends a process with a status as `wait4(2)` gives it: the exit code shifted by eight, or a signal's number.
///
/// Threads come first, because their robust lists and the words of `set_tid_address(2)` are in the memory that goes later. The
/// parent is told last: it may reap the process at once, and then nothing is left to look at.
///
/// Idempotent for zombies only in so far as callers do not ask twice: threads are released, so none
/// is left to call.
pub fn end_process(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, status: i32) {
    let Some(process) = kernel.processes.get(&pid) else { return };
    let (space, group) = (process.space, process.group);
    for tid in process.threads.clone() {
        release_thread(kernel, memory, tid);
    }
    descriptor::close_all(kernel, memory, pid);
    time::forget(kernel, pid);
    let process = kernel.processes.get_mut(&pid).expect("looked at above");
    assert!(process.threads.is_empty(), "a process that has ended has no threads");
    process.state = State::Zombie(status);
    let ended = Ended { pid, name: process.name.clone(), status };
    process.vforked = false;
    process.signals.pending.clear();
    let executable = process.image.inode;
    kernel.ended.push(ended);
    leave_space(kernel, memory, space, pid);
    if let Some(inode) = executable {
        files::forget_if_unused(kernel, memory, inode);
    }
    ipc::process_ended(kernel, memory, pid);
    terminal::session_ended(kernel, pid);
    give_away_children(kernel, pid);
    job::release_orphans(kernel, group, pid);
    tell_parent(kernel, pid);
}

/// What is left of a thread once it does not run any more.
pub fn release_thread(kernel: &mut Kernel, memory: &mut Memory, tid: Tid) {
    robust::release(kernel, memory, tid);
    clear_tid(kernel, memory, tid);
    futex::leave(kernel, tid);
    let Some(thread) = kernel.threads.remove(&tid) else { return };
    let time = thread.processor_time(kernel.clock.now());
    let process = kernel.processes.get_mut(&thread.pid).expect("a thread has a process");
    process.threads.remove(&tid);
    process.usage.ended += time;
    if let Some(wait) = &thread.wait {
        kernel.let_go(memory, wait);
    }
}

/// `set_tid_address(2)`: whoever joins the thread waits for this, as long as anybody is left in this memory.
///
/// `pthread_join(3)` waits for this word with a *shared* futex operation, since the kernel wakes
/// without `FUTEX_PRIVATE_FLAG`.
pub fn clear_tid(kernel: &mut Kernel, memory: &mut Memory, tid: Tid) {
    let thread = kernel.threads.get_mut(&tid).expect("a thread that ends exists");
    let (pid, address) = (thread.pid, std::mem::take(&mut thread.clear_at_end));
    let process = kernel.processes.get(&pid).expect("a thread has a process");
    let space = process.space;
    let is_shared = process.threads.len() > 1 || shares_space(kernel, space, pid);
    if address != 0 && is_shared && memory.write_u32(space, address, 0).is_ok() {
        futex::wake_shared(kernel, memory, space, address, 1);
    }
}

/// Whether another living process uses this address space.
pub fn shares_space(kernel: &Kernel, space: SpaceId, pid: Pid) -> bool {
    let other = |process: &Process| process.pid != pid && process.space == space && !process.is_zombie();
    kernel.processes.values().any(other)
}

/// A process no longer uses a space; the last one takes it along.
pub fn leave_space(kernel: &Kernel, memory: &mut Memory, space: SpaceId, pid: Pid) {
    if !shares_space(kernel, space, pid) {
        memory.drop_space(space);
    }
}

/// Children go to the nearest living ancestor that asked for them (`PR_SET_CHILD_SUBREAPER`), else out of sight.
///
/// A child that is a zombie already gets reported to its new parent, or reaped.
fn give_away_children(kernel: &mut Kernel, pid: Pid) {
    let process = kernel.processes.get_mut(&pid).expect("the caller looked");
    let children = std::mem::take(&mut process.children);
    let reaper = reaper(kernel, pid);
    for child in children {
        let process = kernel.processes.get_mut(&child).expect("a child exists until it is reaped");
        process.parent = reaper;
        process.exit_signal = SIGCHLD;
        let (group, death) = (process.group, process.controls.parent_death_signal);
        if let Some(parent) = kernel.processes.get_mut(&reaper) {
            parent.children.push(child);
        }
        if death != 0 {
            signal::send(kernel, Target::Process(child), SignalInfo::kernel(death));
        }
        if kernel.processes.get(&child).is_some_and(Process::is_zombie) {
            tell_parent(kernel, child);
        }
        job::release_orphans(kernel, group, pid);
    }
}

fn reaper(kernel: &Kernel, pid: Pid) -> Pid {
    let is_reaper = |pid: &Pid| {
        let process = kernel.processes.get(pid);
        process.is_some_and(|process| process.controls.subreaper && !process.is_zombie())
    };
    kernel.ancestors(pid).skip(1).find(is_reaper).unwrap_or(INIT)
}

/// Tells the parent that a process has ended, and reaps it if nobody will ever ask.
fn tell_parent(kernel: &mut Kernel, pid: Pid) {
    let process = kernel.processes.get(&pid).expect("a zombie exists");
    let (parent, signal) = (process.parent, process.exit_signal);
    if parent == Pid(0) {
        // Allways started it and looks at its status itself.
        return;
    }
    let info = end_info(kernel, process);
    let Some(waiter) = kernel.processes.get(&parent).filter(|parent| !parent.is_zombie()) else {
        return reap(kernel, pid);
    };
    let action = waiter.signals.actions[usize::from(SIGCHLD)];
    // wait(2), notes: a parent that ignores SIGCHLD, or says so, leaves no zombies.
    let is_careless = signal == SIGCHLD && (action.handler == SIG_IGN || action.flags & SA_NOCLDWAIT != 0);
    // clone(2) takes any number; what is no signal is not sent.
    if (1..=64).contains(&signal) && !(is_careless && action.handler == SIG_IGN) {
        signal::send(kernel, Target::Process(parent), SignalInfo { number: signal, ..info });
    }
    if is_careless {
        reap(kernel, pid);
    }
}

/// What `SIGCHLD` and `waitid(2)` tell about a process that has ended.
pub fn end_info(kernel: &Kernel, process: &Process) -> SignalInfo {
    let State::Zombie(status) = process.state else { return SignalInfo::default() };
    let (code, value) = match status & 0x7f {
        0 => (CLD_EXITED, status >> 8 & 0xff),
        signal if status & 0x80 != 0 => (CLD_EXITED + 2, signal),
        signal => (CLD_EXITED + 1, signal),
    };
    SignalInfo {
        number: SIGCHLD,
        code,
        pid: process.pid.0,
        uid: process.credentials.user[0],
        status: value,
        value: time::process_time(kernel, process) / time::TICK,
        ..SignalInfo::default()
    }
}

/// Forgets a process that has ended; its parent inherits its processor time.
pub fn reap(kernel: &mut Kernel, pid: Pid) {
    let Some(process) = kernel.processes.remove(&pid) else { return };
    if let Some(parent) = kernel.processes.get_mut(&process.parent) {
        parent.children.retain(|child| *child != pid);
        parent.usage.children += process.usage.ended + process.usage.children;
    }
}
