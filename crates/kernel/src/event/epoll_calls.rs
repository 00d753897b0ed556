//! `epoll_create(2)` and `epoll_ctl(2)`.

use super::epoll::{EPOLLET, EPOLLEXCLUSIVE, EPOLLWAKEUP, Epoll, Item, Key, Watcher};
use super::ready::set_ready;
use super::wake::{forget, unwatch, wake};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Description, File, O_CLOEXEC, O_RDWR, Operations, POLLIN, POLLRDNORM, noop_seek, refuse};
use crate::errno::{EEXIST, EINVAL, ELOOP, ENOENT, EPERM, Errno};
use crate::id::{Id, Tid};
use memory::Memory;

/// `EPOLLERR | EPOLLHUP`: always asked for.
const ALWAYS: u32 = 0x18;
/// What may be asked for together with [`EPOLLEXCLUSIVE`].
const EXCLUSIVE_ALLOWED: u32 = 0x1f | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE;
/// `EP_MAX_NESTS`.
const NESTS_MAX: usize = 4;

/// What epoll descriptors can do.
pub static OPERATIONS: Operations =
    Operations { read: refuse::read, write: refuse::write, poll, ioctl: refuse::ioctl, close, seek: noop_seek };

/// `epoll_create(2)`.
pub fn create(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.int(0) <= 0 {
        return Err(EINVAL.into());
    }
    new_set(call, 0)
}

/// `epoll_create1(2)`.
pub fn create1(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[0] as u32;
    if flags & !O_CLOEXEC != 0 {
        return Err(EINVAL.into());
    }
    new_set(call, flags)
}

fn new_set(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    let id = call.fresh_id();
    let description = Description::new(File::Epoll(id), O_RDWR, b"anon_inode:[eventpoll]".to_vec());
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    call.kernel.events.epolls.insert(id, Epoll::default());
    Ok(fd as u64)
}

/// What `epoll_ctl(2)` is asked to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Delete,
    Modify,
}

/// `epoll_ctl(2)`.
pub fn control(call: &mut Call<'_>) -> Result<u64, Stop> {
    let operation = match call.args[1] as u32 {
        1 => Some(Operation::Add),
        2 => Some(Operation::Delete),
        3 => Some(Operation::Modify),
        _ => None,
    };
    let item = match operation {
        Some(Operation::Delete) => Item { events: 0, data: 0 },
        _ => load_item(call)?,
    };
    let set = call.description_of(call.int(0))?;
    let fd = call.int(2);
    let key = Key { fd, description: call.description_of(fd)? };
    let file = call.description(key.description).file;
    if !can_poll(file) {
        return Err(EPERM.into());
    }
    let (File::Epoll(epoll), Some(operation)) = (call.description(set).file, operation) else {
        return Err(EINVAL.into());
    };
    if set == key.description {
        return Err(EINVAL.into());
    }
    check_exclusive(call.kernel, operation, item, file, Watcher { epoll, key })?;
    match operation {
        Operation::Add => add(call, Watcher { epoll, key }, file, item)?,
        Operation::Delete => delete(call.kernel, Watcher { epoll, key })?,
        Operation::Modify => modify(call, Watcher { epoll, key }, item)?,
    }
    Ok(0)
}

/// `struct epoll_event`, which is packed.
fn load_item(call: &mut Call<'_>) -> Result<Item, Stop> {
    let address = call.args[3];
    let events = call.load_u32(address)?;
    Ok(Item { events: events | ALWAYS, data: call.load_u64(address.wrapping_add(4))? })
}

/// Regular files, directories and `/dev/null` cannot be watched: they are always ready.
fn can_poll(file: File) -> bool {
    !matches!(file, File::Inode(_) | File::Device(0x103 | 0x105 | 0x107))
}

fn check_exclusive(
    kernel: &Kernel,
    operation: Operation,
    item: Item,
    file: File,
    watcher: Watcher,
) -> Result<(), Errno> {
    let old = kernel.events.epolls.get(&watcher.epoll).and_then(|epoll| epoll.items.get(&watcher.key));
    let was_exclusive = old.is_some_and(|old| old.events & EPOLLEXCLUSIVE != 0);
    let is_exclusive = item.events & EPOLLEXCLUSIVE != 0;
    let wrong = match operation {
        Operation::Add => is_exclusive && (matches!(file, File::Epoll(_)) || item.events & !EXCLUSIVE_ALLOWED != 0),
        Operation::Modify => is_exclusive || was_exclusive,
        Operation::Delete => false,
    };
    if wrong { Err(EINVAL) } else { Ok(()) }
}

fn add(call: &mut Call<'_>, watcher: Watcher, file: File, item: Item) -> Result<(), Errno> {
    if let File::Epoll(inner) = file {
        check_nesting(call.kernel, watcher.epoll, inner)?;
    }
    let epoll = call.kernel.events.epolls.get_mut(&watcher.epoll).ok_or(EINVAL)?;
    if epoll.items.contains_key(&watcher.key) {
        return Err(EEXIST);
    }
    epoll.items.insert(watcher.key, item);
    let mut watchers = call.kernel.events.watchers.get(&file).cloned().unwrap_or_default();
    watchers.push(watcher);
    call.kernel.events.watchers.insert(file, watchers);
    list_if_ready(call, watcher, item);
    Ok(())
}

fn modify(call: &mut Call<'_>, watcher: Watcher, item: Item) -> Result<(), Errno> {
    let epoll = call.kernel.events.epolls.get_mut(&watcher.epoll).ok_or(EINVAL)?;
    *epoll.items.get_mut(&watcher.key).ok_or(ENOENT)? = item;
    list_if_ready(call, watcher, item);
    Ok(())
}

/// An item that is ready when it is added or changed counts as having just become so.
///
/// Edge-triggered items count as ready when they are added or modified, so that no event is lost
/// between opening and watching.
fn list_if_ready(call: &mut Call<'_>, watcher: Watcher, item: Item) {
    let holds = item.returned(call.kernel, call.memory, call.tid, watcher.key) != 0;
    let epoll = call.kernel.events.epolls.get_mut(&watcher.epoll).expect("the caller has it open");
    if holds && !epoll.is_listed(watcher.key) {
        epoll.list(watcher.key);
        wake(call.kernel, File::Epoll(watcher.epoll), POLLIN | POLLRDNORM);
    }
}

fn delete(kernel: &mut Kernel, watcher: Watcher) -> Result<(), Errno> {
    let epoll = kernel.events.epolls.get(&watcher.epoll).ok_or(EINVAL)?;
    if !epoll.items.contains_key(&watcher.key) {
        return Err(ENOENT);
    }
    unwatch(kernel, watcher);
    Ok(())
}

/// Sets may watch sets, but not in circles and not too deeply (`epoll_ctl(2)`, `ELOOP`).
fn check_nesting(kernel: &Kernel, outer: Id, inner: Id) -> Result<(), Errno> {
    let below = depth_below(kernel, inner, outer, 0).ok_or(ELOOP)?;
    if below + depth_above(kernel, outer) + 1 > NESTS_MAX { Err(ELOOP) } else { Ok(()) }
}

/// How many sets are nested below one; nothing if `forbidden` is among them, or they are too many.
fn depth_below(kernel: &Kernel, set: Id, forbidden: Id, depth: usize) -> Option<usize> {
    if set == forbidden || depth > NESTS_MAX {
        return None;
    }
    let mut deepest = 0;
    for inner in sets_in(kernel, set) {
        deepest = deepest.max(1 + depth_below(kernel, inner, forbidden, depth + 1)?);
    }
    Some(deepest)
}

/// How many sets are nested above one.
fn depth_above(kernel: &Kernel, set: Id) -> usize {
    let watchers = kernel.events.watchers.get(&File::Epoll(set)).into_iter().flatten();
    watchers.map(|watcher| 1 + depth_above(kernel, watcher.epoll)).max().unwrap_or(0)
}

fn sets_in(kernel: &Kernel, set: Id) -> Vec<Id> {
    let keys = kernel.events.epolls.get(&set).into_iter().flat_map(|epoll| epoll.items.keys());
    let files = keys.filter_map(|key| kernel.descriptions.get(&key.description)).map(|open| open.file);
    files.filter_map(|file| if let File::Epoll(inner) = file { Some(inner) } else { None }).collect()
}

/// Without a thread that asks, there are no signals to see; everything else is the same.
fn poll(kernel: &Kernel, memory: &Memory, description: Id) -> u16 {
    match kernel.descriptions.get(&description).map(|open| open.file) {
        Some(File::Epoll(id)) => set_ready(kernel, memory, Tid(0), id),
        _ => 0,
    }
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    let Some(File::Epoll(id)) = kernel.descriptions.get(&description).map(|open| open.file) else { return };
    let keys: Vec<Key> =
        kernel.events.epolls.get(&id).map(|epoll| epoll.items.keys().copied().collect()).unwrap_or_default();
    for key in keys {
        forget(kernel, Watcher { epoll: id, key });
    }
    kernel.events.epolls.remove(&id);
}
