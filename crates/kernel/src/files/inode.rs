//! Inodes: what `stat(2)` tells, apart from the content.

use crate::host::HostEntry;
use crate::id::Id;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `st_mode`: the bits that tell the kind.
pub const S_IFMT: u32 = 0o170_000;
/// A socket.
pub const S_IFSOCK: u32 = 0o140_000;
/// A symbolic link.
pub const S_IFLNK: u32 = 0o120_000;
/// A regular file.
pub const S_IFREG: u32 = 0o100_000;
/// A block device.
pub const S_IFBLK: u32 = 0o060_000;
/// A directory.
pub const S_IFDIR: u32 = 0o040_000;
/// A character device.
pub const S_IFCHR: u32 = 0o020_000;
/// A FIFO.
pub const S_IFIFO: u32 = 0o010_000;
/// Set-user-id.
pub const S_ISUID: u32 = 0o4000;
/// Set-group-id.
pub const S_ISGID: u32 = 0o2000;
/// Sticky: only owners remove entries.
pub const S_ISVTX: u32 = 0o1000;

/// A file, directory, link or device: what `stat(2)` tells about it.
///
/// Small on purpose: it is handed around by value. Content is an object of `memory`, entries are a [`Directory`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Inode {
    /// What it is.
    pub kind: Kind,
    /// Permissions, with set-id and sticky bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// How many names lead to it; 0 when it lives on only because it is open.
    pub links: u32,
    /// `st_ino`.
    pub number: u64,
    /// Last read, nanoseconds since 1970. Set by `utimensat(2)` only: the file system is mounted `noatime`.
    pub accessed: u64,
    /// Last write.
    pub modified: u64,
    /// Last change of this inode.
    pub changed: u64,
    /// Creation.
    pub created: u64,
}

/// What an inode is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link and where it leads.
    Link(Arc<[u8]>),
    /// A FIFO.
    Fifo,
    /// A character device, by number.
    Character(u32),
    /// A block device, by number.
    Block(u32),
    /// A socket in the file system.
    Socket,
    /// A regular file whose text is made when it is read (`/proc`, `/sys`).
    Text,
    /// A link of `/proc` that leads to an open file or a directory itself, not to a path.
    Magic,
}

/// What was changed in a directory, over what the host has there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Directory {
    /// Names that lead to something else than on the host; to nothing if they were removed.
    pub entries: BTreeMap<Vec<u8>, Option<Id>>,
    /// Parent and name, if it was created or moved inside.
    pub place: Option<(Id, Vec<u8>)>,
}

impl Inode {
    /// A new inode; a directory has two links, its name and its dot.
    #[must_use]
    pub fn new(kind: Kind, mode: u32, owner: (u32, u32), id: Id, now: u64) -> Self {
        let links = if kind == Kind::Directory { 2 } else { 1 };
        let (uid, gid) = owner;
        let number = id.0 >> 24 | 1 << 40;
        Self { kind, mode, uid, gid, links, number, accessed: now, modified: now, changed: now, created: now }
    }

    /// An inode of the host.
    #[must_use]
    pub fn of_host(entry: &HostEntry) -> Option<Self> {
        let kind = match entry.mode & S_IFMT {
            S_IFREG => Kind::Regular,
            S_IFDIR => Kind::Directory,
            S_IFLNK => Kind::Link(entry.target.as_slice().into()),
            S_IFIFO => Kind::Fifo,
            // Devices and sockets of the host stay outside.
            _ => return None,
        };
        let time = entry.modified;
        Some(Self {
            kind,
            mode: entry.mode & 0o7777,
            uid: entry.uid,
            gid: entry.gid,
            links: entry.links,
            number: entry.inode,
            accessed: time,
            modified: time,
            changed: time,
            created: time,
        })
    }

    /// `st_mode`.
    #[must_use]
    pub fn full_mode(&self) -> u32 {
        self.mode
            | match self.kind {
                Kind::Regular | Kind::Text => S_IFREG,
                Kind::Directory => S_IFDIR,
                Kind::Link(_) | Kind::Magic => S_IFLNK,
                Kind::Fifo => S_IFIFO,
                Kind::Character(_) => S_IFCHR,
                Kind::Block(_) => S_IFBLK,
                Kind::Socket => S_IFSOCK,
            }
    }

    /// `st_rdev`.
    #[must_use]
    pub fn device(&self) -> u32 {
        match self.kind {
            Kind::Character(number) | Kind::Block(number) => number,
            _ => 0,
        }
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Whether it is a link to follow.
    #[must_use]
    pub fn is_link(&self) -> bool {
        matches!(self.kind, Kind::Link(_) | Kind::Magic)
    }
}

/// `d_type` of `getdents64(2)`.
#[must_use]
pub fn entry_type(mode: u32) -> u8 {
    ((mode & S_IFMT) >> 12) as u8
}
