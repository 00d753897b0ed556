//! What every tree has: a few standard directories, links and devices, each a function of its path.

use super::device;
use super::inode::{Inode, Kind};
use crate::id::Id;
use std::collections::BTreeSet;

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
pub const DEVICES: &[(&str, u32, u32)] = &[
    ("/dev/full", 0o666, device::FULL),
    ("/dev/null", 0o666, device::NULL),
    ("/dev/ptmx", 0o666, device::PTMX),
    ("/dev/random", 0o666, device::RANDOM),
    ("/dev/tty", 0o666, device::TTY),
    ("/dev/urandom", 0o666, device::URANDOM),
    ("/dev/zero", 0o666, device::ZERO),
];
/// When the standard directories and devices were made: the day that the virtual clock starts with.
const MADE: u64 = 1_735_689_600_000_000_000;

/// The root directory.
#[must_use]
pub fn root() -> Id {
    id_of(b"/")
}

/// The id of a path of the base.
pub fn id_of(path: &[u8]) -> Id {
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

/// Whether the host is never asked about a path.
pub fn is_inside(path: &[u8]) -> bool {
    path == b"/dev" || path.starts_with(b"/dev/")
}

/// The number of a slave of a pseudo-terminal, `/dev/pts/NUMBER`.
#[must_use]
pub fn terminal(path: &[u8]) -> Option<u32> {
    std::str::from_utf8(path.strip_prefix(b"/dev/pts/")?).ok()?.parse().ok()
}

/// What stands at a path in every tree.
pub fn standard(path: &[u8]) -> Option<Inode> {
    let made = |kind, mode| Inode::new(kind, mode, (0, 0), id_of(path), MADE);
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

/// Names in a directory that every tree has.
pub fn standard_names(path: &[u8]) -> BTreeSet<Vec<u8>> {
    let directories = DIRECTORIES.iter().map(|row| row.0);
    let all = directories.chain(LINKS.iter().map(|row| row.0)).chain(DEVICES.iter().map(|row| row.0));
    let below = |name: &str| {
        let rest = name.as_bytes().strip_prefix(path)?;
        let rest = if path == b"/" { rest } else { rest.strip_prefix(b"/")? };
        (!rest.is_empty() && !rest.contains(&b'/')).then(|| rest.to_vec())
    };
    all.filter_map(below).collect()
}
