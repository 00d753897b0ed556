//! Programs that are killed, restarted or paused.
//!
//! A kill is told object by object like `exit_group(2)`, which gives back the same. Beside that it conflicts with every step of
//! the process that it ends: those read whether it lives. Where engines need each end of the system on a path of its own
//! (searches of trace classes), it conflicts with everything. So do the others, everywhere: what a new process does is not known,
//! and time passes while one is paused.

use super::placed::{PlacedFaults, budget_object};
use crate::footprint::Footprint;
use crate::footprint::access::{self, Kind};
use crate::system::state::{History, State};
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::{Pid, Tid, lifecycle};

/// The syscall `exit_group(2)`.
const EXIT_GROUP: u64 = 231;

/// The status of a process that `SIGKILL` has ended.
const KILLED: i32 = 9;

impl PlacedFaults {
    /// Whether a process may ever be stopped.
    fn may_stop(&self, pid: Pid) -> bool {
        let stops = |fault: u16| self.all[usize::from(fault)].effect.is_of_program();
        (0..self.all.len() as u16).any(|fault| stops(fault) && self.victim(fault) == Some(pid))
    }
}

impl History {
    /// A program is paused.
    pub(super) fn pause(&mut self, pid: Pid) {
        self.paused.push(pid);
        self.paused.sort_unstable();
    }
}

impl State {
    /// Whether a thread is of a program that is paused.
    pub(crate) fn is_paused(&self, tid: Tid) -> bool {
        let paused = &self.history.paused;
        !paused.is_empty() && self.world.kernel.threads.get(&tid).is_some_and(|thread| paused.contains(&thread.pid))
    }
}

/// Whether a process lives, as an object.
fn process_life(pid: Pid) -> u64 {
    access::object(Kind::Process, u64::from(pid.0), 11)
}

impl View<'_> {
    /// That a process which may be stopped still lives is read by every step of it.
    pub(crate) fn reads_life(self, pid: Pid) -> Option<Access> {
        let faults = &self.workload.faults;
        (!faults.all.is_empty() && faults.may_stop(pid)).then(|| Access {
            object: process_life(pid),
            write: false,
            plain: false,
        })
    }

    /// What the end of a process writes.
    fn kill_accesses(self, pid: Pid) -> Vec<Access> {
        let process = &self.state.world.kernel.processes.get(&pid);
        let threads: Vec<Tid> = process.map_or_else(Vec::new, |process| process.threads.iter().copied().collect());
        let ends = |tid: &Tid| self.asked(*tid, (EXIT_GROUP, [0; 6])).reach();
        let conflicts_with_all = self.workload.options.awaits || self.workload.faults.may_reset();
        let Some(Footprint::Objects(mut accesses)) = threads.first().map(ends).filter(|_| !conflicts_with_all) else {
            return access::everything();
        };
        let write = |object| Access { object, write: true, plain: false };
        accesses.extend(threads.iter().filter_map(|tid| self.state.life(*tid)).map(write));
        accesses.extend([write(process_life(pid)), write(budget_object())]);
        accesses.push(Access { object: access::object(Kind::World, 0, 0), write: false, plain: false });
        accesses
    }
}

impl Stepper<'_> {
    /// Kills a process; its accesses.
    pub(super) fn kill(&mut self, pid: Pid) -> Vec<Access> {
        let accesses = self.view().kill_accesses(pid);
        let world = &mut self.state.world;
        let Some(space) = world.kernel.processes.get(&pid).map(|process| process.space) else { return accesses };
        lifecycle::end_process(&mut world.kernel, &mut world.memory, pid, KILLED);
        world.forget_ended();
        self.follow_births(Tid(pid.0), space);
        accesses
    }

    /// Kills a process and starts its command again; its accesses. If the command cannot be started any more, it is only killed.
    pub(super) fn restart(&mut self, pid: Pid) -> Vec<Access> {
        let command = self.workload.services.iter().find(|service| service.pid == pid).map(|it| it.command.clone());
        let world = &mut self.state.world;
        let space = world.kernel.processes.get(&pid).map(|process| process.space);
        if let Some((command, space)) = command.zip(space) {
            let _ = world.restart(pid, &command, KILLED);
            self.follow_births(Tid(pid.0), space);
        }
        access::everything()
    }
}
