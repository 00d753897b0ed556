//! What closing a description does to files: locks end, watchers hear of it, a file without names ends with its last user.
//!
//! Three moments that must not be mixed up: a *process* closes a descriptor (its record locks on
//! that file end, even those made through another descriptor: fcntl(2), "This is bad"); the last
//! descriptor of a *description* is closed (flock and OFD locks end); the last description of a
//! *file* without names is closed (its content goes).

use super::{disk, is_running, locking, notify};
use crate::Kernel;
use crate::descriptor::{Description, File, O_PATH};
use crate::id::{Id, Pid};
use crate::process::Process;
use memory::{Memory, ObjectId};

/// A process has closed a descriptor of this description.
pub fn closed_by(kernel: &mut Kernel, pid: Pid, description: Id) {
    let file = kernel.descriptions.get(&description).and_then(|open| locking::key(open.file));
    if let Some(file) = file {
        locking::closed_by(kernel, pid, file);
    }
}

/// A description is about to be closed for good.
pub fn description_closed(kernel: &mut Kernel, description: Id) {
    kernel.files.texts.remove(&description);
    let Some(open) = kernel.descriptions.get(&description) else { return };
    let (file, was_writable, is_path) = (open.file, open.is_writable(), open.flags & O_PATH != 0);
    if let Some(key) = locking::key(file) {
        locking::description_closed(kernel, description, key);
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
///
/// Mappings need not be asked: memory keeps an object that is still mapped after the kernel has let
/// it go.
pub fn forget_if_unused(kernel: &mut Kernel, memory: &mut Memory, id: Id) {
    let Some(inode) = kernel.files.inodes.get(&id) else { return };
    if inode.links > 0 || is_in_use(kernel, id) || disk::remembers(kernel, id) {
        return;
    }
    notify::ended(kernel, id);
    kernel.files.unnamed.remove(&id);
    kernel.files.directories.remove(&id);
    kernel.files.attributes.remove(&id);
    kernel.files.seals.remove(&id);
    if memory.object_exists(ObjectId(id.0)) {
        memory.drop_object(ObjectId(id.0));
    }
    kernel.files.inodes.remove(&id);
    disk::forget(kernel, id);
}

fn is_in_use(kernel: &Kernel, id: Id) -> bool {
    let works_there = |process: &Process| process.directories.working == id;
    // `O_PATH` keeps a file, too: it can still be asked for attributes, and opened by `/proc/self/fd`.
    let is_open = |open: &Description| open.file == File::Inode(id);
    is_running(kernel, id) || kernel.processes.values().any(works_there) || kernel.descriptions.values().any(is_open)
}
