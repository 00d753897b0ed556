//! Programs that are killed: one more actor for each, whose step ends the process.
//!
//! The step is told object by object like `exit_group(2)`, which gives back the same. Beside that it conflicts with every step of
//! the process that it ends: those read whether it lives. Where engines need each end of the system on a path of its own
//! (searches of trace classes), it conflicts with everything.

use super::placed::{PlacedFaults, budget_object};
use super::plan::Effect;
use crate::footprint::Footprint;
use crate::footprint::access::{self, Kind};
use crate::system::choice_kind::ChoiceKind;
use crate::system::state::History;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::{Access, Actor};
use kernel::{Kernel, Pid, Tid, lifecycle};

/// The actor of the first fault. No thread has such a number: threads' numbers have five digits.
const FIRST: u32 = 1;

/// Faults that have actors.
const MOST: u32 = 9_000;

/// The syscall `exit_group(2)`.
const EXIT_GROUP: u64 = 231;

/// The status of a process that `SIGKILL` has ended.
const KILLED: i32 = 9;

/// Whether an actor is one whose steps are faults.
#[must_use]
pub fn is_fault(actor: u32) -> bool {
    (FIRST..FIRST + MOST).contains(&actor)
}

/// The number of the fault of an actor.
fn fault_of(actor: u32) -> Option<u16> {
    is_fault(actor).then(|| (actor - FIRST) as u16)
}

impl PlacedFaults {
    /// The process that a fault kills.
    fn victim(&self, fault: u16) -> Option<Pid> {
        let fault = self.all.get(usize::from(fault)).filter(|fault| fault.effect == Effect::Kill)?;
        fault.programs.as_ref()?.first().copied()
    }

    /// Whether a process may ever be killed.
    fn may_kill(&self, pid: Pid) -> bool {
        (0..self.all.len() as u16).any(|fault| self.victim(fault) == Some(pid))
    }
}

impl Workload {
    /// Actors of the faults that may happen to processes.
    pub(crate) fn fault_actors(&self, kernel: &Kernel, history: &History) -> Vec<Actor> {
        if self.faults.is_spent(history) {
            return Vec::new();
        }
        let lives = |pid: Pid| kernel.processes.get(&pid).is_some_and(|process| !process.threads.is_empty());
        let awaits = |pid: Pid| self.services.iter().any(|service| service.pid == pid && !service.after.is_empty());
        let has_begun = |pid: Pid| !awaits(pid) || history.begun.contains_key(&pid);
        let actor = |fault: u16| {
            let pid = self.faults.victim(fault).filter(|pid| lives(*pid) && has_begun(*pid))?;
            let number = FIRST + u32::from(fault);
            // Who waits for others first can be killed once it has begun.
            let creator = if awaits(pid) { pid.0 } else { number };
            let choice_kind = ChoiceKind::Faults as u8;
            Some(Actor { number, creator, choices: 1, choice_kind, is_fault: true, ..Actor::default() })
        };
        (0..self.faults.all.len() as u16).filter_map(actor).collect()
    }
}

/// Whether a process lives, as an object.
fn process_life(pid: Pid) -> u64 {
    access::object(Kind::Process, u64::from(pid.0), 11)
}

impl View<'_> {
    /// The fault of an actor, and the process that it kills.
    pub(crate) fn kill(self, actor: u32) -> Option<(u16, Pid)> {
        let fault = fault_of(actor)?;
        self.workload.faults.victim(fault).map(|pid| (fault, pid))
    }

    /// Whether a fault has killed a program.
    pub(crate) fn has_killed(self) -> bool {
        self.state.history.faults.iter().any(|fault| self.workload.faults.victim(*fault).is_some())
    }

    /// That a process which may be killed still lives is read by every step of it.
    pub(crate) fn reads_life(self, pid: Pid) -> Option<Access> {
        let faults = &self.workload.faults;
        (!faults.all.is_empty() && faults.may_kill(pid)).then(|| Access {
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
        let Some(Footprint::Objects(mut accesses)) =
            threads.first().map(ends).filter(|_| !self.workload.options.awaits)
        else {
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
    pub(crate) fn kill(&mut self, pid: Pid) -> Vec<Access> {
        let accesses = self.view().kill_accesses(pid);
        let world = &mut self.state.world;
        let Some(space) = world.kernel.processes.get(&pid).map(|process| process.space) else { return accesses };
        lifecycle::end_process(&mut world.kernel, &mut world.memory, pid, KILLED);
        world.forget_ended();
        self.follow_births(Tid(pid.0), space);
        accesses
    }
}
