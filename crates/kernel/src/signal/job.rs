//! Stopping and continuing processes, and orphaned groups.

use super::number::{SIGCHLD, SIGCONT, SIGHUP};
use super::send::{self, Target};
use crate::Kernel;
use crate::id::Pid;
use crate::process::{Process, SignalInfo, State};

/// `SA_NOCLDSTOP`.
const NO_CHILD_STOP: u64 = 1;

/// `CLD_STOPPED`.
const CLD_STOPPED: i32 = 5;

/// `CLD_CONTINUED`.
const CLD_CONTINUED: i32 = 6;

/// Stops a process: none of its threads goes on until `SIGCONT`.
pub fn stop(kernel: &mut Kernel, pid: Pid, signal: u8) {
    let process = kernel.processes.get_mut(&pid).expect("a living process");
    process.state = State::Stopped { signal, reported: false };
    process.continued = false;
    tell_parent(kernel, pid, CLD_STOPPED, signal);
}

/// Lets a stopped process go on.
pub fn resume(kernel: &mut Kernel, pid: Pid) {
    let process = kernel.processes.get_mut(&pid).expect("a living process");
    if process.is_stopped() {
        process.state = State::Running;
        process.continued = true;
        tell_parent(kernel, pid, CLD_CONTINUED, SIGCONT);
    }
}

/// `SIGCHLD` about a stop, unless the parent does not want to know (`SA_NOCLDSTOP`).
fn tell_parent(kernel: &mut Kernel, pid: Pid, code: i32, signal: u8) {
    let process = kernel.processes.get(&pid).expect("a living process");
    let parent = process.parent;
    let uid = process.credentials.user[0];
    let info =
        SignalInfo { number: SIGCHLD, code, pid: pid.0, uid, status: i32::from(signal), ..SignalInfo::default() };
    let wants = |parent: &Process| parent.signals.actions[usize::from(SIGCHLD)].flags & NO_CHILD_STOP == 0;
    if kernel.processes.get(&parent).is_some_and(wants) {
        send::send(kernel, Target::Process(parent), info);
    }
}

/// Whether nobody outside of a group, but in its session, could continue it (`credentials(7)`); a process to be left
/// out of the question may be given. The user's shell stands behind the processes that Allways started.
#[must_use]
pub fn is_orphaned(kernel: &Kernel, group: Pid, without: Option<Pid>) -> bool {
    let is_watched = |process: &Process| {
        if process.group != group || Some(process.pid) == without || process.is_zombie() {
            return false;
        }
        let parent = kernel.processes.get(&process.parent);
        let is_foreign = |parent: &Process| parent.group != group && parent.session == process.session;
        process.parent == Pid(0) && process.session == Pid(0) || parent.is_some_and(is_foreign)
    };
    !kernel.processes.values().any(is_watched)
}

/// A group that has just lost its last watcher while some of it is stopped gets `SIGHUP` and `SIGCONT` (`_exit(2)`).
pub fn release_orphans(kernel: &mut Kernel, group: Pid, ended: Pid) {
    let stopped = |process: &Process| process.group == group && process.is_stopped();
    if is_orphaned(kernel, group, Some(ended)) && kernel.processes.values().any(stopped) {
        send::send(kernel, Target::Group(group), SignalInfo::kernel(SIGHUP));
        send::send(kernel, Target::Group(group), SignalInfo::kernel(SIGCONT));
    }
}
