//! Power fails: which questions are open about the disk, and what their answers leave.
//!
//! The questions come one by one, and only those that somebody asks who reads the disk: a block that is never read may hold
//! what it likes. An answer that makes no difference is not asked for.

use super::sync::{apply, durable_length, swap};
use super::{Block, Change, Disk, Order, Stage, Version, What};
use crate::Kernel;
use crate::files::{base, content, forget_if_unused, length};
use crate::id::Id;
use crate::ipc::state::Ipc;
use crate::map::Map;
use memory::{Memory, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is not known about the disk after power has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// How many of the oldest changes of names and sizes are on it, of so many.
    Committed(usize),
    /// Whether the oldest change of names is on it: 0 no, 1 yes.
    Reached,
    /// How long a file is: one of these lengths.
    Size(Id, Vec<u64>),
    /// Which of so many contents a block of a file has, oldest first.
    Block(Id, u64, usize),
}

impl Question {
    /// How many answers there are.
    #[must_use]
    pub fn answers(&self) -> u32 {
        let count = match self {
            Self::Committed(changes) => changes + 1,
            Self::Reached => 2,
            Self::Size(_, lengths) => lengths.len(),
            Self::Block(_, _, versions) => *versions,
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// Power has failed, and all programs have ended: what was in no file is gone.
pub fn crash(kernel: &mut Kernel, memory: &mut Memory) {
    let Some(disk) = kernel.files.disk.as_deref_mut() else { return };
    disk.stage = Stage::Names;
    kernel.ipc = Ipc::default();
    go_on(kernel, memory);
}

/// The next open question; of blocks, only of a file that somebody wants to read.
#[must_use]
pub fn question(kernel: &Kernel, memory: &Memory, is_wanted: impl Fn(Id) -> bool) -> Option<Question> {
    let disk = kernel.files.disk.as_deref()?;
    match disk.stage {
        Stage::Running => None,
        Stage::Names if disk.model.order == Order::Ext4 => Some(Question::Committed(disk.changes.len())),
        Stage::Names => Some(Question::Reached),
        Stage::Sizes => {
            let inode = disk.changes.iter().find_map(|change| change.what.sized())?;
            Some(Question::Size(inode, lengths(kernel, memory, inode)))
        }
        Stage::Blocks => {
            let mut open = disk.blocks.iter().filter(|((inode, _), _)| is_wanted(*inode));
            open.next().map(|((inode, number), block)| Question::Block(*inode, *number, block.versions.len()))
        }
    }
}

/// A question is answered: the disk is a bit more certain.
pub fn answer(kernel: &mut Kernel, memory: &mut Memory, question: &Question, answer: usize) {
    match question {
        Question::Committed(_) => commit(kernel, memory, answer),
        Question::Reached => {
            let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
            let first = disk.changes.iter().position(Change::names_something).expect("it was asked");
            let change = disk.changes.remove(first);
            if answer > 0 {
                apply(kernel, &[change]);
            }
        }
        Question::Size(inode, lengths) => {
            resize(kernel, memory, *inode, lengths[answer]);
            let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
            disk.changes.retain(|change| change.what.sized() != Some(*inode));
        }
        Question::Block(inode, number, _) => {
            let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
            let block = disk.blocks.remove(&(*inode, *number)).expect("it was asked");
            write(kernel, memory, (*inode, *number), &block.versions[answer].bytes);
        }
    }
    go_on(kernel, memory);
}

/// Goes on to the next stage that has questions; without any, all is known.
fn go_on(kernel: &mut Kernel, memory: &mut Memory) {
    loop {
        drop_idle_changes(kernel);
        let Some(disk) = kernel.files.disk.as_deref() else { return };
        let (stage, is_open) = match disk.stage {
            Stage::Names => (Stage::Names, disk.changes.iter().any(|change| disk.asks(change))),
            Stage::Sizes => (Stage::Sizes, !disk.changes.is_empty()),
            stage => (stage, !disk.blocks.is_empty()),
        };
        if is_open {
            return;
        }
        match stage {
            Stage::Names => settle_names(kernel, memory),
            Stage::Sizes => settle_blocks(kernel, memory),
            _ => {
                kernel.files.disk = None;
                return;
            }
        }
    }
}

impl Change {
    fn names_something(&self) -> bool {
        matches!(self.what, What::Names(_))
    }
}

impl What {
    /// The file whose size it changes.
    fn sized(&self) -> Option<Id> {
        match self {
            Self::Size { inode, .. } => Some(*inode),
            Self::Names(_) => None,
        }
    }
}

impl Disk {
    /// Whether a change is asked for while names are: in a journal, all changes are in one order.
    fn asks(&self, change: &Change) -> bool {
        self.model.order == Order::Ext4 || change.names_something()
    }
}

/// Changes that come to nothing, as the names are now, need no question where they come in any order.
fn drop_idle_changes(kernel: &mut Kernel) {
    let is_asked = |disk: &Disk| disk.model.order == Order::Posix && disk.stage == Stage::Names;
    while let Some(first) = kernel.files.disk.as_deref().filter(|disk| is_asked(disk)).and_then(Disk::first_names) {
        swap(kernel);
        let disk = kernel.files.disk.as_deref().expect("just asked");
        let What::Names(names) = &disk.changes[first].what else { unreachable!("it changes names") };
        let is_idle = names.iter().all(|name| kernel.lookup(name.directory, &name.name) == name.after);
        swap(kernel);
        if !is_idle {
            return;
        }
        kernel.files.disk.as_deref_mut().expect("just asked").changes.remove(first);
    }
}

impl Disk {
    fn first_names(&self) -> Option<usize> {
        self.changes.iter().position(Change::names_something)
    }
}

/// The oldest changes of a journal are on the disk, the others are not; so data is there that the former cover.
fn commit(kernel: &mut Kernel, memory: &mut Memory, reach: usize) {
    let changes = kernel.files.disk.as_deref().expect("power has failed").changes.clone();
    apply(kernel, &changes[..reach]);
    let mut lengths = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        if let What::Size { inode, from, to } = change.what {
            let length = lengths.entry(inode).or_insert(from);
            *length = if at < reach { to } else { *length };
        }
    }
    for (inode, length) in lengths {
        resize(kernel, memory, inode, length);
    }
    let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
    disk.changes.clear();
    for key in disk.blocks.keys().copied().collect::<Vec<_>>() {
        disk.blocks.get_mut(&key).expect("it was just found").cut(reach);
    }
}

impl Block {
    /// What the block may hold if so many changes are committed.
    fn cut(&mut self, reach: usize) {
        let freed = self.versions.iter().position(|version| version.is_freed && version.change > reach);
        self.versions.truncate(freed.unwrap_or(self.versions.len()));
        let first = self.versions.iter().rposition(|version| (1..=reach).contains(&version.change));
        self.versions.drain(..first.unwrap_or(0));
    }
}

/// The names are known: the page cache is gone, files without names have ended.
fn settle_names(kernel: &mut Kernel, memory: &mut Memory) {
    swap(kernel);
    let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
    (disk.names, disk.stage) = (Map::default(), Stage::Sizes);
    count_links(kernel);
    kernel.files.unnamed.clear();
    let changed: Vec<Id> = kernel.files.inodes.keys().copied().collect();
    changed.into_iter().for_each(|id| forget_if_unused(kernel, memory, id));
    let lives = |kernel: &Kernel, id| kernel.inode(id).is_some_and(|inode| inode.links > 0);
    let changes = kernel.files.disk.as_deref().expect("power has failed").changes.clone();
    let kept = changes.into_iter().filter(|change| change.what.sized().is_some_and(|id| lives(kernel, id))).collect();
    kernel.files.disk.as_deref_mut().expect("power has failed").changes = kept;
}

/// Counts the names of all files that were made or changed: of the base's, those that came and went.
fn count_links(kernel: &mut Kernel) {
    let (mut counts, mut named): (BTreeMap<Id, i64>, BTreeSet<Id>) = (BTreeMap::new(), BTreeSet::new());
    let is_directory = |id: Id| kernel.inode(id).is_some_and(|inode| inode.is_directory());
    for (directory, changes) in kernel.files.directories.iter() {
        let base = kernel.files.known.get(*directory);
        for (name, now) in &changes.entries {
            let below = base.as_ref().and_then(|base| base::find(kernel, &base::join(&base.path, name)));
            for (id, by) in [(below, -1), (*now, 1)].into_iter().filter_map(|(id, by)| Some((id?, by))) {
                // A directory counts its dot, too, and the dots of those in it.
                let is_inner = is_directory(id);
                *counts.entry(id).or_default() += if is_inner { 2 * by } else { by };
                *counts.entry(*directory).or_default() += if is_inner { by } else { 0 };
                named.extend((by > 0).then_some(id));
            }
        }
    }
    let changed: Vec<Id> = kernel.files.inodes.keys().copied().collect();
    for id in changed.into_iter().chain(counts.keys().copied()).collect::<BTreeSet<_>>() {
        let before = kernel.files.known.get(id).and_then(|base| Some(base.inode.as_ref()?.links));
        let is_made = kernel.files.known.get(id).is_none();
        let Some(links) = before.or(is_made.then_some(0)) else { continue };
        let count = i64::from(links) + counts.get(&id).copied().unwrap_or(0);
        let count = if is_made && !named.contains(&id) { 0 } else { count };
        let differs = kernel.inode(id).is_some_and(|inode| i64::from(inode.links) != count);
        if let Some(inode) = differs.then(|| kernel.inode_mut(id).ok()).flatten() {
            inode.links = u32::try_from(count).unwrap_or(0);
        }
    }
}

/// The sizes are known: contents that look alike within them are one, and what has only one is written.
fn settle_blocks(kernel: &mut Kernel, memory: &mut Memory) {
    let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
    disk.stage = Stage::Blocks;
    let size = u64::from(disk.model.block);
    let blocks = std::mem::take(&mut disk.blocks);
    for ((inode, number), block) in blocks.iter() {
        let reach = length(kernel, memory, *inode).saturating_sub(number * size).min(size) as usize;
        if reach == 0 || kernel.inode(*inode).is_none_or(|inode| inode.links == 0) {
            continue;
        }
        let mut seen: Vec<Arc<[u8]>> = Vec::new();
        for version in &block.versions {
            let mut bytes = version.bytes[..reach.min(version.bytes.len())].to_vec();
            bytes.resize(reach, 0);
            if !seen.iter().any(|known| **known == *bytes) {
                seen.push(bytes.into());
            }
        }
        if let [only] = &seen[..] {
            write(kernel, memory, (*inode, *number), only);
            continue;
        }
        let versions = seen.into_iter().map(|bytes| Version { bytes, change: 0, is_freed: false }).collect();
        let disk = kernel.files.disk.as_deref_mut().expect("power has failed");
        disk.blocks.insert((*inode, *number), Block { versions });
    }
}

/// The lengths that a file may have on the disk.
fn lengths(kernel: &Kernel, memory: &Memory, inode: Id) -> Vec<u64> {
    let changes = kernel.files.disk.as_deref().map_or(&[][..], |disk| &disk.changes);
    let later = changes.iter().filter_map(|change| match change.what {
        What::Size { inode: file, to, .. } if file == inode => Some(to),
        _ => None,
    });
    let mut lengths = vec![durable_length(kernel, memory, inode)];
    for later in later {
        if !lengths.contains(&later) {
            lengths.push(later);
        }
    }
    lengths
}

/// Sets the length of a file, if it is still there. Its times stay.
fn resize(kernel: &Kernel, memory: &mut Memory, inode: Id, to: u64) {
    let differs = length(kernel, memory, inode) != to;
    if let Some((object, _)) = differs.then(|| content(kernel, memory, inode).ok()).flatten() {
        memory.resize_object(object, to).expect("it had this length before");
    }
}

/// Puts a content into a block.
fn write(kernel: &Kernel, memory: &mut Memory, (inode, number): (Id, u64), bytes: &[u8]) {
    let size = u64::from(kernel.files.disk.as_deref().expect("power has failed").model.block);
    if memory.object_exists(ObjectId(inode.0)) {
        memory.write_object(ObjectId(inode.0), number * size, bytes).expect("it had this length before");
    }
}
