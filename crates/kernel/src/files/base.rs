//! What a world's tree holds before anybody changes it: files of the host, a few standard directories and devices, and
//! the synthetic trees of `/proc` and `/sys`.
//!
//! All of it is a function of the path, so none of it is state: [`Known`] only remembers which path an id stands for.

use super::inode::{Inode, Kind};
use super::known::{Base, Listing};
use super::standard::{DEVICES, id_of, is_inside, standard, standard_names};
use super::synthetic;
use crate::Kernel;
use crate::host::Host;
use crate::id::Id;
use std::collections::BTreeSet;

pub use super::known::Known;
pub use super::standard::{is_synthetic, join, parent_of, root, terminal};

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
    let (id, base) =
        of_host(&kernel.host, path, id).or_else(|| standard(path).map(|inode| (id, base_of(path, Some(inode), 0))))?;
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
