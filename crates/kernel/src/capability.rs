//! What the superuser may do, in parts (`capabilities(7)`).
//!
//! Bounding and ambient sets are not modelled: the first is full, the second empty, and changing them is refused.

use crate::call::Call;
use crate::process::Credentials;

/// A part of what the superuser may do, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capability {
    /// `CAP_CHOWN`.
    Chown = 0,
    /// `CAP_DAC_OVERRIDE`.
    Override = 1,
    /// `CAP_DAC_READ_SEARCH`.
    ReadSearch = 2,
    /// `CAP_FOWNER`.
    Owner = 3,
    /// `CAP_FSETID`.
    SetId = 4,
    /// `CAP_KILL`.
    Kill = 5,
    /// `CAP_SETGID`.
    Group = 6,
    /// `CAP_SETUID`.
    User = 7,
    /// `CAP_SETPCAP`.
    Capabilities = 8,
    /// `CAP_NET_BIND_SERVICE`.
    BindService = 10,
    /// `CAP_NET_ADMIN`.
    NetAdmin = 12,
    /// `CAP_IPC_LOCK`.
    IpcLock = 14,
    /// `CAP_IPC_OWNER`.
    IpcOwner = 15,
    /// `CAP_SYS_CHROOT`.
    Chroot = 18,
    /// `CAP_SYS_PTRACE`.
    Trace = 19,
    /// `CAP_SYS_ADMIN`.
    Admin = 21,
    /// `CAP_SYS_NICE`.
    Nice = 23,
    /// `CAP_SYS_RESOURCE`.
    Resource = 24,
    /// `CAP_SYS_TIME`.
    Time = 25,
    /// `CAP_MKNOD`.
    Node = 27,
    /// `CAP_SYSLOG`.
    Log = 34,
}

impl Capability {
    /// Whether it is in a set.
    #[must_use]
    pub fn is_in(self, set: u64) -> bool {
        set >> self as u32 & 1 == 1
    }
}

/// All capabilities.
pub const ALL: u64 = (1 << 41) - 1;

/// Those about files (`CAP_FS_SET`): `CHOWN`, `DAC_OVERRIDE`, `DAC_READ_SEARCH`, `FOWNER`, `FSETID`, `LINUX_IMMUTABLE`,
/// `MKNOD`, `MAC_OVERRIDE`.
const FILES: u64 = 0x1f | 1 << 9 | 1 << 27 | 1 << 32;

/// Which call changes user ids: `setfsuid(2)` is about capabilities for files only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// `setuid(2)` and its kin.
    Ids,
    /// `setfsuid(2)`.
    FileSystem,
}

impl Credentials {
    /// Effective, permitted and inheritable capabilities.
    #[must_use]
    pub fn capability_sets(&self) -> [u64; 3] {
        self.capabilities.unwrap_or_else(|| self.implied())
    }

    /// What the user ids imply for a process that never changed its sets.
    fn implied(&self) -> [u64; 3] {
        let [_, effective, _, files] = self.user;
        let all_if = |is_full: bool| if is_full { ALL } else { 0 };
        let of_files = if files == 0 { 0 } else { FILES };
        [all_if(effective == 0) & !of_files, all_if(self.user[..3].contains(&0)), 0]
    }

    /// Whether a capability is effective.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        capability.is_in(self.capability_sets()[0])
    }

    /// Takes over sets; those that the ids imply are not kept, so that equal states are equal.
    pub fn set_capabilities(&mut self, sets: [u64; 3]) {
        self.capabilities = (sets != self.implied()).then_some(sets);
    }

    /// Takes over user ids, and changes the sets as `capabilities(7)` says, "Effect of user ID changes on capabilities".
    pub fn set_users(&mut self, new: [u32; 4], change: Change, keeps: bool) {
        let old = self.user;
        let [mut effective, mut permitted, inheritable] = self.capability_sets();
        let is_root = |ids: &[u32; 4]| ids[..3].contains(&0);
        if change == Change::FileSystem {
            effective = match (old[3], new[3]) {
                (0, 1..) => effective & !FILES,
                (1.., 0) => effective | permitted & FILES,
                _ => effective,
            };
        } else {
            if is_root(&old) && !is_root(&new) && !keeps {
                (effective, permitted) = (0, 0);
            }
            effective = match (old[1], new[1]) {
                (0, 1..) => 0,
                (1.., 0) => permitted,
                _ => effective,
            };
        }
        self.user = new;
        self.set_capabilities([effective, permitted, inheritable]);
    }
}

impl Call<'_> {
    /// Whether the caller has a capability.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.process().credentials.can(capability)
    }
}
