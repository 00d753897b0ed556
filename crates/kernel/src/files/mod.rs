//! The file system: inodes, directories, paths, locks, and the calls on them.
//!
//! The tree is an overlay. Below lie the files of the host ([`crate::host::HostFiles`]), standard directories and the
//! synthetic `/proc` and `/sys` ([`base`]): a function of the path, not state. [`Files`] holds only what was changed:
//! copied inodes, new and removed names. The content of a regular file is an object of `memory`, made when it is first
//! mapped or written, so that `read(2)`, `write(2)` and shared mappings see the same bytes.

mod attribute;
pub mod base;
mod calls;
mod content;
pub mod device;
mod directory;
mod duplicate;
mod fcntl;
pub mod inode;
mod ioctl;
pub mod lock;
mod lock_calls;
mod metadata;
mod mount;
mod namespace;
pub mod notify;
mod open;
mod path_calls;
pub mod permission;
mod rename;
pub mod seal;
mod size;
mod splice;
pub mod stat;
pub mod synthetic;
mod transfer;
mod tree;
pub mod walk;

use crate::Kernel;
use crate::descriptor::{File, O_PATH};
use crate::errno::Errno;
use crate::id::{Id, Pid};
use crate::map::Map;
pub use calls::ROWS;
pub use content::{OPERATIONS, content, length, read_at, write_at};
pub use inode::{Directory, Inode, Kind};
pub use lock::{LockRequest, may_lock};
use memory::Memory;
use std::collections::{BTreeMap, BTreeSet};
pub use walk::{Node, Place, Start, real_path};

/// Everything about files that was changed inside.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Files {
    /// Inodes that were created or changed.
    pub inodes: Map<Id, Inode>,
    /// Changes of directories.
    pub directories: Map<Id, Directory>,
    /// Texts of synthetic files, by the description they are read through.
    pub texts: Map<Id, Vec<u8>>,
    /// Extended attributes, by inode.
    pub attributes: Map<Id, BTreeMap<Vec<u8>, Vec<u8>>>,
    /// Seals of files that can be sealed.
    pub seals: Map<Id, u32>,
    /// Files of `O_TMPFILE` that may still get a name.
    pub unnamed: BTreeSet<Id>,
    /// Locks, by file.
    pub locks: Map<Id, lock::Locks>,
    /// `inotify(7)` instances.
    pub notifiers: Map<Id, notify::Notifier>,
    /// What the base's ids stand for.
    pub known: base::Known,
}

/// Finds the inode at a path, as the process (or, from a directory, as the superuser) sees it.
pub fn resolve(kernel: &Kernel, start: impl Into<Start>, path: &[u8], follow: bool) -> Result<Id, Errno> {
    walk::resolve(kernel, start.into(), path, follow)
}

/// Puts a file in place, with the directories that lead to it; what was there is replaced.
pub fn create_file(
    kernel: &mut Kernel,
    memory: &mut Memory,
    path: &[u8],
    mode: u32,
    bytes: &[u8],
) -> Result<Id, Errno> {
    open::place_file(kernel, memory, path, mode, bytes)
}

/// A process has closed a descriptor of this description.
pub fn closed_by(kernel: &mut Kernel, pid: Pid, description: Id) {
    let file = kernel.descriptions.get(&description).and_then(|open| lock::key(open.file));
    if let Some(file) = file {
        lock::closed_by(kernel, pid, file);
    }
}

/// A description is about to be closed for good.
pub fn description_closed(kernel: &mut Kernel, description: Id) {
    kernel.files.texts.remove(&description);
    let Some(open) = kernel.descriptions.get(&description) else { return };
    let (file, was_writable, is_path) = (open.file, open.is_writable(), open.flags & O_PATH != 0);
    if let Some(key) = lock::key(file) {
        lock::description_closed(kernel, description, key);
    }
    if let File::Inode(inode) = file
        && !is_path
    {
        notify::closed(kernel, inode, was_writable);
    }
}

/// A description of this file was closed for good: a file without names ends with the last.
pub fn file_closed(kernel: &mut Kernel, memory: &mut Memory, file: File) {
    if let File::Inode(inode) = file {
        forget_if_unused(kernel, memory, inode);
    }
}

/// Ends a file that has neither names nor users.
pub fn forget_if_unused(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    let Some(inode) = kernel.files.inodes.get(&id) else { return };
    if inode.links > 0 || is_in_use(kernel, id) {
        return;
    }
    notify::ended(kernel, id);
    kernel.files.unnamed.remove(&id);
    kernel.files.directories.remove(&id);
    kernel.files.attributes.remove(&id);
    kernel.files.seals.remove(&id);
    if memory.object_exists(memory::ObjectId(id.0)) {
        memory.drop_object(memory::ObjectId(id.0));
    }
    kernel.files.inodes.remove(&id);
}

/// Whether somebody has a file open for writing, so that it cannot be executed (`ETXTBSY`).
#[must_use]
pub fn is_being_written(kernel: &Kernel, inode: Id) -> bool {
    kernel.descriptions.values().any(|open| open.file == File::Inode(inode) && open.is_writable())
}

/// Whether a process runs a file, so that it cannot be written (`ETXTBSY`).
#[must_use]
pub fn is_running(kernel: &Kernel, inode: Id) -> bool {
    let runs = |process: &crate::Process| resolve(kernel, base::root(), &process.image.path, true) == Ok(inode);
    let mut living = kernel.processes.values().filter(|process| !process.is_zombie());
    living.any(runs)
}

fn is_in_use(kernel: &Kernel, id: Id) -> bool {
    let works_there = |process: &crate::Process| process.directories.working == id;
    let is_open = |open: &crate::descriptor::Description| open.file == File::Inode(id) && open.flags & O_PATH == 0;
    kernel.processes.values().any(works_there) || kernel.descriptions.values().any(is_open)
}

/// Sends the caller a signal that its own call causes.
fn raise(call: &mut crate::Call<'_>, number: u8) {
    let info = crate::process::SignalInfo { number, ..Default::default() };
    crate::signal::send(call.kernel, crate::signal::Target::Thread(call.tid), info);
}
