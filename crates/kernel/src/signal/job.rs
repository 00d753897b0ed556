//! Stopping and continuing processes, and orphaned groups.
//!
//! Job control as `credentials(7)` and POSIX describe it (a group is *orphaned* when no member has
//! a parent in another group of the same session). It matters without a shell, too: `SIGTSTP` does
//! not stop an orphaned group.

use super::number::{SIGCONT, SIGHUP};
use super::send::{self, Target};
use crate::Kernel;
use crate::id::Pid;
use crate::process::{Process, SignalInfo, State};

/// `CLD_STOPPED`.
const CLD_STOPPED: i32 = 5;

/// Stops a process: none of its threads goes on until `SIGCONT`.
pub fn stop(kernel: &mut Kernel, pid: Pid, signal: u8) {
    let process = kernel.processes.get_mut(&pid).expect("a living process");
    process.state = State::Stopped { signal, reported: false };
    process.continued = false;
    send::tell_parent(kernel, pid, CLD_STOPPED, signal);
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
