//! Files that `execve(2)` looks at: the program, the interpreter that it names, and so on.
//!
//! They are found as the kernel will find them, by their first bytes. A file that is open for writing is not executed
//! (`ETXTBSY`): who opens or closes one for writing writes a part of it that only `execve(2)` reads. There are several
//! such parts, by process, because those who open and close a file do not notice each other by that.

use super::PendingCall;
use super::access::{self, Kind, reads};
use super::names::all_files;
use explore::graph::Access;
use kernel::files::walk::AT_FDCWD;
use kernel::table::footprint::NameUse;
use kernel::{Id, Pid, files};

/// Parts of a file by which those who open it for writing are told apart.
const PARTS: u64 = 8;

/// How much of a file is looked at.
const BEGINNING: usize = 4096;

fn writers(inode: Id, part: u64, write: bool) -> Access {
    Access { object: access::object(Kind::Inode, inode.0, 1 + part), write, plain: false }
}

/// A process opens a file for writing, or closes it.
pub(super) fn changes_writers(inode: Id, pid: Pid) -> Access {
    writers(inode, u64::from(pid.0) % PARTS, true)
}

impl PendingCall<'_> {
    /// What is looked at to execute a program.
    pub(super) fn executed_files(&self) -> Vec<Access> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        // Its old program may be written from now on.
        let old = process.image.inode.map(|inode| reads(Kind::Inode, inode.0));
        let files = self.looked_at().unwrap_or_else(|| vec![all_files(true)]);
        old.into_iter().chain(files).collect()
    }

    /// What is looked at to execute a program; nothing if that cannot be told.
    fn looked_at(&self) -> Option<Vec<Access>> {
        let mut way = self.way(NameUse::Look, *self.paths(NameUse::Look).first()?)?;
        let mut accesses = vec![all_files(self.are_watched())];
        for _ in 0..world::load::SCRIPT_DEPTH {
            accesses.extend(self.on_the_way(&way));
            let Some(inode) = way.found() else { return Some(accesses) };
            accesses.extend((0..PARTS).map(|part| writers(inode, part, false)));
            let start = files::read_at(self.kernel, self.memory, inode, 0, BEGINNING);
            let Some(interpreter) = world::load::interpreter(&start).ok()? else { return Some(accesses) };
            way = self.way_of(NameUse::Look, AT_FDCWD, &interpreter)?;
        }
        None
    }
}
