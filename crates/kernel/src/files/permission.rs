//! Who may do what to an inode (`path_resolution(7)`).

use super::inode::{Inode, S_ISVTX};
use crate::Kernel;
use crate::capability::{ALL, Capability};
use crate::errno::{EACCES, EPERM, Errno};
use crate::id::{Id, Pid};
use crate::process::Credentials;

/// Permission to read.
pub const READ: u32 = 4;
/// Permission to write.
pub const WRITE: u32 = 2;
/// Permission to execute a file or to search a directory.
pub const EXECUTE: u32 = 1;

/// Who asks: a user with groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asker {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Further groups.
    pub groups: Vec<u32>,
    /// Its capabilities.
    pub capabilities: u64,
}

impl Asker {
    /// The superuser.
    #[must_use]
    pub fn root() -> Self {
        Self { uid: 0, gid: 0, groups: Vec::new(), capabilities: ALL }
    }

    /// With the file-system ids, as most calls ask.
    #[must_use]
    pub fn effective(credentials: &Credentials) -> Self {
        Self::with(credentials, (credentials.user[3], credentials.group[3]), credentials.capability_sets()[0])
    }

    /// With the real ids, as `access(2)` asks: what is permitted to a real superuser, nothing to others.
    #[must_use]
    pub fn real(credentials: &Credentials) -> Self {
        let capabilities = if credentials.user[0] == 0 { credentials.capability_sets()[1] } else { 0 };
        Self::with(credentials, (credentials.user[0], credentials.group[0]), capabilities)
    }

    /// Whether it has a capability.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        capability.is_in(self.capabilities)
    }

    /// Whether it may make set-group-id files of a group.
    #[must_use]
    pub fn may_set_group(&self, gid: u32) -> bool {
        self.can(Capability::SetId) || self.gid == gid || self.groups.contains(&gid)
    }

    fn with(credentials: &Credentials, (uid, gid): (u32, u32), capabilities: u64) -> Self {
        Self { uid, gid, groups: credentials.groups.clone(), capabilities }
    }

    /// The effective ids of a process.
    #[must_use]
    pub fn of(kernel: &Kernel, pid: Pid) -> Self {
        kernel.processes.get(&pid).map_or_else(Self::root, |process| Self::effective(&process.credentials))
    }

    /// Whether it is in a group.
    #[must_use]
    pub fn is_in(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }

    /// Whether it may do all of `wanted`; `EACCES` if not.
    pub fn may(&self, inode: &Inode, wanted: u32) -> Result<(), Errno> {
        if self.can(Capability::Override) {
            return self.superuser_may(inode, wanted);
        }
        let searches = wanted == READ || inode.is_directory() && wanted & WRITE == 0;
        if searches && self.can(Capability::ReadSearch) {
            return Ok(());
        }
        let shift = match inode {
            _ if inode.uid == self.uid => 6,
            _ if self.is_in(inode.gid) => 3,
            _ => 0,
        };
        if inode.mode >> shift & wanted == wanted { Ok(()) } else { Err(EACCES) }
    }

    // CAP_DAC_OVERRIDE executes a file only if somebody may (`capabilities(7)`).
    fn superuser_may(&self, inode: &Inode, wanted: u32) -> Result<(), Errno> {
        let executes = wanted & EXECUTE != 0 && !inode.is_directory();
        if executes && inode.mode & 0o111 == 0 { Err(EACCES) } else { Ok(()) }
    }

    /// Whether it owns the inode, or is the superuser; `EPERM` if not.
    pub fn owns(&self, inode: &Inode) -> Result<(), Errno> {
        if self.can(Capability::Owner) || self.uid == inode.uid { Ok(()) } else { Err(EPERM) }
    }

    /// Whether it may add or remove entries of a directory.
    pub fn may_change(&self, kernel: &Kernel, directory: Id) -> Result<(), Errno> {
        let inode = kernel.inode(directory).ok_or(crate::errno::ENOENT)?;
        self.may(&inode, WRITE | EXECUTE)
    }

    /// Whether it may remove an entry: in a sticky directory only owners may.
    pub fn may_remove(&self, kernel: &Kernel, directory: Id, entry: &Inode) -> Result<(), Errno> {
        self.may_change(kernel, directory)?;
        let inode = kernel.inode(directory).ok_or(crate::errno::ENOENT)?;
        let is_free = inode.mode & S_ISVTX == 0 || inode.uid == self.uid;
        if is_free { Ok(()) } else { self.owns(entry) }
    }
}
