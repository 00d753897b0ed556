//! The calls of `inotify(7)`, and what its descriptors can do.
//!
//! A watch belongs to an inode, not to a name: a renamed file keeps it, and two names of one file
//! share it (inotify(7)). Adding a watch to a watched inode changes the mask of the old one and
//! gives its number again.

use super::inode::Kind;
use super::notifier::{Event, IN_ALL_EVENTS, IN_ONESHOT, Notifier};
use super::notify::with;
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

const IN_ONLYDIR: u32 = 0x0100_0000;
const IN_DONT_FOLLOW: u32 = 0x0200_0000;
const IN_EXCL_UNLINK: u32 = 0x0400_0000;
const IN_MASK_CREATE: u32 = 0x1000_0000;
const IN_MASK_ADD: u32 = 0x2000_0000;
const FIONREAD: u64 = 0x541b;

/// What an open notifier can do.
pub static OPERATIONS: Operations = Operations { read, write: refuse::write, poll, ioctl, close, seek: refuse::seek };

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
