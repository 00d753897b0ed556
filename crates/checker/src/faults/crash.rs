//! Power that fails: all programs end at once, and what reached the disk is asked step by step.
//!
//! The kernel keeps what is not durable (`kernel::files::disk`). When power fails, programs with a gate for it are spared: they
//! start behind it and find what is left. One more actor answers the questions about the disk; who reads what is not known yet
//! waits for it. Its steps conflict with everything, as the crash itself does.

use super::placed::PlacedFaults;
use crate::footprint::access;
use crate::system::service::Gate;
use crate::system::state::State;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::Access;
use kernel::files::disk::{self, Disk, Model, Question, Stage};
use kernel::table::{self, FootprintRule};
use kernel::{Id, Pid, Tid, files, lifecycle};

/// The status of a process that ends because power fails.
const KILLED: i32 = 9;

impl PlacedFaults {
    /// The disk that is left when power fails, if it may fail.
    pub fn disk(&self) -> Option<Model> {
        self.all.iter().find_map(|fault| fault.effect.disk())
    }
}

impl Workload {
    /// Whether a process belongs to a program that starts when power has failed.
    fn recovers(&self, kernel: &kernel::Kernel, pid: Pid) -> bool {
        let root = self.root(kernel, pid);
        self.services.iter().any(|service| service.pid == root && service.after.contains(&Gate::PowerLoss))
    }

    /// Writes down from now on what is not durable, if power may fail.
    pub(crate) fn watch_disk(&self, state: &mut State) {
        let files = &mut state.world.kernel.files;
        files.disk = self.faults.disk().map(|model| Box::new(Disk::new(model, files.directories.clone())));
    }
}

impl View<'_> {
    /// Whether power has failed.
    pub(crate) fn has_lost_power(self) -> bool {
        let fails = |fault: &u16| self.workload.faults.all[usize::from(*fault)].effect.disk().is_some();
        self.state.history.faults.iter().any(fails)
    }

    /// What is asked about the disk now: what propositions read first, then what threads are about to read.
    pub(crate) fn disk_question(self) -> Option<Question> {
        let kernel = &self.state.world.kernel;
        kernel.files.disk.as_deref().filter(|disk| disk.stage != Stage::Running)?;
        let named = self.question(&self.files_of_propositions());
        let threads = || kernel.threads.keys().find_map(|tid| self.question(&self.wanted(*tid)?));
        named.or_else(threads)
    }

    /// Whether what propositions read is not known yet: then they say nothing.
    pub(crate) fn is_unsettled(self) -> bool {
        self.is_asked_after_power_loss() && self.question(&self.files_of_propositions()).is_some()
    }

    fn is_asked_after_power_loss(self) -> bool {
        self.state.world.kernel.files.disk.as_deref().is_some_and(|disk| disk.stage != Stage::Running)
    }

    /// Whether a thread waits until it is known what is on the disk.
    pub(crate) fn waits_for_disk(self, tid: Tid) -> bool {
        self.is_asked_after_power_loss()
            && (self.is_unsettled() || self.wanted(tid).is_some_and(|wanted| self.question(&wanted).is_some()))
    }

    fn question(self, wanted: &Wanted) -> Option<Question> {
        let world = &self.state.world;
        disk::question(&world.kernel, &world.memory, |id| wanted.includes(id))
    }

    /// Files whose content propositions read.
    fn files_of_propositions(self) -> Wanted {
        let forbidden = &self.workload.forbidden;
        let directory = &forbidden.directory;
        let find = |path: String| {
            let whole = if path.starts_with('/') {
                path.into_bytes()
            } else {
                [&directory[..], b"/", path.as_bytes()].concat()
            };
            files::resolve(&self.state.world.kernel, files::base::root(), &whole, true).ok()
        };
        Wanted::These(forbidden.propositions().flat_map(proposition::Proposition::contents).filter_map(find).collect())
    }

    /// Files that the next call of a thread may read, change or move; nothing if it makes none. Calls of several threads may be
    /// parts of one step.
    fn wanted(self, tid: Tid) -> Option<Wanted> {
        if self.state.has_siblings(tid) {
            return Some(Wanted::All);
        }
        let kernel = &self.state.world.kernel;
        let thread = kernel.threads.get(&tid)?;
        let call = thread.wait.as_ref().and(thread.call).or_else(|| self.state.call_at(tid));
        let Some(call) = call else { return Some(Wanted::These(Vec::new())) };
        if table::footprint(call.0) == FootprintRule::Executes {
            return Some(Wanted::These(self.dirty_programs()));
        }
        Some(self.asked(tid, call).files().map_or(Wanted::All, Wanted::These))
    }
}

impl View<'_> {
    /// Programs and interpreters of which it is not known what the disk holds.
    fn dirty_programs(self) -> Vec<Id> {
        let kernel = &self.state.world.kernel;
        let dirty = kernel.files.disk.as_deref().map(Disk::dirty_files).unwrap_or_default();
        let may_run = |id: &Id| kernel.inode(*id).is_some_and(|inode| inode.mode & 0o111 != 0);
        dirty.into_iter().filter(may_run).collect()
    }
}

/// Files that somebody wants to read.
enum Wanted {
    All,
    These(Vec<Id>),
}

impl Wanted {
    fn includes(&self, id: Id) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(&id),
        }
    }
}

impl Stepper<'_> {
    /// Power fails; the accesses.
    pub(super) fn lose_power(&mut self) -> Vec<Access> {
        let kernel = &self.state.world.kernel;
        let ends = |pid: &Pid| !self.workload.recovers(kernel, *pid);
        let ending: Vec<Pid> = kernel.processes.keys().copied().filter(ends).collect();
        for pid in &ending {
            let world = &mut self.state.world;
            let process = world.kernel.processes.get(pid).filter(|process| !process.is_zombie());
            let Some(space) = process.map(|process| process.space) else { continue };
            lifecycle::end_process(&mut world.kernel, &mut world.memory, *pid, KILLED);
            world.forget_ended();
            self.follow_births(Tid(pid.0), space);
        }
        let is_started = |pid: &Pid| self.workload.started.iter().any(|(started, _)| started == pid);
        let world = &mut self.state.world;
        ending.iter().filter(|pid| !is_started(pid)).for_each(|pid| drop(world.kernel.processes.remove(pid)));
        self.state.history.paused.clear();
        world.kernel.net.cut_off.clear();
        disk::crash(&mut world.kernel, &mut world.memory);
        access::everything()
    }

    /// A question about the disk is answered.
    pub(super) fn answer_disk(&mut self, index: usize) {
        if let Some(question) = self.view().disk_question() {
            let world = &mut self.state.world;
            disk::answer(&mut world.kernel, &mut world.memory, &question, index);
        }
    }
}
