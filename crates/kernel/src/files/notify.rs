//! What changes in the tree, for those who watch it (`inotify(7)`).

use super::Place;
use super::inode::Kind;
use super::permission::READ;
use super::walk::{AT_FDCWD, AT_SYMLINK_NOFOLLOW, Node};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{
    At, Description, File, O_CLOEXEC, O_NONBLOCK, O_RDONLY, Operations, POLLIN, POLLRDNORM, refuse,
};
use crate::errno::{EAGAIN, EEXIST, EINVAL, ENOENT, ENOTDIR, ENOTTY};
use crate::id::Id;
use crate::wait::{Condition, Wait};
use memory::Memory;
use std::collections::BTreeMap;

const IN_ACCESS: u32 = 0x1;
const IN_MODIFY: u32 = 0x2;
const IN_ATTRIB: u32 = 0x4;
const IN_CLOSE_WRITE: u32 = 0x8;
const IN_CLOSE_NOWRITE: u32 = 0x10;
const IN_OPEN: u32 = 0x20;
const IN_MOVED_FROM: u32 = 0x40;
const IN_MOVED_TO: u32 = 0x80;
const IN_CREATE: u32 = 0x100;
const IN_DELETE: u32 = 0x200;
const IN_DELETE_SELF: u32 = 0x400;
const IN_MOVE_SELF: u32 = 0x800;
const IN_ALL_EVENTS: u32 = 0xfff;
const IN_Q_OVERFLOW: u32 = 0x4000;
const IN_IGNORED: u32 = 0x8000;
const IN_ONLYDIR: u32 = 0x0100_0000;
const IN_DONT_FOLLOW: u32 = 0x0200_0000;
const IN_EXCL_UNLINK: u32 = 0x0400_0000;
const IN_MASK_CREATE: u32 = 0x1000_0000;
const IN_MASK_ADD: u32 = 0x2000_0000;
const IN_ISDIR: u32 = 0x4000_0000;
const IN_ONESHOT: u32 = 0x8000_0000;

/// `/proc/sys/fs/inotify/max_queued_events`.
const QUEUE_MAX: usize = 16384;
const FIONREAD: u64 = 0x541b;

/// What an open notifier can do.
pub static OPERATIONS: Operations = Operations { read, write: refuse::write, poll, ioctl, close, seek: refuse::seek };

/// An `inotify(7)` instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Notifier {
    /// Inode and mask, by watch descriptor.
    watches: BTreeMap<i32, (Id, u32)>,
    /// How many watches there were.
    born: i32,
    /// Events not yet read, oldest first.
    queue: Vec<Event>,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Event {
    watch: i32,
    mask: u32,
    cookie: u32,
    name: Vec<u8>,
}

impl Event {
    /// `struct inotify_event`, its name padded to a multiple of its size.
    fn bytes(&self) -> Vec<u8> {
        let padded = if self.name.is_empty() { 0 } else { (self.name.len() + 1).next_multiple_of(16) };
        let mut bytes = Vec::with_capacity(16 + padded);
        for field in [self.watch as u32, self.mask, self.cookie, padded as u32] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(&self.name);
        bytes.resize(16 + padded, 0);
        bytes
    }
}

impl Notifier {
    fn queue(&mut self, event: Event) {
        // inotify(7): an event like the last one in the queue is not queued again.
        if self.queue.last() == Some(&event) || self.queue.len() > QUEUE_MAX {
            return;
        }
        let overflow = Event { watch: -1, mask: IN_Q_OVERFLOW, cookie: 0, name: Vec::new() };
        self.queue.push(if self.queue.len() == QUEUE_MAX { overflow } else { event });
    }

    /// Tells those of its watches that are on an inode and want to know.
    fn tell(&mut self, inode: Id, mask: u32, cookie: u32, name: &[u8]) {
        let wants = |entry: &(i32, (Id, u32))| entry.1.0 == inode && entry.1.1 & mask & IN_ALL_EVENTS != 0;
        let watches: Vec<_> = self.watches.iter().map(|(watch, on)| (*watch, *on)).filter(wants).collect();
        for (watch, (_, wanted)) in watches {
            self.queue(Event { watch, mask, cookie, name: name.to_vec() });
            if wanted & IN_ONESHOT != 0 {
                self.drop_watch(watch);
            }
        }
    }

    fn drop_watch(&mut self, watch: i32) {
        if self.watches.remove(&watch).is_some() {
            self.queue(Event { watch, mask: IN_IGNORED, cookie: 0, name: Vec::new() });
        }
    }
}

/// Tells all watchers of an inode.
fn tell(kernel: &mut Kernel, inode: Id, mask: u32, cookie: u32, name: &[u8]) {
    for id in ids(kernel) {
        with(kernel, id, |notifier| notifier.tell(inode, mask, cookie, name));
    }
}

/// Lets a notifier queue events; whoever waits for them hears of it.
fn with(kernel: &mut Kernel, id: Id, change: impl FnOnce(&mut Notifier)) {
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

/// A name was changed to another.
pub fn moved(kernel: &mut Kernel, old: &Place, new: &Place, inode: Id, is_directory: bool) {
    if kernel.files.notifiers.is_empty() {
        return;
    }
    // Made from what moves, not counted: moves elsewhere must not show.
    let cookie = inode.child(kernel.clock.now()).0 as u32 | 1;
    let kind = if is_directory { IN_ISDIR } else { 0 };
    tell(kernel, old.parent, IN_MOVED_FROM | kind, cookie, &old.name);
    tell(kernel, new.parent, IN_MOVED_TO | kind, cookie, &new.name);
    tell(kernel, inode, IN_MOVE_SELF, 0, b"");
}

/// `inotify_init(2)`.
pub fn inotify_init(call: &mut Call<'_>) -> Result<u64, Stop> {
    make(call, 0)
}

/// `inotify_init1(2)`.
pub fn inotify_init1(call: &mut Call<'_>) -> Result<u64, Stop> {
    make(call, call.args[0] as u32)
}

fn make(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let id = call.fresh_id();
    let description =
        Description::new(File::Inotify(id), O_RDONLY | flags & O_NONBLOCK, b"anon_inode:inotify".to_vec());
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    call.kernel.files.notifiers.insert(id, Notifier::default());
    Ok(fd as u64)
}

fn notifier_of(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::Inotify(id) => Some(id),
        _ => None,
    }
}

/// The notifier behind a descriptor argument.
fn notifier(call: &Call<'_>) -> Result<Id, Stop> {
    let description = call.description_of(call.int(0))?;
    Ok(notifier_of(call.kernel, description).ok_or(EINVAL)?)
}

/// `inotify_add_watch(2)`.
pub fn inotify_add_watch(call: &mut Call<'_>) -> Result<u64, Stop> {
    let mask = call.args[2] as u32;
    let id = notifier(call)?;
    if mask & IN_ALL_EVENTS == 0 || mask & (IN_MASK_ADD | IN_MASK_CREATE) == IN_MASK_ADD | IN_MASK_CREATE {
        return Err(EINVAL.into());
    }
    call.only_flags((mask & IN_EXCL_UNLINK).into(), 0, "mask")?;
    let follow = if mask & IN_DONT_FOLLOW != 0 { AT_SYMLINK_NOFOLLOW } else { 0 };
    let Node::Inode(inode) = call.node_at(AT_FDCWD, call.args[1], follow)? else {
        return call.unsupported("watching what has no place in the tree");
    };
    let found = call.kernel.inode(inode).ok_or(ENOENT)?;
    if mask & IN_ONLYDIR != 0 && !found.is_directory() {
        return Err(ENOTDIR.into());
    }
    call.asker().may(&found, READ)?;
    if found.kind == Kind::Text {
        return call.unsupported("watching a synthetic file");
    }
    watch(call, id, inode, mask)
}

fn watch(call: &mut Call<'_>, id: Id, inode: Id, mask: u32) -> Result<u64, Stop> {
    let kept = mask & (IN_ALL_EVENTS | IN_ONESHOT);
    let notifier = call.kernel.files.notifiers.get_mut(&id).ok_or(EINVAL)?;
    if let Some((number, on)) = notifier.watches.iter_mut().find(|(_, on)| on.0 == inode) {
        if mask & IN_MASK_CREATE != 0 {
            return Err(EEXIST.into());
        }
        on.1 = if mask & IN_MASK_ADD != 0 { on.1 | kept } else { kept };
        return Ok(*number as u64);
    }
    notifier.born += 1;
    notifier.watches.insert(notifier.born, (inode, kept));
    Ok(notifier.born as u64)
}

/// `inotify_rm_watch(2)`.
pub fn inotify_rm_watch(call: &mut Call<'_>) -> Result<u64, Stop> {
    let id = notifier(call)?;
    let watch = call.int(1);
    let notifier = call.kernel.files.notifiers.get_mut(&id).ok_or(EINVAL)?;
    if !notifier.watches.contains_key(&watch) {
        return Err(EINVAL.into());
    }
    with(call.kernel, id, |notifier| notifier.drop_watch(watch));
    Ok(0)
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let id = notifier_of(call.kernel, description).ok_or(EINVAL)?;
    let notifier = call.kernel.files.notifiers.get_mut(&id).ok_or(EINVAL)?;
    let mut bytes = Vec::new();
    while let Some(event) = notifier.queue.first() {
        let next = event.bytes();
        if bytes.len() + next.len() > len {
            break;
        }
        bytes.extend(next);
        notifier.queue.remove(0);
    }
    if !bytes.is_empty() {
        return Ok(bytes);
    }
    if !notifier.queue.is_empty() {
        return Err(EINVAL.into());
    }
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Poll(description, POLLIN)).into())
}

fn queued(kernel: &Kernel, description: Id) -> &[Event] {
    let notifier = notifier_of(kernel, description).and_then(|id| kernel.files.notifiers.get(&id));
    notifier.map_or(&[], |notifier| &notifier.queue)
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    if queued(kernel, description).is_empty() { 0 } else { POLLIN | POLLRDNORM }
}

fn ioctl(call: &mut Call<'_>, description: Id, request: u64, argument: u64) -> Result<u64, Stop> {
    if request != FIONREAD {
        return Err(ENOTTY.into());
    }
    let length: usize = queued(call.kernel, description).iter().map(|event| event.bytes().len()).sum();
    call.store_u32(argument, length as u32)?;
    Ok(0)
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    if let Some(id) = notifier_of(kernel, description) {
        kernel.files.notifiers.remove(&id);
    }
}
