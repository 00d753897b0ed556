//! What changes in the tree, for those who watch it (`inotify(7)`).

use super::notifier::*;
use super::place::Place;
use crate::Kernel;
use crate::descriptor::{File, POLLIN, POLLRDNORM};
use crate::id::Id;

/// Tells all watchers of an inode.
fn tell(kernel: &mut Kernel, inode: Id, mask: u32, cookie: u32, name: &[u8]) {
    for id in ids(kernel) {
        with(kernel, id, |notifier| notifier.tell(inode, mask, cookie, name));
    }
}

/// Lets a notifier queue events; whoever waits for them hears of it.
pub(super) fn with(kernel: &mut Kernel, id: Id, change: impl FnOnce(&mut Notifier)) {
    let Some(notifier) = kernel.files.notifiers.get_mut(&id) else { return };
    let before = notifier.queue.len();
    change(notifier);
    if notifier.queue.len() > before {
        crate::event::wake(kernel, File::Inotify(id), POLLIN | POLLRDNORM);
    }
}

fn ids(kernel: &Kernel) -> Vec<Id> {
    kernel.files.notifiers.keys().copied().collect()
}

/// Tells watchers of a file, and those of directories that it has a name in.
fn tell_with_parents(kernel: &mut Kernel, inode: Id, mask: u32) {
    if kernel.files.notifiers.is_empty() {
        return;
    }
    let is_directory = kernel.inode(inode).is_some_and(|inode| inode.is_directory());
    let mask = if is_directory { mask | IN_ISDIR } else { mask };
    for (directory, name) in names_of(kernel, inode) {
        tell(kernel, directory, mask, 0, &name);
    }
    tell(kernel, inode, mask, 0, b"");
}

/// The names of an inode in directories that somebody watches.
fn names_of(kernel: &Kernel, inode: Id) -> Vec<(Id, Vec<u8>)> {
    let watched = kernel.files.notifiers.values().flat_map(|notifier| notifier.watches.values().map(|on| on.0));
    let mut directories: Vec<Id> = watched.collect();
    directories.sort_unstable();
    directories.dedup();
    let here = |directory: Id| {
        let names = kernel.entries(directory).into_iter().filter(move |(_, id)| *id == inode);
        names.map(move |(name, _)| (directory, name))
    };
    directories.into_iter().flat_map(here).collect()
}

/// A file's content was read.
pub fn accessed(kernel: &mut Kernel, inode: Id) {
    tell_with_parents(kernel, inode, IN_ACCESS);
}

/// A file's content has changed.
pub fn modified(kernel: &mut Kernel, inode: Id) {
    tell_with_parents(kernel, inode, IN_MODIFY);
}

/// Permissions, owners or times have changed.
pub fn attributes(kernel: &mut Kernel, inode: Id) {
    tell_with_parents(kernel, inode, IN_ATTRIB);
}

/// A file was opened.
pub fn opened(kernel: &mut Kernel, inode: Id) {
    tell_with_parents(kernel, inode, IN_OPEN);
}

/// A description of a file was closed.
pub fn closed(kernel: &mut Kernel, inode: Id, was_writable: bool) {
    tell_with_parents(kernel, inode, if was_writable { IN_CLOSE_WRITE } else { IN_CLOSE_NOWRITE });
}

/// A name was created in a directory.
pub fn created(kernel: &mut Kernel, directory: Id, name: &[u8], is_directory: bool) {
    tell(kernel, directory, IN_CREATE | if is_directory { IN_ISDIR } else { 0 }, 0, name);
}

/// A file lost a name.
pub fn unlinked(kernel: &mut Kernel, inode: Id) {
    tell(kernel, inode, IN_ATTRIB, 0, b"");
}

/// A name was removed from a directory.
pub fn deleted(kernel: &mut Kernel, directory: Id, name: &[u8], is_directory: bool) {
    tell(kernel, directory, IN_DELETE | if is_directory { IN_ISDIR } else { 0 }, 0, name);
}

/// An inode has ended: its watches end with it.
pub fn ended(kernel: &mut Kernel, inode: Id) {
    tell(kernel, inode, IN_DELETE_SELF, 0, b"");
    for id in ids(kernel) {
        with(kernel, id, |notifier| {
            let watches = notifier.watches.iter().filter(|(_, on)| on.0 == inode);
            for watch in watches.map(|(watch, _)| *watch).collect::<Vec<_>>() {
                notifier.drop_watch(watch);
            }
        });
    }
}

/// A name was changed to another, which another file may have lost by that.
pub fn moved(kernel: &mut Kernel, [old, new]: [&Place; 2], (inode, is_directory): (Id, bool), replaced: Option<Id>) {
    if kernel.files.notifiers.is_empty() {
        return;
    }
    // Made from what moves, not counted: moves elsewhere must not show.
    let cookie = inode.child(kernel.clock.now()).0 as u32 | 1;
    let kind = if is_directory { IN_ISDIR } else { 0 };
    tell(kernel, old.parent, IN_MOVED_FROM | kind, cookie, &old.name);
    tell(kernel, new.parent, IN_MOVED_TO | kind, cookie, &new.name);
    if let Some(replaced) = replaced {
        tell(kernel, replaced, IN_ATTRIB | kind, 0, b"");
    }
    tell(kernel, inode, IN_MOVE_SELF, 0, b"");
}
