//! Footprints of syscalls that create and end processes and threads.
//!
//! Decision 14, "life": a step that ends an actor writes what decides whether that actor's steps
//! happen at all.

use super::access::{self, Kind, reads, writes};
use super::{Footprint, PendingCall, everything, objects};
use explore::graph::Access;
use kernel::table::FootprintRule;
use kernel::table::footprint::CloneFlags;
use kernel::{Id, lifecycle};

impl PendingCall<'_> {
    /// Whether the syscall ends a thread that holds robust locks: the kernel passes them on (`get_robust_list(2)`).
    #[must_use]
    pub fn is_noticed_end(&self) -> bool {
        let ends = matches!(self.rule(), FootprintRule::EndsThread | FootprintRule::EndsProcess);
        ends && self.holds_robust()
    }

    fn holds_robust(&self) -> bool {
        const PENDING: u64 = 16;
        let word = |address: u64| {
            let mut bytes = [0; 8];
            let _ = self.memory.peek(self.space(), address, &mut bytes);
            u64::from_le_bytes(bytes)
        };
        let head = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.robust_list.0);
        head != 0 && (![0, head].contains(&word(head)) || word(head + PENDING) != 0)
    }

    /// The end of a thread that others do not notice, unless they wait for it.
    pub(super) fn end_thread(&self) -> Footprint {
        if self.threads() <= 1 || self.is_noticed_end() {
            return everything();
        }
        let cleared = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.clear_at_end);
        objects([writes(Kind::Space, self.space().0), self.futex_at(cleared)])
    }

    /// The end of a process: everything that it has is given back, and its parent is told.
    ///
    /// Only the plainest case is told object by object. Children, terminals, System V adjustments,
    /// robust locks and stopped processes each make the end of a process concern others.
    pub(super) fn end(&self) -> Vec<Access> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let is_plain = process.children.is_empty()
            && self.is_alone()
            && self.kernel.terminals.is_empty()
            && !kernel::ipc::notices_end(self.kernel, process.pid)
            && !self.holds_robust()
            && !self.kernel.processes.values().any(kernel::Process::is_stopped);
        if !is_plain {
            return access::everything();
        }
        let mut accesses = self.close_all();
        accesses.push(writes(Kind::Process, u64::from(process.pid.0)));
        // Programs that were started from outside have no parent.
        let parent = Some(process.parent).filter(|parent| self.kernel.processes.contains_key(parent));
        accesses.extend(parent.map(|parent| writes(Kind::Process, u64::from(parent.0))));
        accesses.push(reads(Kind::Inode, process.directories.working.0));
        accesses.extend(process.image.inode.map(|inode| reads(Kind::Inode, inode.0)));
        // The masks of the parent's threads decide whether `SIGCHLD` stays pending.
        accesses.extend(access::masks(process.parent));
        accesses
    }

    /// Another program: some descriptors are closed, and files are read. Robust locks are passed on, as at the end of a thread.
    pub(super) fn execute(&self) -> Vec<Access> {
        if self.holds_robust() {
            return access::everything();
        }
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let closed = process.descriptors.iter().filter(|(_, descriptor)| descriptor.close_on_exec);
        let mut accesses = self.close_descriptions(closed.map(|(_, descriptor)| descriptor.description));
        accesses.extend([self.process(true), writes(Kind::Space, process.space.0)]);
        accesses.extend(self.executed_files());
        accesses
    }

    /// A new process or thread: what it inherits is shared from now on. Memory that is copied is read, all of it.
    ///
    /// `vfork(2)` is made once; what is left of it then is to wait until the child has left the memory.
    pub(super) fn birth(&self, flags: CloneFlags) -> Vec<Access> {
        if let Some(child) = lifecycle::suspender(self.kernel, self.tid) {
            return vec![reads(Kind::Process, u64::from(child.0))];
        }
        if !self.is_alone() && !self.shares_space(flags) {
            return access::everything();
        }
        let mut accesses = vec![writes(Kind::Process, u64::from(self.pid().0)), writes(Kind::Space, self.space().0)];
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let shared = process.descriptors.iter().filter(|(_, descriptor)| {
            self.kernel.descriptions.get(&descriptor.description).is_some_and(|open| open.was_shared)
        });
        let count = |id: Id| Access { object: access::object(Kind::File, id.0, 1), write: true, plain: false };
        accesses.extend(shared.map(|(_, descriptor)| count(descriptor.description)));
        accesses
    }

    /// Whether the new one will use the caller's memory.
    fn shares_space(&self, flags: CloneFlags) -> bool {
        const CLONE_VM: u64 = 0x100;
        let flags = match flags {
            CloneFlags::None => 0,
            CloneFlags::Argument => self.args[0],
            CloneFlags::Structure => {
                let mut bytes = [0; 8];
                let _ = self.memory.peek(self.space(), self.args[0], &mut bytes);
                u64::from_le_bytes(bytes)
            }
        };
        flags & CLONE_VM != 0
    }
}
