//! What ids of the base stand for: remembered, but no state.

use super::inode::Inode;
use super::standard::{root, standard};
use crate::id::Id;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, RwLock};

/// Which path of the base an id stands for.
///
/// Not part of the state: ids are made from paths, so this is a function written down; all are equal.
#[derive(Clone, Default)]
pub struct Known {
    bases: Arc<RwLock<BTreeMap<Id, Arc<Base>>>>,
    /// Directories of the host that were listed.
    lists: Arc<RwLock<BTreeMap<Vec<u8>, Listing>>>,
}

/// Names in a directory in the order in which `getdents64(2)` gives them, each with its cookie.
pub type Listing = Arc<[(u64, Vec<u8>)]>;

/// Directories of the host whose names are remembered.
const LISTS_MAX: usize = 256;

/// Something that was there before anybody changed anything.
#[derive(Debug)]
pub struct Base {
    /// Its absolute path, without links and dots.
    pub path: Vec<u8>,
    /// What `stat(2)` tells; nothing for synthetic files, which depend on the kernel's state.
    pub inode: Option<Inode>,
    /// Length of a regular file of the host.
    pub size: u64,
}

impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Known {}

impl std::hash::Hash for Known {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

impl Known {
    /// What an id of the base stands for.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<Arc<Base>> {
        let found = self.bases.read().expect("no panic while writing").get(&id).cloned();
        found.or_else(|| (id == root()).then(|| Arc::new(Base { path: b"/".to_vec(), inode: standard(b"/"), size: 0 })))
    }

    pub(super) fn remember(&self, id: Id, base: Base) {
        self.bases.write().expect("no panic while writing").entry(id).or_insert_with(|| Arc::new(base));
    }

    /// The names in a directory, found once.
    pub(super) fn listed(&self, path: &[u8], find: impl FnOnce() -> Listing) -> Listing {
        let known = self.lists.read().expect("no panic while writing").get(path).cloned();
        known.unwrap_or_else(|| {
            let names = find();
            let mut lists = self.lists.write().expect("no panic while writing");
            if lists.len() >= LISTS_MAX {
                lists.clear();
            }
            lists.insert(path.to_vec(), Arc::clone(&names));
            names
        })
    }

    pub(super) fn has(&self, id: Id) -> bool {
        self.bases.read().expect("no panic while writing").contains_key(&id)
    }
}
