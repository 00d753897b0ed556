//! `/proc` and `/sys`: files whose text is made from the kernel's state when they are read (`proc(5)`).
//!
//! Nothing here is stored: a path is parsed (`Item`) and answered. Links such as `/proc/self/exe` lead to inodes and
//! descriptions of the world itself, so none of them leads out of it.

mod descriptors;
mod item;
mod memory_text;
mod process;
mod process_text;
mod system;
mod text;

use super::inode::{Inode, Kind};
use super::standard;
use crate::Kernel;
use crate::capability::Capability;
use crate::errno::{EACCES, ENOENT, Errno};
use crate::id::{Id, Pid};
pub use item::Jump;
use item::{Item, Scope};
use std::collections::BTreeSet;
pub use text::OPERATIONS;

fn names(path: &[u8]) -> Vec<&str> {
    let parts = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    parts.map(|name| std::str::from_utf8(name).unwrap_or("?")).collect()
}

/// Parses a path.
fn item(kernel: &Kernel, path: &[u8]) -> Option<Item> {
    let names = names(path);
    match names.as_slice() {
        ["proc", "self"] => Some(Item::Own { thread: false }),
        ["proc", "thread-self"] => Some(Item::Own { thread: true }),
        ["proc", number, rest @ ..] if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            process::item(kernel, number.parse().ok()?, rest)
        }
        _ => system::item(path),
    }
}

impl Kernel {
    /// The process whose folder in `/proc` this is.
    #[must_use]
    pub fn process_of_folder(&self, inode: Id) -> Option<Pid> {
        let base = self.files.known.get(inode)?;
        match names(&base.path).as_slice() {
            ["proc", number] => self.process_of(number.parse().ok()?),
            _ => None,
        }
    }
}

/// Whether there is something at a path.
#[must_use]
pub fn exists(kernel: &Kernel, path: &[u8]) -> bool {
    if let Some(number) = standard::terminal(path) {
        return crate::terminal::numbers(kernel).contains(&number);
    }
    item(kernel, path).is_some()
}

/// Names in a directory.
#[must_use]
pub fn list(kernel: &Kernel, path: &[u8]) -> BTreeSet<Vec<u8>> {
    let Some(Item::Directory(scope)) = item(kernel, path) else { return BTreeSet::new() };
    if let Some(scope) = scope {
        return process::list(kernel, scope, &names(path)[2..]);
    }
    let mut names = system::list(path);
    if path == b"/proc" {
        names.extend(kernel.processes.keys().map(|pid| pid.0.to_string().into_bytes()));
        names.extend([b"self".to_vec(), b"thread-self".to_vec()]);
    }
    names
}

/// What `stat(2)` tells about a path.
#[must_use]
pub fn inode(kernel: &Kernel, path: &[u8], id: Id) -> Option<Inode> {
    if let Some(number) = standard::terminal(path) {
        // The group `tty`, as every distribution mounts it.
        let kind = Kind::Character(SLAVE_DEVICE + number);
        return exists(kernel, path).then(|| Inode::new(kind, 0o620, (0, 5), id, kernel.clock.real()));
    }
    let (kind, mode, scope) = match item(kernel, path)? {
        Item::Directory(scope) => (Kind::Directory, directory_mode(path), scope),
        Item::Text(mode, _, scope) => (Kind::Text, mode, scope),
        Item::Own { .. } => (Kind::Magic, 0o777, None),
        Item::Descriptor(scope, fd) => (Kind::Magic, descriptor_mode(kernel, scope, fd), Some(scope)),
        Item::DescriptorText(scope, _) => (Kind::Text, 0o400, Some(scope)),
        Item::Place(scope, _) => (Kind::Magic, 0o777, Some(scope)),
        Item::Uuid => (Kind::Text, 0o444, None),
        Item::Link(target) => (Kind::Link(target.as_bytes().into()), 0o777, None),
    };
    let owner = scope.and_then(|scope| kernel.processes.get(&scope.pid)).map_or((0, 0), |process| {
        let credentials = &process.credentials;
        (credentials.user[1], credentials.group[1])
    });
    Some(Inode::new(kind, mode, owner, id, kernel.clock.real()))
}

/// Device numbers of slaves start here.
pub const SLAVE_DEVICE: u32 = 0x8800;

fn directory_mode(path: &[u8]) -> u32 {
    match names(path).last() {
        Some(&"fd") => 0o500,
        _ => 0o555,
    }
}

/// Permissions of `/proc/PID/fd/N` tell how it is open (`proc(5)`).
fn descriptor_mode(kernel: &Kernel, scope: Scope, fd: i32) -> u32 {
    let open = descriptors::description(kernel, scope, fd).and_then(|id| kernel.descriptions.get(&id));
    let Some(open) = open else { return 0o100 };
    let (reads, writes) = (open.is_readable(), open.is_writable());
    0o100 | if reads { 0o400 } else { 0 } | if writes { 0o200 } else { 0 }
}

fn item_of(kernel: &Kernel, id: Id) -> Option<Item> {
    let base = kernel.files.known.get(id)?;
    standard::is_synthetic(&base.path).then(|| item(kernel, &base.path))?
}

/// Where a link leads when `asker` follows it.
pub fn jump(kernel: &Kernel, asker: Pid, id: Id) -> Result<Jump, Errno> {
    match item_of(kernel, id).ok_or(ENOENT)? {
        Item::Own { .. } => link_text(kernel, asker, id).map(Jump::Path),
        Item::Descriptor(scope, fd) => {
            let description = descriptors::description(kernel, scope, fd).ok_or(ENOENT)?;
            may_look(kernel, asker, scope.pid)?;
            Ok(Jump::Node(descriptors::node(kernel, description)))
        }
        Item::Place(scope, spot) => {
            may_look(kernel, asker, scope.pid)?;
            process::spot(kernel, scope, spot)
        }
        Item::Link(target) => Ok(Jump::Path(target.into())),
        _ => Err(ENOENT),
    }
}

/// `ptrace(2)`, "Ptrace access mode checking", as far as files need it: the same user, or the superuser.
fn may_look(kernel: &Kernel, asker: Pid, pid: Pid) -> Result<(), Errno> {
    let credentials = |pid| kernel.processes.get(&pid).map(|process| &process.credentials);
    let user = |pid| credentials(pid).map(|credentials| credentials.user[3]);
    let is_free = || credentials(asker).is_some_and(|credentials| credentials.can(Capability::Trace));
    let is_allowed = asker == pid || asker == Pid(0) || user(asker) == user(pid) || is_free();
    if is_allowed { Ok(()) } else { Err(EACCES) }
}

/// The text that `readlink(2)` gives for a link.
pub fn link_text(kernel: &Kernel, asker: Pid, id: Id) -> Result<Vec<u8>, Errno> {
    match item_of(kernel, id).ok_or(ENOENT)? {
        Item::Own { thread: false } => Ok(asker.0.to_string().into_bytes()),
        Item::Own { thread: true } => Ok(format!("{0}/task/{0}", asker.0).into_bytes()),
        Item::Descriptor(scope, fd) => {
            may_look(kernel, asker, scope.pid)?;
            let description = descriptors::description(kernel, scope, fd).ok_or(ENOENT)?;
            Ok(descriptors::shown(kernel, description))
        }
        Item::Place(scope, spot) => {
            may_look(kernel, asker, scope.pid)?;
            process::spot_text(kernel, scope, spot)
        }
        Item::Link(target) => Ok(target.into()),
        _ => Err(ENOENT),
    }
}
