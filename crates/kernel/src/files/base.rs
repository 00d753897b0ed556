//! What a world's tree holds before anybody changes it: files of the host, a few standard directories and devices, and
//! the synthetic trees of `/proc` and `/sys`.
//!
//! All of it is a function of the path, so none of it is state: [`Known`] only remembers which path an id stands for.

use super::inode::{Inode, Kind};
use super::synthetic;
use crate::Kernel;
use crate::host::Host;
use crate::id::Id;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, RwLock};

/// Directories that exist whether or not the host declares them, and their permissions.
const DIRECTORIES: &[(&str, u32)] = &[
    ("/", 0o755),
    ("/dev", 0o755),
    ("/dev/mqueue", 0o1777),
    ("/dev/pts", 0o755),
    ("/dev/shm", 0o1777),
    ("/etc", 0o755),
    ("/home", 0o755),
    ("/proc", 0o555),
    ("/root", 0o700),
    ("/run", 0o755),
    ("/run/lock", 0o1777),
    ("/sys", 0o555),
    ("/tmp", 0o1777),
    ("/usr", 0o755),
    ("/usr/bin", 0o755),
    ("/var", 0o755),
    ("/var/lib", 0o755),
    ("/var/log", 0o755),
    ("/var/run", 0o755),
    ("/var/tmp", 0o1777),
];

/// Links that exist in `/dev`.
const LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
];

/// Device nodes, their permissions and numbers.
const DEVICES: &[(&str, u32, u32)] = &[
    ("/dev/full", 0o666, super::device::FULL),
    ("/dev/null", 0o666, super::device::NULL),
    ("/dev/ptmx", 0o666, super::device::PTMX),
    ("/dev/random", 0o666, super::device::RANDOM),
    ("/dev/tty", 0o666, super::device::TTY),
    ("/dev/urandom", 0o666, super::device::URANDOM),
    ("/dev/zero", 0o666, super::device::ZERO),
];

/// When the standard directories and devices were made: the day that the virtual clock starts with.
const MADE: u64 = 1_735_689_600_000_000_000;

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
        found.or_else(|| (id == root()).then(|| Arc::new(standard(b"/").expect("the root is standard"))))
    }

    fn remember(&self, id: Id, base: Base) {
        self.bases.write().expect("no panic while writing").entry(id).or_insert_with(|| Arc::new(base));
    }

    /// The names in a directory, found once.
    fn listed(&self, path: &[u8], find: impl FnOnce() -> Listing) -> Listing {
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

    fn has(&self, id: Id) -> bool {
        self.bases.read().expect("no panic while writing").contains_key(&id)
    }
}

/// The root directory.
#[must_use]
pub fn root() -> Id {
    id_of(b"/")
}

/// The id of a path of the base.
fn id_of(path: &[u8]) -> Id {
    path.iter().fold(Id::named("file"), |id, byte| id.child(u64::from(*byte)))
}

/// The id of a directory of the base whose path is given; it must exist.
pub fn parent_of(path: &[u8]) -> (Id, Vec<u8>) {
    let cut = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    (id_of(&path[..cut.max(1)]), path[cut + 1..].to_vec())
}

/// `directory/name`.
#[must_use]
pub fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Whether a path lies in `/proc` or `/sys`, whose files are made when they are looked at.
#[must_use]
pub fn is_synthetic(path: &[u8]) -> bool {
    path.starts_with(b"/proc/") || path.starts_with(b"/sys/") || path == b"/proc" || path == b"/sys"
}

/// The number of a slave of a pseudo-terminal, `/dev/pts/NUMBER`.
#[must_use]
pub fn terminal(path: &[u8]) -> Option<u32> {
    std::str::from_utf8(path.strip_prefix(b"/dev/pts/")?).ok()?.parse().ok()
}

/// The id of a device's node in `/dev`, by its number.
#[must_use]
pub fn device(kernel: &Kernel, number: u32) -> Option<Id> {
    let row = DEVICES.iter().find(|row| row.2 == number)?;
    find(kernel, row.0.as_bytes())
}

/// What the base has at a path: its id, now known.
#[must_use]
pub fn find(kernel: &Kernel, path: &[u8]) -> Option<Id> {
    let known = &kernel.files.known;
    let id = id_of(path);
    if is_synthetic(path) || terminal(path).is_some() {
        synthetic::exists(kernel, path).then(|| known.remember(id, base_of(path, None, 0)))?;
        return Some(id);
    }
    if known.has(id) {
        return Some(id);
    }
    let (id, base) = of_host(&kernel.host, path, id).or_else(|| standard(path).map(|base| (id, base)))?;
    known.remember(id, base);
    Some(id)
}

/// Names in a directory of the base, sorted.
#[must_use]
pub fn list(kernel: &Kernel, path: &[u8]) -> BTreeSet<Vec<u8>> {
    if is_synthetic(path) {
        return synthetic::list(kernel, path);
    }
    let mut names = standard_names(path);
    if path == b"/dev/pts" {
        names.extend(crate::terminal::numbers(kernel).into_iter().map(|number| number.to_string().into_bytes()));
    }
    if !is_inside(path) {
        let of_host = kernel.host.0.list(path).into_iter();
        names.extend(of_host.filter(|name| find(kernel, &join(path, name)).is_some()));
    }
    names
}

/// The same in the order of cookies. Those of the host are found once: a directory may have hundreds of thousands, and is
/// read in small pieces.
#[must_use]
pub fn listing(kernel: &Kernel, path: &[u8]) -> Listing {
    let find = || {
        let mut names: Vec<(u64, Vec<u8>)> = list(kernel, path).into_iter().map(|name| (cookie(&name), name)).collect();
        names.sort_unstable();
        names.into()
    };
    if is_synthetic(path) || is_inside(path) { find() } else { kernel.files.known.listed(path, find) }
}

/// Where a directory is read on behind a name.
///
/// It is made from the name, so that entries that come and go between two calls neither hide nor repeat others, as
/// `readdir(3)` wants of the rest.
#[must_use]
pub fn cookie(name: &[u8]) -> u64 {
    let hash = name.iter().fold(Id::named("entry"), |id, byte| id.child(u64::from(*byte)));
    (hash.0 >> 1).max(3)
}

fn base_of(path: &[u8], inode: Option<Inode>, size: u64) -> Base {
    Base { path: path.to_vec(), inode, size }
}

/// What the host has at a path. Names of one file of the host are one file inside, too.
fn of_host(host: &Host, path: &[u8], id: Id) -> Option<(Id, Base)> {
    if is_inside(path) {
        return None;
    }
    let entry = host.0.entry(path)?;
    let inode = Inode::of_host(&entry)?;
    let shared = inode.kind == Kind::Regular && entry.links > 1;
    let id =
        if shared { Id::named("hard link").child(entry.inode).child(entry.modified).child(entry.size) } else { id };
    Some((id, base_of(path, Some(inode), entry.size)))
}

/// Whether the host is never asked about a path.
fn is_inside(path: &[u8]) -> bool {
    path == b"/dev" || path.starts_with(b"/dev/")
}

fn standard(path: &[u8]) -> Option<Base> {
    let made = |kind, mode| base_of(path, Some(Inode::new(kind, mode, (0, 0), id_of(path), MADE)), 0);
    let is_here = |name: &str| name.as_bytes() == path;
    if let Some((_, mode)) = DIRECTORIES.iter().find(|(name, _)| is_here(name)) {
        return Some(made(Kind::Directory, *mode));
    }
    if let Some((_, target)) = LINKS.iter().find(|(name, _)| is_here(name)) {
        return Some(made(Kind::Link(target.as_bytes().into()), 0o777));
    }
    let device = DEVICES.iter().find(|(name, ..)| is_here(name));
    device.map(|(_, mode, number)| made(Kind::Character(*number), *mode))
}

fn standard_names(path: &[u8]) -> BTreeSet<Vec<u8>> {
    let directories = DIRECTORIES.iter().map(|row| row.0);
    let all = directories.chain(LINKS.iter().map(|row| row.0)).chain(DEVICES.iter().map(|row| row.0));
    let below = |name: &str| {
        let rest = name.as_bytes().strip_prefix(path)?;
        let rest = if path == b"/" { rest } else { rest.strip_prefix(b"/")? };
        (!rest.is_empty() && !rest.contains(&b'/')).then(|| rest.to_vec())
    };
    all.filter_map(below).collect()
}
