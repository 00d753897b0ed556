//! What power loss may take away: which changes of files are in the page cache only, and which disks a crash may leave.
//!
//! Calls change files at once, as everywhere in this kernel: that is the page cache. Where power may fail, a [`Disk`] beside
//! it keeps what is not durable yet: the names as they are on the disk for sure, the changes of names and sizes since
//! (the journal, oldest first), and of each block that was written the contents that it had since. `fsync(2)` and its kin
//! take from these. When power has failed, what is left in them are questions ([`Question`]), answered one by one: each
//! combination of answers is a disk that the model allows.
//!
//! - `record.rs`: what calls do is written down;
//! - `sync.rs`: what becomes durable, and by which call;
//! - `crash.rs`: power fails; which questions are open, and what their answers leave;
//! - `outcome.rs`: the same for whoever tells it.
//!
//! **Model `ext4`** (`data=ordered` with immediate allocation): changes of names and sizes are committed in the order in which
//! they were made, each system call's as one; a block that a committed size covers was written before. Blocks in place are
//! written whole, in any order. `fsync(2)` of a file or directory commits all changes up to the last one of it.
//!
//! **Model `posix`**, the weakest that POSIX allows: each change has reached the disk or not, whatever the others have, but for
//! `fsync(2)`: of a file, its content and size; of a directory, the names in it. A renaming within one directory is one change.
//!
//! **Not part of it:** attributes (owner, mode, times, `xattr(7)`) are durable at once; a shared mapping of a file that may be
//! written is refused ([`refuse_mapping`]), for stores into it are no calls.

mod crash;
mod outcome;
mod record;
mod sync;

pub use crash::{Question, answer, crash, question};
pub use outcome::{Doubt, outcome, written};
pub use record::{
    after_write, before_write, begin_call, end_call, forget, note_made, note_name, note_size, refuse_mapping, remembers,
};
pub use sync::{sync_all, sync_file, sync_written};

use super::inode::Directory;
use crate::id::Id;
use crate::map::Map;
use std::sync::Arc;

/// What power loss may take away.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Disk {
    /// What the disk guarantees.
    pub model: Model,
    /// The names that are durable, over what the host has.
    names: Map<Id, Directory>,
    /// Changes of names and sizes that may be lost, oldest first.
    pub changes: Vec<Change>,
    /// Blocks that may be older on the disk, by file and number.
    blocks: Map<(Id, u64), Block>,
    /// Whether power has failed, and what is asked then.
    pub stage: Stage,
    /// The call that is being made; 0 between two calls, so that it tells no states apart.
    call: u64,
    /// Whether that call has changed names already: those changes are one.
    is_open: bool,
}

/// Whether power has failed, and what is asked then: one after the other, as later questions depend on earlier answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// It has not.
    Running,
    /// Which changes of names have reached the disk.
    Names,
    /// How long files are.
    Sizes,
    /// What blocks hold.
    Blocks,
}

/// What a disk guarantees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Model {
    /// In which order changes reach it.
    pub order: Order,
    /// Bytes that are written at once.
    pub block: u32,
}

/// In which order changes of names and sizes reach a disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// In that in which they were made; data that they cover before them.
    Ext4,
    /// In any.
    Posix,
}

/// A change of names or sizes that may be lost.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Change {
    /// What changes.
    pub what: What,
    /// The number of the call that has made it.
    pub call: u64,
    /// Whether it gives a new file its name: without that its data is not found again.
    pub makes_file: bool,
}

/// What a change does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// Names lead elsewhere, all of them at once.
    Names(Vec<NameChange>),
    /// A file has another length.
    Size {
        /// Which one.
        inode: Id,
        /// Its length before.
        from: u64,
        /// Its length since.
        to: u64,
    },
}

/// A name that leads elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NameChange {
    /// The directory that it is in.
    pub directory: Id,
    /// The name.
    pub name: Vec<u8>,
    /// What it led to.
    pub before: Option<Id>,
    /// What it leads to.
    pub after: Option<Id>,
}

/// The contents that a block may have on the disk, oldest first; the last is that of the page cache.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Block {
    versions: Vec<Version>,
}

/// One content of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Version {
    /// Its bytes, as far as the file reached.
    bytes: Arc<[u8]>,
    /// The change that it came with, by its place in the journal from 1; 0 if it came with none that may be lost.
    change: usize,
    /// The block was given back by that change: what was written before belongs to another block of the disk.
    is_freed: bool,
}

impl Disk {
    /// A disk on which all is durable.
    #[must_use]
    pub fn new(model: Model, names: Map<Id, Directory>) -> Self {
        let (changes, blocks) = (Vec::new(), Map::default());
        Self { model, names, changes, blocks, stage: Stage::Running, call: 0, is_open: false }
    }

    /// Whether nothing could be lost.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.blocks.is_empty()
    }

    /// Files with blocks that may be older on the disk.
    #[must_use]
    pub fn dirty_files(&self) -> Vec<Id> {
        let mut files: Vec<Id> = self.blocks.keys().map(|(inode, _)| *inode).collect();
        files.dedup();
        files
    }
}

impl Default for Model {
    fn default() -> Self {
        Self { order: Order::Ext4, block: 4096 }
    }
}

impl What {
    /// Whether it is about an inode: its size, its name, or a name in it.
    #[must_use]
    pub fn is_about(&self, id: Id) -> bool {
        match self {
            Self::Names(names) => {
                names.iter().any(|name| [Some(name.directory), name.before, name.after].contains(&Some(id)))
            }
            Self::Size { inode, .. } => *inode == id,
        }
    }
}
