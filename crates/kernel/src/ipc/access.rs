//! Who may do what to an object of System V (`svipc(7)`).

/// Do not wait.
pub const IPC_NOWAIT: u64 = 0o4000;

/// Remove.
pub const IPC_RMID: u64 = 0;
/// Change owner and permissions.
pub const IPC_SET: u64 = 1;
/// Tell about it.
pub const IPC_STAT: u64 = 2;

/// Permission to read.
pub const READ: u32 = 4;
/// Permission to change.
pub const WRITE: u32 = 2;

/// Who may do what to an object (`struct ipc_perm`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Its key.
    pub key: i32,
    /// Owner.
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Creator.
    pub(super) creator: (u32, u32),
    /// Permissions.
    pub mode: u32,
}

/// What has keys and permissions.
pub trait Object {
    /// Who may do what to it.
    fn access(&self) -> &Access;
}

impl Access {
    /// `struct ipc64_perm`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (creator_uid, creator_gid) = self.creator;
        let numbers = [self.key as u32, self.uid, self.gid, creator_uid, creator_gid, self.mode];
        [numbers.map(u32::to_le_bytes).concat(), vec![0; 24]].concat()
    }
}
