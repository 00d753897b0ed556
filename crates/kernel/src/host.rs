//! What the kernel may see of the host: files under declared roots, read-only, as they were when first looked at.
//!
//! The kernel itself never touches the host. Whoever builds a world supplies an implementation of [`HostFiles`]; it must
//! answer the same question with the same answer for as long as the world lives.

use memory::Source;
use std::fmt;
use std::sync::Arc;

/// Read-only files of the host under declared roots.
pub trait HostFiles: Send + Sync {
    /// What is at an absolute path, symbolic links not followed; nothing if it is not declared or not there.
    fn entry(&self, path: &[u8]) -> Option<HostEntry>;
    /// The names in a directory, sorted; only those that are declared, or lead to declared ones.
    fn list(&self, path: &[u8]) -> Vec<Vec<u8>>;
    /// The content of a regular file.
    fn content(&self, path: &[u8]) -> Option<Arc<[u8]>>;

    /// The same for a file that is too large to be read as a whole; nothing for any other.
    fn large(&self, path: &[u8]) -> Option<Arc<dyn Source>> {
        let _ = path;
        None
    }

    /// Whether something is at an absolute path that guests are not shown; for messages only.
    fn is_withheld(&self, path: &[u8]) -> bool {
        let _ = path;
        false
    }

    /// A file that has become another one since it was first looked at: what was read of it is not believed.
    fn changed(&self) -> Option<Vec<u8>> {
        None
    }
}

/// What the host has at a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct HostEntry {
    /// `st_mode`: kind and permissions.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Links.
    pub links: u32,
    /// Inode number.
    pub inode: u64,
    /// Last modification, nanoseconds since 1970.
    pub modified: u64,
    /// Where a symbolic link leads.
    pub target: Vec<u8>,
}

/// A host without files: every path must be created inside.
#[derive(Debug)]
pub struct NoHost;

impl HostFiles for NoHost {
    fn entry(&self, _: &[u8]) -> Option<HostEntry> {
        None
    }

    fn list(&self, _: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn content(&self, _: &[u8]) -> Option<Arc<[u8]>> {
        None
    }
}

/// The host of a kernel. Not part of its state: all hosts are equal, because a world never changes its host.
#[derive(Clone)]
pub struct Host(pub Arc<dyn HostFiles>);

impl PartialEq for Host {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Host {}

impl std::hash::Hash for Host {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host")
    }
}
