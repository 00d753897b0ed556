//! The host's files, read-only, under declared roots: the one place where a world touches the host.
//!
//! Everything is looked at once and remembered, so that the same question has the same answer for as long as a world
//! lives. Paths come from the kernel, which has followed symbolic links itself: no component may be one here, and a
//! directory whose real path differs from the path asked for is treated as absent. So is a file that we may not read.
//!
//! **Invariant:** reading only, under declared roots only, and each answer is given once and kept.
//! So the host is a constant of the world, like its seed: no state holds a descriptor of the host,
//! and a snapshot need not know which files were read. A file that changes while it is used would
//! break that, and ends the run ([`HostFiles::changed`]).
#![allow(
    clippy::disallowed_methods,
    reason = "the one place that reads the host for guests; what it counts has no order"
)]

use kernel::host::{HostEntry, HostFiles};
use memory::Source;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Host directories and files that guests may read.
///
/// Shared by all workers of a search behind mutexes; what is cached never changes, so holding a
/// lock for long is not needed.
#[derive(Default)]
pub struct DeclaredRoots {
    roots: Vec<PathBuf>,
    /// Roots that were named by the user: all that is in them may be seen.
    named: Vec<PathBuf>,
    /// Folders of people.
    homes: Vec<PathBuf>,
    /// What was not shown because it is private.
    hidden: Mutex<BTreeSet<PathBuf>>,
    entries: Mutex<HashMap<PathBuf, Option<HostEntry>>>,
    /// Folders, and whether their paths are their real ones.
    real: Mutex<HashMap<PathBuf, bool>>,
    lists: Mutex<HashMap<PathBuf, Arc<Vec<Vec<u8>>>>>,
    contents: Mutex<HashMap<PathBuf, Arc<[u8]>>>,
    large: Mutex<HashMap<PathBuf, Arc<LargeFile>>>,
    changed: Arc<OnceLock<PathBuf>>,
    /// Files that guests see instead of what the host has there.
    instead: BTreeMap<PathBuf, Arc<[u8]>>,
}

/// A file that is read in parts.
struct LargeFile {
    path: PathBuf,
    file: File,
    known: HostEntry,
    changed: Arc<OnceLock<PathBuf>>,
}

/// Bytes from which on a file is read in parts.
///
/// Below it a file is read as a whole when first used, which makes its content one shared
/// allocation.
const LARGE_MIN: u64 = 256 << 20;

/// Bytes of files that are kept although nobody uses them now.
const IDLE_MAX: usize = 128 << 20;

/// What is declared unless the user says otherwise: programs, libraries and the configuration that they read.
pub const SYSTEM_ROOTS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];

/// Folders in which everybody may make files, on every machine.
const SHARED: &[&str] = &["/tmp", "/var/tmp"];

/// Folders that a world has instead of the host's.
const SYNTHETIC: &[&str] = &["/proc", "/sys", "/dev"];

/// Where counterexamples are kept.
///
/// Otherwise a check of a folder would see the counterexamples of the check before.
const OWN_FOLDER: &str = ".allways";

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

    /// The same, where private files in people's folders are shown only below roots that are named.
    #[must_use]
    pub fn private(roots: Vec<PathBuf>, named: Vec<PathBuf>, homes: Vec<PathBuf>) -> Self {
        Self { roots, named, homes, ..Self::default() }
    }

    /// The same, with a file that everybody may read instead of what the host has at a path.
    #[must_use]
    pub fn with_file(mut self, path: &Path, content: &[u8]) -> Self {
        self.instead.insert(path.to_owned(), content.into());
        self
    }

    /// What guests asked for and were not shown, because it is private.
    #[must_use]
    pub fn hidden(&self) -> Vec<PathBuf> {
        locked(&self.hidden).iter().cloned().collect()
    }

    fn is_declared(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn leads_to_declared(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.starts_with(path))
    }

    fn look(&self, path: &Path) -> Option<HostEntry> {
        // What was found earlier is no part of what is checked.
        if path.iter().any(|name| name == OWN_FOLDER) {
            return None;
        }
        if let Some(content) = self.instead.get(path) {
            return Some(HostEntry { mode: S_IFREG | 0o644, size: content.len() as u64, links: 1, ..passage() });
        }
        if !self.is_declared(path) {
            let mode = if SHARED.iter().any(|folder| path == Path::new(folder)) { 0o1777 } else { 0o755 };
            return self.leads_to_declared(path).then(|| HostEntry { mode: S_IFDIR | mode, ..passage() });
        }
        if !path.parent().is_none_or(|parent| self.is_real(parent)) {
            return None;
        }
        let found = entry(path, &fs::symlink_metadata(path).ok()?)?;
        if self.is_private(path, &found) {
            locked(&self.hidden).insert(path.to_owned());
            return None;
        }
        Some(found)
    }

    /// Whether a path in somebody's home is nobody else's business: a folder or file whose name begins with a dot, or a file
    /// that only its owner may read. Keys and tokens are kept in these.
    ///
    /// A program under check may send what it reads to a peer or into a report, so keys in dot
    /// folders are not shown unless they were named.
    fn is_private(&self, path: &Path, found: &HostEntry) -> bool {
        const READABLE_BY_OTHERS: u32 = 0o044;
        let is_at_home = self.homes.iter().any(|home| path.starts_with(home));
        if !is_at_home || self.named.iter().any(|root| path.starts_with(root)) {
            return false;
        }
        // Whoever works in a folder wants it to be seen, whatever it is called.
        let above = self.roots.iter().chain(&self.homes).filter(|root| path.starts_with(root));
        let nearest = above.max_by_key(|root| root.as_os_str().len()).expect("it is at home");
        let below = path.strip_prefix(nearest).unwrap_or(path);
        let is_own = found.mode & S_IFMT == S_IFREG && found.mode & READABLE_BY_OTHERS == 0;
        is_own || below.iter().any(|name| name.as_bytes().first() == Some(&b'.'))
    }

    /// Whether a folder's path has no symbolic link in it.
    fn is_real(&self, folder: &Path) -> bool {
        let known = locked(&self.real).get(folder).copied();
        known.unwrap_or_else(|| {
            let is_real = is_its_own_real_path(Some(folder));
            locked(&self.real).insert(folder.to_owned(), is_real);
            is_real
        })
    }

    /// The names in a directory that guests may see.
    fn names(&self, path: &Path) -> Vec<Vec<u8>> {
        let mut names: Vec<Vec<u8>> = if self.is_declared(path) && self.is_real(path) {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().into_vec()).collect()
        } else {
            self.roots.iter().filter_map(|root| next_component(root, path)).collect()
        };
        let instead = self.instead.keys().filter(|file| file.parent() == Some(path));
        names.extend(instead.filter_map(|file| Some(file.file_name()?.as_bytes().to_vec())));
        names.retain(|name| self.entry(path.join(OsStr::from_bytes(name)).as_os_str().as_bytes()).is_some());
        names.sort();
        names.dedup();
        names
    }

    /// Opens a file that is still what its entry says: one that was changed meanwhile is not shown half old, half new.
    fn opened(&self, path: &Path) -> Option<(File, HostEntry)> {
        let known = self.entry(path.as_os_str().as_bytes()).filter(|known| known.mode & S_IFMT == S_IFREG)?;
        let file = open(path).filter(|file| is_as_known(path, file, &known));
        if file.is_none() {
            let _ = self.changed.set(path.to_owned());
        }
        Some((file?, known))
    }

    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        let (mut file, known) = self.opened(path)?;
        // Made at once, without a copy: it may be large.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, usize::try_from(known.size).ok()?).collect();
        let read = file.read_exact(Arc::get_mut(&mut bytes).expect("nobody else has it"));
        if read.is_err() || !is_as_known(path, &file, &known) {
            let _ = self.changed.set(path.to_owned());
            return None;
        }
        Some(bytes)
    }
}

fn is_as_known(path: &Path, file: &File, known: &HostEntry) -> bool {
    file.metadata().ok().and_then(|data| entry(path, &data)).is_some_and(|now| now == *known)
}

impl Source for LargeFile {
    fn len(&self) -> u64 {
        self.known.size
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) {
        let count = usize::try_from(self.known.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_exact_at(&mut buffer[..count], offset);
        if read.is_err() || !is_as_known(&self.path, &self.file, &self.known) {
            let _ = self.changed.set(self.path.clone());
        }
    }
}

/// A lock whose holder panicked still guards a cache that is right.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `O_NONBLOCK` keeps a FIFO that replaced a file from blocking us, `O_NOFOLLOW` a symbolic link
/// from leading outside of the roots.
fn open(path: &Path) -> Option<File> {
    const O_NOFOLLOW: i32 = 0o400_000;
    const O_NONBLOCK: i32 = 0o4_000;
    OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path).ok()
}

/// Forgets contents that nobody uses while they take too much: they can be read again.
fn forget_idle(contents: &mut HashMap<PathBuf, Arc<[u8]>>, bytes_max: usize) {
    let is_idle = |content: &Arc<[u8]>| Arc::strong_count(content) == 1;
    let idle: usize = contents.values().filter(|content| is_idle(content)).map(|content| content.len()).sum();
    if idle > bytes_max {
        contents.retain(|_, content| !is_idle(content));
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
    const READABLE_BY_ALL: u32 = 0o444;
    if metadata.is_file() && metadata.mode() & READABLE_BY_ALL != READABLE_BY_ALL && open(path).is_none() {
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
        let known = locked(&self.entries).get(path).cloned();
        known.unwrap_or_else(|| {
            let found = self.look(path);
            locked(&self.entries).insert(path.to_owned(), found.clone());
            found
        })
    }

    fn is_withheld(&self, path: &[u8]) -> bool {
        let real = fs::canonicalize(Path::new(OsStr::from_bytes(path)));
        let is_ours = |path: &Path| SYNTHETIC.iter().any(|folder| path.starts_with(folder));
        real.is_ok_and(|real| !is_ours(&real) && self.entry(real.as_os_str().as_bytes()).is_none())
    }

    fn list(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(path));
        let known = locked(&self.lists).get(path).cloned();
        let names = known.unwrap_or_else(|| {
            let names = Arc::new(self.names(path));
            locked(&self.lists).insert(path.to_owned(), Arc::clone(&names));
            names
        });
        names.to_vec()
    }

    fn content(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let path = Path::new(OsStr::from_bytes(path));
        let known = self.instead.get(path).cloned().or_else(|| locked(&self.contents).get(path).cloned());
        known.or_else(|| {
            let content = self.read(path)?;
            let mut contents = locked(&self.contents);
            forget_idle(&mut contents, IDLE_MAX);
            contents.insert(path.to_owned(), Arc::clone(&content));
            Some(content)
        })
    }

    fn large(&self, path: &[u8]) -> Option<Arc<dyn Source>> {
        self.entry(path).filter(|known| known.size >= LARGE_MIN)?;
        let path = Path::new(OsStr::from_bytes(path));
        let known = locked(&self.large).get(path).cloned();
        let file = known.or_else(|| {
            let (file, known) = self.opened(path)?;
            let large = Arc::new(LargeFile { path: path.to_owned(), file, known, changed: Arc::clone(&self.changed) });
            locked(&self.large).insert(path.to_owned(), Arc::clone(&large));
            Some(large)
        });
        file.map(|file| file as Arc<dyn Source>)
    }

    fn changed(&self) -> Option<Vec<u8>> {
        self.changed.get().map(|path| path.as_os_str().as_bytes().to_vec())
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
        let mode =
            |root: &str, path| DeclaredRoots::new(vec![root.into()]).entry(path).map(|entry| entry.mode & 0o7777);
        assert_eq!([mode("/tmp/a", b"/tmp"), mode("/srv/a", b"/srv")], [Some(0o1777), Some(0o755)]);
    }

    #[test]
    fn a_file_can_stand_for_one_of_the_host() {
        let roots = DeclaredRoots::new(vec!["/etc".into()]).with_file(Path::new("/etc/hosts"), b"10.99.0.1 db\n");
        assert!(roots.entry(b"/etc/hosts").is_some_and(|entry| (entry.mode, entry.size) == (S_IFREG | 0o644, 13)));
        assert_eq!(roots.content(b"/etc/hosts").as_deref(), Some(&b"10.99.0.1 db\n"[..]));
        assert!(roots.list(b"/etc").contains(&b"hosts".to_vec()));
    }

    #[test]
    fn a_file_that_changes_is_not_read_half_way() {
        let path = std::env::temp_dir().join(format!("allways-changes-{}", std::process::id()));
        fs::write(&path, "first").unwrap();
        let path = fs::canonicalize(path).unwrap();
        let roots = DeclaredRoots::new(vec![path.clone()]);
        let name = path.clone().into_os_string().into_vec();
        assert!(roots.entry(&name).is_some());
        fs::write(&path, "another length").unwrap();
        assert_eq!(roots.content(&name), None);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn contents_that_nobody_uses_are_forgotten_when_they_are_many() {
        let used: Arc<[u8]> = Arc::from(vec![0; 10]);
        let large: Arc<[u8]> = Arc::from(vec![0; 100]);
        let mut contents = HashMap::from([("used".into(), Arc::clone(&used)), ("idle".into(), large)]);
        forget_idle(&mut contents, 100);
        assert_eq!(contents.len(), 2);
        contents.insert("more".into(), Arc::from(vec![0; 1]));
        forget_idle(&mut contents, 100);
        assert_eq!(contents.keys().collect::<Vec<_>>(), [Path::new("used")]);
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
