//! The tree of names: what was changed inside, laid over the base.

use super::base::{self, root};
use super::disk;
use super::inode::{Directory, Inode};
use super::synthetic;
use crate::Kernel;
use crate::errno::{ENOENT, Errno};
use crate::id::Id;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Kernel {
    /// What `stat(2)` tells about an inode, by value; nothing if it is gone.
    #[must_use]
    pub fn inode(&self, id: Id) -> Option<Inode> {
        if let Some(inode) = self.files.inodes.get(&id) {
            return Some(inode.clone());
        }
        let base = self.files.known.get(id)?;
        base.inode.clone().or_else(|| synthetic::inode(self, &base.path, id))
    }

    /// An inode to change; one of the base is copied first.
    pub fn inode_mut(&mut self, id: Id) -> Result<&mut Inode, Errno> {
        if !self.files.inodes.contains_key(&id) {
            let inode = self.inode(id).ok_or(ENOENT)?;
            self.files.inodes.insert(id, inode);
        }
        Ok(self.files.inodes.get_mut(&id).expect("it was just put there"))
    }

    /// What a name in a directory leads to.
    #[must_use]
    pub fn lookup(&self, directory: Id, name: &[u8]) -> Option<Id> {
        if let Some(changed) = self.files.directories.get(&directory).and_then(|changes| changes.entries.get(name)) {
            return *changed;
        }
        let base = self.files.known.get(directory)?;
        base::find(self, &base::join(&base.path, name))
    }

    /// All entries of a directory, without dots.
    #[must_use]
    pub fn entries(&self, directory: Id) -> BTreeMap<Vec<u8>, Id> {
        let base = self.files.known.get(directory);
        let changes = self.files.directories.get(&directory);
        let mut names = base.map(|base| base::list(self, &base.path)).unwrap_or_default();
        names.extend(changes.into_iter().flat_map(|changes| changes.entries.keys().cloned()));
        names.into_iter().filter_map(|name| self.lookup(directory, &name).map(|id| (name, id))).collect()
    }

    /// Lets a name lead to an inode, or to nothing.
    ///
    /// Only what differs from the base is kept, so that a file that came and went leaves no trace.
    pub fn set_entry(&mut self, directory: Id, name: &[u8], inode: Option<Id>) {
        disk::note_name(self, directory, name, inode);
        self.change_entry(directory, name, inode);
        let now = self.clock.real();
        if let Ok(inode) = self.inode_mut(directory) {
            (inode.modified, inode.changed) = (now, now);
        }
    }

    /// The same, and nobody sees when.
    pub(super) fn change_entry(&mut self, directory: Id, name: &[u8], inode: Option<Id>) {
        let below = self.files.known.get(directory).and_then(|base| base::find(self, &base::join(&base.path, name)));
        let entries = &mut self.directory_mut(directory).entries;
        if inode == below {
            entries.remove(name);
        } else {
            entries.insert(name.to_vec(), inode);
        }
        let changes = self.directory_mut(directory);
        if changes.entries.is_empty() && changes.place.is_none() {
            self.files.directories.remove(&directory);
        }
    }

    /// The changes of a directory.
    pub fn directory_mut(&mut self, directory: Id) -> &mut Directory {
        if !self.files.directories.contains_key(&directory) {
            self.files.directories.insert(directory, Directory::default());
        }
        self.files.directories.get_mut(&directory).expect("it was just put there")
    }

    /// Parent and name of a directory; the root is its own parent.
    #[must_use]
    pub fn place_of(&self, directory: Id) -> (Id, Vec<u8>) {
        if let Some(place) = self.files.directories.get(&directory).and_then(|changes| changes.place.clone()) {
            return place;
        }
        let base = self.files.known.get(directory);
        base.map_or((root(), Vec::new()), |base| base::parent_of(&base.path))
    }

    /// The path of a directory; nothing if it was removed, or lies in one that was.
    #[must_use]
    pub fn path_of(&self, mut directory: Id) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        while directory != root() {
            let (parent, name) = self.place_of(directory);
            if self.inode(directory)?.links == 0 {
                return None;
            }
            names.push(name);
            directory = parent;
        }
        let start = if names.is_empty() { vec![b'/'] } else { Vec::new() };
        Some(names.into_iter().rev().fold(start, |mut path, name| {
            path.push(b'/');
            path.extend(name);
            path
        }))
    }

    /// The path of a name in a directory.
    #[must_use]
    pub fn path_in(&self, directory: Id, name: &[u8]) -> Option<Vec<u8>> {
        self.path_of(directory).map(|path| base::join(&path, name))
    }

    /// A name has changed: whoever shows a path through it (`/proc/PID/fd`, `/proc/PID/exe`) shows the new one.
    pub fn path_changed(&mut self, old: &[u8], new: &[u8]) {
        let renewed = |path: &[u8]| {
            let rest = path.strip_prefix(old).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))?;
            Some([new, rest].concat())
        };
        let open = self.descriptions.iter().filter_map(|(id, open)| Some((*id, renewed(&open.path)?)));
        for (id, path) in open.collect::<Vec<_>>() {
            self.descriptions.get_mut(&id).expect("it was just found").path = path;
        }
        let running = self.processes.iter().filter_map(|(pid, process)| Some((*pid, renewed(&process.image.path)?)));
        for (pid, path) in running.collect::<Vec<_>>() {
            let process = self.processes.get_mut(&pid).expect("it was just found");
            Arc::make_mut(&mut process.image).path = path;
        }
    }
}
