//! The file system: inodes, directories, paths, locks, and the calls on them.
//!
//! The tree is an overlay. Below lie the files of the host ([`crate::host::HostFiles`]), standard directories and the
//! synthetic `/proc` and `/sys` ([`base`]): a function of the path, not state. [`Files`] holds only what was changed:
//! copied inodes, new and removed names. The content of a regular file is an object of `memory`, made when it is first
//! mapped or written, so that `read(2)`, `write(2)` and shared mappings see the same bytes.

mod attribute;
pub mod base;
mod busy;
mod calls;
mod closed;
mod content;
pub mod device;
pub(crate) mod device_operations;
mod directory;
pub mod disk;
mod duplicate;
mod fcntl;
mod file_system;
pub mod inode;
mod ioctl;
pub(crate) mod known;
pub mod lock;
mod lock_calls;
mod locking;
mod metadata;
mod mount;
mod namespace;
pub mod notifier;
pub mod notify;
pub(crate) mod notify_calls;
mod open;
mod path_calls;
pub mod permission;
mod place;
mod regular;
mod rename;
pub mod seal;
mod size;
mod splice;
mod standard;
pub mod stat;
pub(crate) mod state;
pub mod synthetic;
mod transfer;
mod tree;
pub mod walk;

pub use busy::{is_being_written, is_running};
pub use calls::ROWS;
pub use closed::{closed_by, description_closed, file_closed, forget_if_unused};
pub use content::{content, length, read_at, write_at};
pub use inode::{Directory, Inode, Kind};
pub use lock::LockRequest;
pub use locking::may_lock;
pub use place::{Node, Place};
pub use regular::OPERATIONS;
pub use state::Files;
pub use walk::{Start, real_path};

use crate::Kernel;
use crate::errno::Errno;
use crate::id::Id;
use memory::Memory;

/// Finds the inode at a path, as the process (or, from a directory, as the superuser) sees it.
pub fn resolve(kernel: &Kernel, start: impl Into<Start>, path: &[u8], follow: bool) -> Result<Id, Errno> {
    kernel.resolve(start.into(), path, follow)
}

/// Puts a socket that everybody may connect to in place, with the directories that lead to it; what was there is replaced.
pub fn create_socket(kernel: &mut Kernel, path: &[u8]) -> Result<Id, Errno> {
    open::place_socket(kernel, path)
}

/// Makes the directories that lead to a path, as far as they are not there, with this owner.
pub fn create_folders(kernel: &mut Kernel, path: &[u8], owner: (u32, u32)) -> Result<(), Errno> {
    open::folder_of(kernel, path, owner).map(drop)
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
