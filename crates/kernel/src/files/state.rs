//! What the kernel keeps of files: all that was changed inside.

use super::disk::Disk;
use super::inode::{Directory, Inode};
use super::known::Known;
use super::lock::Locks;
use super::notifier::Notifier;
use crate::id::Id;
use crate::map::Map;
use std::collections::{BTreeMap, BTreeSet};

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
    pub locks: Map<Id, Locks>,
    /// What power loss may take away, where power may fail.
    pub disk: Option<Box<Disk>>,
    /// `inotify(7)` instances.
    pub notifiers: Map<Id, Notifier>,
    /// What the base's ids stand for.
    pub known: Known,
}
