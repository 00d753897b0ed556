//! What calls do to files is written down, as long as power may fail.

use super::{Block, Change, Disk, NameChange, Order, Stage, Version, What};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::files::{content, file_system};
use crate::id::Id;
use memory::Memory;

/// A call begins: changes of names that it makes are one change.
pub fn begin_call(kernel: &mut Kernel, number: u64) {
    if let Some(disk) = kernel.files.disk.as_deref_mut() {
        disk.call = number;
    }
}

/// The call has ended.
pub fn end_call(kernel: &mut Kernel) {
    if let Some(disk) = kernel.files.disk.as_deref_mut() {
        (disk.call, disk.is_open) = (0, false);
    }
}

/// A name is about to lead elsewhere.
///
/// What is in `/dev` (`/dev/shm`) is no disk's.
pub fn note_name(kernel: &mut Kernel, directory: Id, name: &[u8], after: Option<Id>) {
    if !records(kernel) || file_system::device_of_directory(kernel, directory) != file_system::DEVICE_FILES {
        return;
    }
    let before = kernel.lookup(directory, name);
    let disk = kernel.files.disk.as_deref_mut().expect("it records");
    disk.push_name(NameChange { directory, name: name.to_vec(), before, after });
}

/// The name that the running call has just noted is the first one of a new file.
pub fn note_made(kernel: &mut Kernel, inode: Id) {
    let Some(disk) = kernel.files.disk.as_deref_mut() else { return };
    let last = disk.changes.last_mut().filter(|_| disk.is_open);
    if let Some(change) = last.filter(|change| change.what.is_about(inode)) {
        change.makes_file = true;
    }
}

impl Disk {
    /// Changes of one call are one; where nothing but names in one directory belongs together, those of another are another.
    fn push_name(&mut self, name: NameChange) {
        let is_weak = self.model.order == Order::Posix;
        let last = self.changes.last_mut().filter(|_| self.is_open);
        if let Some(Change { what: What::Names(names), .. }) = last
            && (!is_weak || names.iter().all(|other| other.directory == name.directory))
        {
            names.push(name);
            return;
        }
        self.is_open = true;
        self.changes.push(Change { what: What::Names(vec![name]), call: self.call, makes_file: false });
    }

    /// The number of the newest change, by which versions of blocks refer to it.
    fn newest(&self) -> usize {
        if self.model.order == Order::Ext4 { self.changes.len() } else { 0 }
    }

    fn push_size(&mut self, inode: Id, from: u64, to: u64) {
        self.changes.push(Change { what: What::Size { inode, from, to }, call: self.call, makes_file: false });
        self.is_open = false;
    }
}

fn records(kernel: &Kernel) -> bool {
    kernel.files.disk.as_deref().is_some_and(|disk| disk.stage == Stage::Running)
}

/// The blocks between two offsets.
fn blocks_of(kernel: &Kernel, start: u64, end: u64) -> std::ops::Range<u64> {
    let size = u64::from(kernel.files.disk.as_deref().map_or(1, |disk| disk.model.block));
    if start == end { 0..0 } else { start / size..end.div_ceil(size) }
}

/// What a block holds in the page cache, as far as the file reaches.
fn cached(kernel: &Kernel, memory: &Memory, inode: Id, block: u64) -> Vec<u8> {
    let size = kernel.files.disk.as_deref().expect("it records").model.block;
    content::read_at(kernel, memory, inode, block * u64::from(size), size as usize)
}

/// What blocks hold before they are written for the first time since they were durable.
pub fn before_write(kernel: &mut Kernel, memory: &Memory, inode: Id, start: u64, end: u64) {
    if !records(kernel) {
        return;
    }
    for block in blocks_of(kernel, start, end) {
        let key = (inode, block);
        if !kernel.files.disk.as_deref().expect("it records").blocks.contains_key(&key) {
            let bytes = cached(kernel, memory, inode, block).into();
            let first = Version { bytes, change: 0, is_freed: false };
            let disk = kernel.files.disk.as_deref_mut().expect("it records");
            disk.blocks.insert(key, Block { versions: vec![first] });
        }
    }
}

/// What blocks hold since bytes were written into a file of this length.
///
/// A file grows block by block: a write of several may have grown it by some of them.
pub fn after_write(kernel: &mut Kernel, memory: &Memory, inode: Id, (start, end): (u64, u64), length: u64) {
    if !records(kernel) {
        return;
    }
    let mut reached = length;
    for block in blocks_of(kernel, start, end) {
        let bytes = cached(kernel, memory, inode, block).into();
        let disk = kernel.files.disk.as_deref_mut().expect("it records");
        let upto = end.min((block + 1) * u64::from(disk.model.block));
        let grows = upto > reached;
        if grows {
            disk.push_size(inode, reached, upto);
            reached = upto;
        }
        disk.push_version(
            (inode, block),
            Version { bytes, change: if grows { disk.newest() } else { 0 }, is_freed: false },
        );
    }
}

impl Disk {
    /// A content that says nothing new is none.
    fn push_version(&mut self, key: (Id, u64), version: Version) {
        let Some(block) = self.blocks.get_mut(&key) else { return };
        let is_same = block.versions.last().is_some_and(|last| last.bytes == version.bytes);
        if !is_same || version.change != 0 {
            block.versions.push(version);
        }
    }
}

/// A file is about to have another length, without bytes being written: blocks beyond it are given back.
pub fn note_size(kernel: &mut Kernel, memory: &Memory, inode: Id, to: u64) {
    let from = content::length(kernel, memory, inode);
    if !records(kernel) || from == to {
        return;
    }
    before_write(kernel, memory, inode, to.min(from), from);
    let freed = blocks_of(kernel, to.min(from), from);
    let disk = kernel.files.disk.as_deref_mut().expect("it records");
    disk.push_size(inode, from, to);
    let size = u64::from(disk.model.block);
    for block in freed {
        let key = (inode, block);
        let last = disk.blocks.get(&key).and_then(|block| block.versions.last()).expect("noted above");
        let left = usize::try_from(to.saturating_sub(block * size)).unwrap_or(usize::MAX).min(last.bytes.len());
        let version = Version { bytes: last.bytes[..left].into(), change: disk.newest(), is_freed: left == 0 };
        disk.push_version(key, version);
    }
}

/// Whether a file is still asked for: its name may come back when power fails.
#[must_use]
pub fn remembers(kernel: &Kernel, inode: Id) -> bool {
    let names = |change: &Change| matches!(change.what, What::Names(_)) && change.what.is_about(inode);
    kernel.files.disk.as_deref().is_some_and(|disk| disk.changes.iter().any(names))
}

/// A file has ended, and with it what its blocks may hold.
pub fn forget(kernel: &mut Kernel, inode: Id) {
    let Some(disk) = kernel.files.disk.as_deref_mut() else { return };
    if disk.blocks.keys().any(|(file, _)| *file == inode) {
        disk.blocks.retain(|(file, _)| *file != inode);
    }
}

/// Stores into a shared mapping are no calls: nobody writes down what they change.
pub fn refuse_mapping(call: &Call<'_>, path: &[u8]) -> Result<(), Stop> {
    let is_no_disk = path.starts_with(b"/dev/") || path.starts_with(b"/memfd:");
    if records(call.kernel) && !is_no_disk {
        return call.unsupported("a shared mapping of a file that may be written, while power may fail");
    }
    Ok(())
}
