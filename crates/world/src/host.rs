//! The host's files, read-only, under declared roots: the one place where a world touches the host.
//!
//! Everything is looked at once and remembered, so that the same question has the same answer for as long as a world
//! lives. Paths come from the kernel, which has followed symbolic links itself: no component may be one here, and a
//! directory whose real path differs from the path asked for is treated as absent.

use kernel::host::{HostEntry, HostFiles};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Host directories and files that guests may read.
#[derive(Debug, Default)]
pub struct DeclaredRoots {
    roots: Vec<PathBuf>,
    entries: Mutex<HashMap<PathBuf, Option<HostEntry>>>,
    contents: Mutex<HashMap<PathBuf, Option<Arc<[u8]>>>>,
}

/// What is declared unless the user says otherwise: programs, libraries and the configuration that they read.
pub const SYSTEM_ROOTS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];

const S_IFMT: u32 = 0o170_000;
const S_IFREG: u32 = 0o100_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFLNK: u32 = 0o120_000;

impl DeclaredRoots {
    /// Declares absolute paths: directories with all below them, or single files.
    #[must_use]
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots, ..Self::default() }
    }

    fn is_declared(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn leads_to_declared(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.starts_with(path))
    }

    fn look(&self, path: &Path) -> Option<HostEntry> {
        if !self.is_declared(path) {
            return self.leads_to_declared(path).then(passage);
        }
        if !is_its_own_real_path(path.parent()) {
            return None;
        }
        entry(path, &fs::symlink_metadata(path).ok()?)
    }

    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        let is_file = self.entry(path.as_os_str().as_bytes())?.mode & S_IFMT == S_IFREG;
        if !is_file {
            return None;
        }
        fs::read(path).ok().map(Arc::from)
    }
}

/// A directory that exists only because it leads to a declared one.
fn passage() -> HostEntry {
    HostEntry {
        mode: S_IFDIR | 0o755,
        uid: 0,
        gid: 0,
        size: 4096,
        links: 2,
        inode: 2,
        modified: 1_735_689_600_000_000_000,
        target: Vec::new(),
    }
}

fn is_its_own_real_path(path: Option<&Path>) -> bool {
    path.is_none_or(|path| fs::canonicalize(path).is_ok_and(|real| real == path))
}

fn entry(path: &Path, metadata: &Metadata) -> Option<HostEntry> {
    // Devices, sockets and FIFOs of the host are not for guests.
    if ![S_IFREG, S_IFDIR, S_IFLNK].contains(&(metadata.mode() & S_IFMT)) {
        return None;
    }
    let target = if metadata.is_symlink() { fs::read_link(path).ok()?.into_os_string().into_vec() } else { Vec::new() };
    Some(HostEntry {
        mode: metadata.mode(),
        uid: metadata.uid(),
        gid: metadata.gid(),
        size: metadata.size(),
        links: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
        inode: metadata.ino(),
        modified: (metadata.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec() as u64),
        target,
    })
}

/// The first component of `root` below `path`.
fn next_component(root: &Path, path: &Path) -> Option<Vec<u8>> {
    let below = root.strip_prefix(path).ok()?;
    below.iter().next().map(|name| name.as_bytes().to_vec())
}

impl HostFiles for DeclaredRoots {
    fn entry(&self, path: &[u8]) -> Option<HostEntry> {
        let path = Path::new(OsStr::from_bytes(path));
        let known = self.entries.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        known.unwrap_or_else(|| {
            let found = self.look(path);
            self.entries.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), found.clone());
            found
        })
    }

    fn list(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(path));
        let mut names: Vec<Vec<u8>> = if self.is_declared(path) && is_its_own_real_path(Some(path)) {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().into_vec()).collect()
        } else {
            self.roots.iter().filter_map(|root| next_component(root, path)).collect()
        };
        names.retain(|name| self.entry(path.join(OsStr::from_bytes(name)).as_os_str().as_bytes()).is_some());
        names.sort();
        names.dedup();
        names
    }

    fn content(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let path = Path::new(OsStr::from_bytes(path));
        let known = self.contents.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        known.unwrap_or_else(|| {
            let found = self.read(path);
            self.contents.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), found.clone());
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declared_files_are_seen() {
        let roots = DeclaredRoots::new(vec!["/usr/bin".into()]);
        assert!(roots.entry(b"/usr/bin/env").is_some());
        assert!(roots.entry(b"/usr").is_some_and(|entry| entry.mode & S_IFMT == S_IFDIR));
        assert!(roots.entry(b"/usr/lib").is_none());
        assert!(roots.entry(b"/etc/passwd").is_none());
        assert_eq!(roots.list(b"/"), [b"usr".to_vec()]);
        assert_eq!(roots.list(b"/usr"), [b"bin".to_vec()]);
    }

    #[test]
    fn a_path_through_a_symbolic_link_leads_nowhere() {
        let folder = std::env::temp_dir().join(format!("allways-roots-{}", std::process::id()));
        let folder = fs::create_dir_all(&folder).and_then(|()| fs::canonicalize(&folder)).unwrap();
        let _ = std::os::unix::fs::symlink("/etc", folder.join("out"));
        let roots = DeclaredRoots::new(vec![folder.clone()]);
        let path = |name: &str| folder.join(name).into_os_string().into_vec();
        assert!(roots.entry(&path("out")).is_some_and(|entry| entry.target == b"/etc"));
        assert!(roots.entry(&path("out/passwd")).is_none());
        assert!(roots.content(&path("out/passwd")).is_none());
        fs::remove_dir_all(folder).unwrap();
    }
}
