//! Calls on descriptors: what they refer to, and which ones there are.
//!
//! A descriptor is shared by threads, a description also by processes (`fork(2)`, `SCM_RIGHTS`), a
//! file by all. Each level is an object of its own, and a level that only the caller can reach is
//! left out.

use super::access::{self, Kind, reads, writes};
use super::executables::changes_writers;
use super::names::{all_files, look_at_listing};
use super::{Footprint, PendingCall, sockets, some};
use explore::graph::Access;
use kernel::Id;
use kernel::descriptor::File;
use kernel::table::footprint::{FileUse, SocketUse};
use memory::{Backing, Mapping, Sharing};
use std::collections::BTreeMap;

/// Requests of `fcntl(2)` about the descriptor or the open file alone: `F_DUPFD`, `F_GETFD`, `F_SETFL`, `F_SETOWN` and kin.
const NOT_THE_FILE: [u64; 12] = [0, 1, 2, 3, 4, 8, 9, 11, 15, 16, 1027, 1030];

/// Stands for all who wait for locks.
const WAITING: u64 = u64::MAX;

impl PendingCall<'_> {
    /// The caller's descriptors, as far as somebody shares them.
    pub(super) fn descriptors(&self, write: bool) -> Option<Access> {
        let access = reads(Kind::Descriptors, u64::from(self.pid().0));
        (!self.is_alone()).then_some(Access { write, ..access })
    }

    /// Whether a call on a descriptor may change which ones there are, or what becomes of them.
    fn changes_descriptors(&self, file: FileUse, socket: SocketUse) -> bool {
        const CHANGING: [u64; 3] = [0, 2, 1030]; // F_DUPFD, F_SETFD, F_DUPFD_CLOEXEC
        const ON_EXEC: [u64; 2] = [0x5450, 0x5451]; // FIONCLEX, FIOCLEX
        match file {
            FileUse::Fcntl => CHANGING.contains(&self.args[1]),
            FileUse::Ioctl => ON_EXEC.contains(&self.args[1]),
            _ => socket == SocketUse::ReceiveMessage,
        }
    }

    /// A descriptor more for an open file; the one that had its number before is closed.
    pub(super) fn duplicate(&self, replaces: bool) -> Vec<Access> {
        let mut accesses: Vec<Access> = self.descriptors(true).into_iter().collect();
        accesses.extend(self.count_of(self.args[0] as i32));
        if replaces {
            accesses.extend(self.close_one(self.args[1] as i32));
        }
        accesses
    }

    /// The number of descriptors of an open file, if others may have some.
    fn count_of(&self, fd: i32) -> Option<Access> {
        let process = self.kernel.processes.get(&self.pid())?;
        let id = process.descriptors.get(fd).ok()?.description;
        let is_shared = self.kernel.descriptions.get(&id).is_some_and(|open| open.was_shared);
        is_shared.then(|| Access { object: access::object(Kind::File, id.0, 1), write: true, plain: false })
    }

    /// What a descriptor refers to.
    ///
    /// The description is written even by reads: its offset moves. Consoles and devices have no
    /// offset.
    pub(super) fn through(&self, file: FileUse, socket: SocketUse) -> Vec<Access> {
        let fd = self.args[0] as i32;
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let changes = self.changes_descriptors(file, socket);
        let mut accesses: Vec<Access> = self.descriptors(changes).into_iter().collect();
        if changes {
            accesses.extend(self.count_of(fd));
        }
        let Ok(descriptor) = process.descriptors.get(fd) else { return accesses };
        let Some(description) = self.kernel.descriptions.get(&descriptor.description) else { return accesses };
        let has_state = !matches!(description.file, File::Console(_) | File::Device(_));
        if has_state && (description.was_shared || !self.is_alone()) {
            accesses.push(writes(Kind::File, descriptor.description.0));
        }
        accesses.extend(self.file(description.file, file, socket));
        accesses
    }

    /// What the call touches of an open file.
    fn file(&self, open: File, file: FileUse, socket: SocketUse) -> Vec<Access> {
        match open {
            File::Inode(id) => self.inode_through(id, file),
            // What it tells of processes is made when it is read.
            File::Text(_) if !self.is_of_descriptor(file) => access::everything(),
            File::Socket(id) => self.socket(id, socket),
            File::Signal(id) => vec![writes(Kind::File, id.0), writes(Kind::Process, u64::from(self.pid().0))],
            other => through_file(other),
        }
    }

    /// Whether a call is about a descriptor or an open file alone.
    fn is_of_descriptor(&self, usage: FileUse) -> bool {
        usage == FileUse::Fcntl && NOT_THE_FILE.contains(&self.args[1])
    }

    /// What the call touches of an inode. Whatever changes a file's content also changes what `stat(2)` tells of it.
    fn inode_through(&self, id: Id, usage: FileUse) -> Vec<Access> {
        let is_of_file = !self.is_of_descriptor(usage);
        if is_of_file && (self.tells_of_state(id) || self.is_mapped(id, usage != FileUse::Write)) {
            return access::everything();
        }
        let mut accesses = vec![all_files(self.are_watched())];
        match usage {
            _ if !is_of_file => {}
            FileUse::List if self.is_directory(id) => accesses.extend([reads(Kind::Inode, id.0), look_at_listing(id)]),
            FileUse::Read | FileUse::List | FileUse::Sync | FileUse::Ioctl => accesses.push(reads(Kind::Inode, id.0)),
            FileUse::Attributes => match self.change(id) {
                Some(changes) => accesses.extend(changes),
                None => return access::everything(),
            },
            FileUse::Write | FileUse::Fcntl | FileUse::Any => accesses.push(writes(Kind::Inode, id.0)),
        }
        accesses.extend(self.may_wait_in_a_circle(usage).then(|| writes(Kind::Inode, WAITING)));
        accesses
    }

    /// Whether a file's content is also memory: what readers see, somebody may store into who shares it; what writers
    /// change, anybody sees who maps it.
    fn is_mapped(&self, id: Id, only_reads: bool) -> bool {
        let holds = |mapping: &Mapping| {
            let is_it = matches!(mapping.backing, Backing::Object { id: object, .. } if object.0 == id.0);
            is_it && (!only_reads || mapping.sharing == Sharing::Shared)
        };
        let mut spaces = self.kernel.processes.values().map(|process| process.space);
        spaces.any(|space| self.memory.space_exists(space) && self.memory.mappings(space).any(holds))
    }

    /// What a new mapping touches: calls on its file have another footprint from now on.
    pub(super) fn map(&self) -> Footprint {
        const MAP_ANONYMOUS: u64 = 0x20;
        let mut accesses = self.remap();
        if self.args[3] & MAP_ANONYMOUS == 0 {
            accesses.extend(self.descriptors(false));
            accesses.extend(self.mapped_file(self.args[4] as i32));
        }
        some(accesses)
    }

    /// A private mapping shows what is written later, too. Whoever writes a file that is mapped touches everything, so a
    /// file that nobody has changed so far needs no telling: the library's are mapped by everybody.
    fn mapped_file(&self, fd: i32) -> Option<Access> {
        const MAP_PRIVATE: u64 = 2;
        let process = self.kernel.processes.get(&self.pid())?;
        let description = process.descriptors.get(fd).ok()?.description;
        let File::Inode(id) = self.kernel.descriptions.get(&description)?.file else { return None };
        match self.args[3] & 0xf {
            MAP_PRIVATE => self.kernel.files.inodes.contains_key(&id).then(|| reads(Kind::Inode, id.0)),
            _ => Some(writes(Kind::Inode, id.0)),
        }
    }

    /// Whether processes that wait for each other's locks are looked for (`EDEADLK`): then it matters who waits already.
    fn may_wait_in_a_circle(&self, usage: FileUse) -> bool {
        const F_SETLKW: u64 = 7;
        usage == FileUse::Fcntl && self.args[1] == F_SETLKW
    }

    pub(super) fn close(&self) -> Footprint {
        some(self.close_one(self.args[0] as i32).into_iter().chain(self.descriptors(true)).collect())
    }

    /// Only the last of several descriptors closes a file; whether it is the last depends on the others.
    ///
    /// With three references, closing one only reads that it is not the last; with two, it decides
    /// whether the next close is: hence the write.
    pub(super) fn close_one(&self, fd: i32) -> Vec<Access> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        process.descriptors.get(fd).map_or_else(|_| Vec::new(), |descriptor| self.give_back(descriptor.description, 1))
    }

    /// All descriptors of a process are closed, and what its call holds is let go, if it waits in one.
    pub(super) fn close_all(&self) -> Vec<Access> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let wait = self.kernel.threads.get(&self.tid).and_then(|thread| thread.wait.as_ref());
        let held = wait.into_iter().flat_map(|wait| wait.held.iter().map(|(_, id)| *id));
        self.close_descriptions(process.descriptors.iter().map(|(_, descriptor)| descriptor.description).chain(held))
    }

    /// Descriptors are closed, several perhaps of one open file.
    pub(super) fn close_descriptions(&self, descriptions: impl Iterator<Item = Id>) -> Vec<Access> {
        let mut references: BTreeMap<Id, u32> = BTreeMap::new();
        descriptions.for_each(|id| *references.entry(id).or_default() += 1);
        references.into_iter().flat_map(|(id, references)| self.give_back(id, references)).collect()
    }

    /// So many references to an open file are given back.
    fn give_back(&self, id: Id, references: u32) -> Vec<Access> {
        let Some(description) = self.kernel.descriptions.get(&id) else { return Vec::new() };
        let count = |write| Access { object: access::object(Kind::File, id.0, 1), write, plain: false };
        let unlocks = self.unlock(description.file);
        let writer = match description.file {
            File::Inode(id) if description.is_writable() => Some(changes_writers(id, self.pid())),
            _ => None,
        };
        match description.references.saturating_sub(references) {
            0 => {
                let others = description.was_shared.then(|| count(true));
                self.close_file(description.file).into_iter().chain(others).chain(writer).collect()
            }
            1 => unlocks.into_iter().chain([count(true)]).collect(),
            _ => unlocks.into_iter().chain([count(false)]).collect(),
        }
    }

    /// Closing any descriptor of a file releases the process's locks on it (`fcntl_locking(2)`).
    fn unlock(&self, file: File) -> Vec<Access> {
        let File::Inode(id) = file else { return Vec::new() };
        let write = self.kernel.files.locks.contains_key(&id);
        vec![Access { write, ..reads(Kind::Inode, id.0) }, all_files(self.are_watched())]
    }

    fn close_file(&self, file: File) -> Vec<Access> {
        match file {
            File::Inode(_) => self.unlock(file),
            File::Socket(id) => sockets::end(self.kernel, id),
            other => through_file(other),
        }
    }
}

/// What using a file that is no inode touches.
pub fn through_file(file: File) -> Vec<Access> {
    match file {
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => vec![writes(Kind::File, id.0)],
        File::Event(id) | File::Timer(id) | File::Signal(id) => vec![writes(Kind::File, id.0)],
        // Whatever happens to files may be told here.
        File::Inotify(id) => vec![writes(Kind::File, id.0), all_files(false)],
        File::Device(_) | File::Console(_) | File::Text(_) => Vec::new(),
        _ => access::everything(),
    }
}
