//! Files that cannot be executed or written now (`ETXTBSY`).

use crate::Kernel;
use crate::descriptor::File;
use crate::id::Id;
use crate::process::Process;

/// Whether somebody has a file open for writing, so that it cannot be executed (`ETXTBSY`).
#[must_use]
pub fn is_being_written(kernel: &Kernel, inode: Id) -> bool {
    kernel.descriptions.values().any(|open| open.file == File::Inode(inode) && open.is_writable())
}

/// Whether a process runs a file, so that it cannot be written (`ETXTBSY`).
#[must_use]
pub fn is_running(kernel: &Kernel, inode: Id) -> bool {
    let runs = |process: &Process| process.image.inode == Some(inode);
    let mut living = kernel.processes.values().filter(|process| !process.is_zombie());
    living.any(runs)
}
