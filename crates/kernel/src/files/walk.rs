//! Finding what a path leads to (`path_resolution(7)`).
//!
//! A walk changes nothing, so it can be done again for a call that waits or for a footprint. Names
//! that were passed are noted on request: whoever creates, removes or renames one of them would
//! have changed the walk, which is the dependency between a lookup and a rename elsewhere.

use super::file_system;
use super::inode::{Inode, Kind};
use super::permission::{Asker, EXECUTE};
use super::standard::{join, root};
use super::synthetic::{self, Jump};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, File};
use crate::errno::{ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EXDEV, Errno};
use crate::id::{Id, Pid};

pub use super::place::{Node, Place};

/// The working directory in place of a directory descriptor.
pub const AT_FDCWD: Fd = -100;
/// Do not follow a link at the end.
pub const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
/// Follow a link at the end (`linkat(2)`).
pub const AT_SYMLINK_FOLLOW: u32 = 0x400;
/// Do not mount; there is nothing to mount.
pub const AT_NO_AUTOMOUNT: u32 = 0x800;
/// An empty path means the descriptor itself.
pub const AT_EMPTY_PATH: u32 = 0x1000;

/// Links followed before `ELOOP`.
const LINKS_MAX: u32 = 40;
/// `NAME_MAX`.
const NAME_MAX: usize = 255;

/// Where a walk starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The working directory of a process, with its permissions.
    Process(Pid),
    /// A directory, with all permissions.
    Directory(Id),
}

impl From<Pid> for Start {
    fn from(pid: Pid) -> Self {
        Self::Process(pid)
    }
}

impl From<Id> for Start {
    fn from(id: Id) -> Self {
        Self::Directory(id)
    }
}

/// Limits of `openat2(2)` on a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Restriction {
    /// `RESOLVE_BENEATH`: never above the start.
    pub beneath: bool,
    /// `RESOLVE_IN_ROOT`: the start is the root.
    pub in_root: bool,
    /// `RESOLVE_NO_XDEV`: one file system only.
    pub no_mounts: bool,
    /// `RESOLVE_NO_SYMLINKS`.
    pub no_links: bool,
    /// `RESOLVE_NO_MAGICLINKS`.
    pub no_jumps: bool,
}

/// A walk in progress.
pub struct Walk<'a> {
    kernel: &'a Kernel,
    pid: Pid,
    asker: Asker,
    top: Id,
    follow: bool,
    links_left: u32,
    restriction: Restriction,
    /// Where somebody wants to know.
    passed: Option<Vec<Passed>>,
}

/// A name that was looked up on the way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passed {
    /// In which directory.
    pub directory: Id,
    /// The name.
    pub name: Vec<u8>,
    /// What it led to.
    pub found: Option<Id>,
}

impl<'a> Walk<'a> {
    /// A walk as a process sees it.
    #[must_use]
    pub fn new(kernel: &'a Kernel, pid: Pid, asker: Asker, follow: bool) -> Self {
        let restriction = Restriction::default();
        Self { kernel, pid, asker, top: root(), follow, links_left: LINKS_MAX, restriction, passed: None }
    }

    /// The same within limits; `top` is where the walk starts.
    #[must_use]
    pub fn restricted(mut self, restriction: Restriction, top: Id) -> Self {
        self.restriction = restriction;
        if restriction.beneath || restriction.in_root {
            self.top = top;
        }
        self
    }

    /// The same, noting every name that is looked up.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.passed = Some(Vec::new());
        self
    }

    /// Names that were looked up, if that was asked for.
    #[must_use]
    pub fn passed(self) -> Vec<Passed> {
        self.passed.unwrap_or_default()
    }

    /// Finds what a path leads to.
    pub fn go(&mut self, start: Id, path: &[u8]) -> Result<Place, Errno> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        let start = if path[0] == b'/' { self.absolute()? } else { start };
        let slash = path.ends_with(b"/");
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let Some((last, before)) = names.split_last() else {
            return Ok(Place {
                parent: start,
                name: Vec::new(),
                node: Some(Node::Inode(start)),
                slash: true,
                dots: false,
            });
        };
        let mut directory = start;
        for name in before {
            directory = self.enter(directory, name)?;
        }
        self.finish(directory, last, slash)
    }

    /// Finds the entry that a path names, whatever it leads to: for calls that make, remove or move names.
    pub fn entry(&mut self, start: Id, path: &[u8]) -> Result<Place, Errno> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        let start = if path[0] == b'/' { self.absolute()? } else { start };
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let Some((last, before)) = names.split_last() else { return self.go(start, path) };
        let mut directory = start;
        for name in before {
            directory = self.enter(directory, name)?;
        }
        let slash = path.ends_with(b"/");
        self.step(directory, last).map(|place| Place { slash, ..place })
    }

    fn absolute(&self) -> Result<Id, Errno> {
        // openat2(2): RESOLVE_BENEATH refuses absolute paths.
        if self.restriction.beneath { Err(EXDEV) } else { Ok(self.top) }
    }

    /// Goes into a directory on the way.
    fn enter(&mut self, directory: Id, name: &[u8]) -> Result<Id, Errno> {
        let place = self.step(directory, name)?;
        let place = self.follow_links(place)?;
        match place.node {
            Some(Node::Inode(id)) => Ok(id),
            Some(Node::Open(_)) => Err(ENOTDIR),
            None => Err(ENOENT),
        }
    }

    /// The last name of a path.
    fn finish(&mut self, directory: Id, name: &[u8], slash: bool) -> Result<Place, Errno> {
        let mut place = self.step(directory, name)?;
        if self.follow || slash {
            place = self.follow_links(place)?;
        }
        place.slash |= slash;
        let Some(node) = place.node else { return Ok(place) };
        let is_directory = match node {
            Node::Inode(id) => self.kernel.inode(id).is_some_and(|inode| inode.is_directory()),
            Node::Open(_) => false,
        };
        if place.slash && !is_directory { Err(ENOTDIR) } else { Ok(place) }
    }

    /// Looks one name up.
    fn step(&mut self, directory: Id, name: &[u8]) -> Result<Place, Errno> {
        let inode = self.kernel.inode(directory).ok_or(ENOENT)?;
        if !inode.is_directory() {
            return Err(ENOTDIR);
        }
        self.asker.may(&inode, EXECUTE)?;
        let stay = |id, dots| Place { parent: id, name: Vec::new(), node: Some(Node::Inode(id)), slash: false, dots };
        match name {
            b"." => Ok(stay(directory, false)),
            b".." => {
                let above = self.above(directory)?;
                self.check_mount(directory, above)?;
                Ok(stay(above, true))
            }
            _ if name.len() > NAME_MAX => Err(ENAMETOOLONG),
            _ => {
                let found = self.kernel.lookup(directory, name);
                if let Some(passed) = &mut self.passed {
                    passed.push(Passed { directory, name: name.to_vec(), found });
                }
                if let Some(found) = found {
                    self.check_mount(directory, found)?;
                }
                let node = found.map(Node::Inode);
                Ok(Place { parent: directory, name: name.to_vec(), node, slash: false, dots: false })
            }
        }
    }

    /// `EXDEV` if a step leads to another file system and must not. A new file is on that of its directory.
    fn check_mount(&self, from: Id, to: Id) -> Result<(), Errno> {
        let is_directory = || self.kernel.inode(to).is_some_and(|inode| inode.is_directory());
        let is_placed = || self.kernel.files.known.get(to).is_some() || is_directory();
        let device = |id| file_system::device_of_directory(self.kernel, id);
        let crosses = || is_placed() && device(to) != device(from);
        if self.restriction.no_mounts && crosses() { Err(EXDEV) } else { Ok(()) }
    }

    fn above(&self, directory: Id) -> Result<Id, Errno> {
        match directory {
            _ if directory != self.top => Ok(self.kernel.place_of(directory).0),
            _ if self.restriction.beneath => Err(EXDEV),
            _ => Ok(directory),
        }
    }

    /// Follows links until there is none.
    fn follow_links(&mut self, mut place: Place) -> Result<Place, Errno> {
        while let Some(Node::Inode(id)) = place.node {
            let inode = self.kernel.inode(id).ok_or(ENOENT)?;
            if !inode.is_link() {
                break;
            }
            self.links_left = self.links_left.checked_sub(1).ok_or(ELOOP)?;
            if self.restriction.no_links {
                return Err(ELOOP);
            }
            place = self.follow_one(place.parent, id, &inode)?;
        }
        Ok(place)
    }

    fn follow_one(&mut self, directory: Id, id: Id, inode: &Inode) -> Result<Place, Errno> {
        if let Kind::Link(target) = &inode.kind {
            if target.starts_with(b"/") {
                self.check_mount(directory, self.top)?;
            }
            let deeper = self.follow;
            self.follow = true;
            let place = self.go(directory, target);
            self.follow = deeper;
            return place;
        }
        // openat2(2): jumps leave the tree, so the limits refuse them.
        if self.restriction.no_jumps {
            return Err(ELOOP);
        }
        if self.restriction.beneath || self.restriction.in_root {
            return Err(EXDEV);
        }
        match synthetic::jump(self.kernel, self.pid, id)? {
            Jump::Path(path) => self.go(directory, &path),
            Jump::Node(node) => {
                if let Node::Inode(to) = node {
                    self.check_mount(directory, to)?;
                }
                Ok(Place { parent: directory, name: Vec::new(), node: Some(node), slash: false, dots: false })
            }
        }
    }
}

/// The path without links, dots and working directory of what a process's path leads to.
#[must_use]
pub fn real_path(kernel: &Kernel, pid: Pid, path: &[u8]) -> Option<Vec<u8>> {
    let process = kernel.processes.get(&pid)?;
    let mut walk = Walk::new(kernel, pid, Asker::effective(&process.credentials), true);
    let place = walk.go(process.directories.working, path).ok()?;
    let parent = kernel.path_of(if place.name.is_empty() { place.inode().ok()? } else { place.parent })?;
    Some(if place.name.is_empty() { parent } else { join(&parent, &place.name) })
}

impl Kernel {
    /// Finds the inode at a path.
    pub fn resolve(&self, start: Start, path: &[u8], follow: bool) -> Result<Id, Errno> {
        let (pid, asker, directory) = match start {
            Start::Directory(id) => (Pid(0), Asker::root(), id),
            Start::Process(pid) => {
                let process = self.processes.get(&pid).ok_or(crate::errno::ESRCH)?;
                (pid, Asker::effective(&process.credentials), process.directories.working)
            }
        };
        Walk::new(self, pid, asker, follow).go(directory, path)?.inode()
    }
}

impl Call<'_> {
    /// Where a walk from a directory descriptor starts; an absolute path does not look at it.
    pub fn start(&self, dir: Fd, path: &[u8]) -> Result<Id, Errno> {
        if path.first() == Some(&b'/') {
            return Ok(root());
        }
        if dir == AT_FDCWD {
            return Ok(self.process().directories.working);
        }
        match self.description(self.description_or_path(dir)?).file {
            File::Inode(id) => Ok(id),
            _ => Err(ENOTDIR),
        }
    }

    /// What a path leads to from a directory descriptor.
    pub fn walk(&self, dir: Fd, path: &[u8], follow: bool) -> Result<Place, Errno> {
        let start = self.start(dir, path)?;
        Walk::new(self.kernel, self.pid, self.asker(), follow).go(start, path)
    }

    /// The entry that a path argument names, whatever it leads to.
    pub fn entry_at(&mut self, dir: Fd, address: u64) -> Result<Place, Stop> {
        let path = self.load_path(address)?;
        let start = self.start(dir, &path)?;
        Ok(Walk::new(self.kernel, self.pid, self.asker(), false).entry(start, &path)?)
    }

    /// Who the caller is when it touches files.
    #[must_use]
    pub fn asker(&self) -> Asker {
        Asker::effective(&self.process().credentials)
    }

    /// What a path argument leads to; with `AT_EMPTY_PATH`, an empty one means the descriptor itself.
    pub fn node_at(&mut self, dir: Fd, address: u64, flags: u32) -> Result<Node, Stop> {
        let path = match address {
            // Since Linux 6.11 a null pointer is as good as an empty path here.
            0 if flags & AT_EMPTY_PATH != 0 => Vec::new(),
            _ => self.load_path(address)?,
        };
        if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
            return Ok(self.node_of(dir)?);
        }
        let place = self.walk(dir, &path, flags & AT_SYMLINK_NOFOLLOW == 0)?;
        place.node.ok_or(ENOENT.into())
    }

    /// What a descriptor (or the working directory) is.
    pub fn node_of(&self, dir: Fd) -> Result<Node, Errno> {
        if dir == AT_FDCWD {
            return Ok(Node::Inode(self.process().directories.working));
        }
        let id = self.description_or_path(dir)?;
        Ok(match self.description(id).file {
            File::Inode(inode) | File::Text(inode) => Node::Inode(inode),
            _ => Node::Open(id),
        })
    }
}
