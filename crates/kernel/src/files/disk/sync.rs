//! What becomes durable, and by which call.

use super::{Block, Change, Disk, NameChange, Order, Stage, What};
use crate::Kernel;
use crate::files::inode::Directory;
use crate::files::{content, forget_if_unused};
use crate::id::Id;
use crate::map::Map;
use memory::Memory;

/// `fsync(2)`; `fdatasync(2)` if only what is needed to find the data again is wanted.
///
/// Names are the data of a directory.
pub fn sync_file(kernel: &mut Kernel, memory: &mut Memory, inode: Id, only_data: bool) {
    let is_directory = kernel.inode(inode).is_some_and(|inode| inode.is_directory());
    let Some(disk) = running(kernel) else { return };
    disk.blocks.retain(|(file, _)| *file != inode);
    match disk.model.order {
        Order::Ext4 => {
            let reach = disk.last_change(inode, only_data && !is_directory);
            commit(kernel, memory, reach);
        }
        Order::Posix => take(kernel, memory, |change| match &change.what {
            What::Names(names) => names.iter().all(|name| name.directory == inode),
            What::Size { inode: file, .. } => *file == inode,
        }),
    }
}

/// A write to a file that is open with `O_SYNC`, or with `O_DSYNC`.
pub fn sync_written(kernel: &mut Kernel, memory: &mut Memory, inode: Id, (start, end): (u64, u64), only_data: bool) {
    let Some(disk) = running(kernel) else { return };
    let size = u64::from(disk.model.block);
    let is_written = |block: u64| block * size < end && start < (block + 1) * size;
    disk.blocks.retain(|(file, block)| *file != inode || !is_written(*block));
    match disk.model.order {
        Order::Ext4 => {
            let reach = disk.last_change(inode, only_data);
            commit(kernel, memory, reach);
        }
        Order::Posix => {
            take(kernel, memory, |change| matches!(&change.what, What::Size { inode: file, .. } if *file == inode));
        }
    }
}

/// `sync(2)`.
pub fn sync_all(kernel: &mut Kernel, memory: &mut Memory) {
    let Some(disk) = running(kernel) else { return };
    disk.blocks = Map::default();
    take(kernel, memory, |_| true);
}

/// The disk, as long as there is power. Behind it nothing is written down, and questions stay open.
fn running(kernel: &mut Kernel) -> Option<&mut Disk> {
    kernel.files.disk.as_deref_mut().filter(|disk| disk.stage == Stage::Running)
}

impl Disk {
    /// How far the journal is about a file; where only its data matters, about its size and its making.
    fn last_change(&self, inode: Id, only_data: bool) -> usize {
        let counts = |change: &Change| {
            let finds_data = change.makes_file || matches!(change.what, What::Size { .. });
            change.what.is_about(inode) && (!only_data || finds_data)
        };
        self.changes.iter().rposition(counts).map_or(0, |last| last + 1)
    }
}

/// The oldest changes are committed, and with them the data that they cover.
fn commit(kernel: &mut Kernel, memory: &mut Memory, reach: usize) {
    let Some(disk) = kernel.files.disk.as_deref_mut().filter(|_| reach > 0) else { return };
    let committed: Vec<Change> = disk.changes.drain(..reach).collect();
    let keys: Vec<(Id, u64)> = disk.blocks.keys().copied().collect();
    for key in keys {
        let block = disk.blocks.get_mut(&key).expect("it was just found");
        if !block.commit(reach) {
            disk.blocks.remove(&key);
        }
    }
    settle(kernel, memory, &committed);
}

impl Block {
    /// The oldest changes are committed; whether the block may still be older than in the page cache.
    fn commit(&mut self, reach: usize) -> bool {
        let first = self.versions.iter().rposition(|version| (1..=reach).contains(&version.change));
        self.versions.drain(..first.unwrap_or(0));
        for version in &mut self.versions {
            version.is_freed &= version.change > reach;
            version.change = version.change.saturating_sub(reach);
        }
        self.versions.len() > 1
    }
}

/// Some changes become durable, whatever the others do.
fn take(kernel: &mut Kernel, memory: &mut Memory, is_durable: impl Fn(&Change) -> bool) {
    let Some(disk) = kernel.files.disk.as_deref_mut() else { return };
    let (durable, rest) = std::mem::take(&mut disk.changes).into_iter().partition(is_durable);
    disk.changes = rest;
    settle(kernel, memory, &durable);
}

/// Changes of names are on the disk for good; files whose names cannot come back any more end.
fn settle(kernel: &mut Kernel, memory: &mut Memory, durable: &[Change]) {
    apply(kernel, durable);
    for change in durable {
        let What::Names(names) = &change.what else { continue };
        names.iter().filter_map(|name| name.before).for_each(|id| forget_if_unused(kernel, memory, id));
    }
}

/// Changes the names on the disk.
pub(super) fn apply(kernel: &mut Kernel, changes: &[Change]) {
    swap(kernel);
    for change in changes {
        let What::Names(names) = &change.what else { continue };
        for NameChange { directory, name, after, .. } in names {
            kernel.change_entry(*directory, name, *after);
        }
        for NameChange { directory, name, after, .. } in names {
            let moved = after.filter(|id| kernel.inode(*id).is_some_and(|inode| inode.is_directory()));
            if let Some(id) = moved {
                kernel.directory_mut(id).place = Some((*directory, name.clone()));
            }
        }
    }
    swap(kernel);
}

/// Exchanges the names of the page cache for those on the disk.
pub(super) fn swap(kernel: &mut Kernel) {
    let files = &mut kernel.files;
    if let Some(disk) = files.disk.as_deref_mut() {
        std::mem::swap::<Map<Id, Directory>>(&mut files.directories, &mut disk.names);
    }
}

/// The length of a file on the disk, if all changes of it are lost.
pub(super) fn durable_length(kernel: &Kernel, memory: &Memory, inode: Id) -> u64 {
    let changes = kernel.files.disk.as_deref().map_or(&[][..], |disk| &disk.changes);
    let first = changes.iter().find_map(|change| match change.what {
        What::Size { inode: file, from, .. } if file == inode => Some(from),
        _ => None,
    });
    first.unwrap_or_else(|| content::length(kernel, memory, inode))
}
