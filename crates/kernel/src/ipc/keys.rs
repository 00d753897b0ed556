//! Finding, numbering and guarding objects by their keys, the same for all that System V has (`svipc(7)`).

use super::access::{Access, Object};
use super::state::Ipc;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EACCES, EEXIST, EINVAL, ENOENT, ENOSPC, EPERM, Errno};
use crate::map::Map;

/// Create it if it does not exist.
const IPC_CREAT: u64 = 0o1000;

/// Fail if it exists.
const IPC_EXCL: u64 = 0o2000;
/// The key of what has none.
const IPC_PRIVATE: i32 = 0;

impl Access {
    /// For an object that the caller creates.
    #[must_use]
    pub fn new(call: &Call<'_>, key: i32, flags: u64) -> Self {
        let credentials = &call.process().credentials;
        let (uid, gid) = (credentials.user[1], credentials.group[1]);
        Self { key, uid, gid, creator: (uid, gid), mode: flags as u32 & 0o777 }
    }

    /// Whether the caller may do all of `wanted`.
    pub fn check(&self, call: &Call<'_>, wanted: u32) -> Result<(), Errno> {
        let credentials = &call.process().credentials;
        let (uid, gid) = (credentials.user[1], credentials.group[1]);
        let is_in = |group: u32| group == gid || credentials.groups.contains(&group);
        let granted = match uid {
            _ if call.can(Capability::IpcOwner) => return Ok(()),
            uid if uid == self.uid || uid == self.creator.0 => self.mode >> 6,
            _ if is_in(self.gid) || is_in(self.creator.1) => self.mode >> 3,
            _ => self.mode,
        };
        if granted & wanted == wanted { Ok(()) } else { Err(EACCES) }
    }

    /// Whether the caller owns the object, and so may remove and change it.
    pub fn check_owner(&self, call: &Call<'_>) -> Result<(), Errno> {
        let uid = call.process().credentials.user[1];
        if call.can(Capability::Admin) || uid == self.uid || uid == self.creator.0 { Ok(()) } else { Err(EPERM) }
    }

    /// Takes over owner and permissions from a `struct ipc64_perm` of the guest (`IPC_SET`).
    pub fn load(&mut self, call: &mut Call<'_>, address: u64) -> Result<(), Stop> {
        let number = |call: &mut Call<'_>, at: u64| call.load_u32(address.wrapping_add(at));
        let (uid, gid, mode) = (number(call, 4)?, number(call, 8)?, number(call, 20)?);
        (self.uid, self.gid) = (uid, gid);
        self.mode = self.mode & !0o777 | mode & 0o777;
        Ok(())
    }
}

/// Finds the object of a key, as `semget(2)` and its kin do; nothing if it is to be created.
pub fn find<T: Object + Clone>(call: &Call<'_>, map: &Map<i32, T>, key: i32, flags: u64) -> Result<Option<i32>, Errno> {
    if key == IPC_PRIVATE {
        return Ok(None);
    }
    let found = map.iter().find(|(_, object)| object.access().key == key);
    match found {
        None if flags & IPC_CREAT == 0 => Err(ENOENT),
        None => Ok(None),
        Some(_) if flags & (IPC_CREAT | IPC_EXCL) == IPC_CREAT | IPC_EXCL => Err(EEXIST),
        Some((id, object)) => {
            let asked = (flags >> 6 | flags >> 3 | flags) as u32 & 7;
            object.access().check(call, asked)?;
            Ok(Some(*id))
        }
    }
}

/// A number for a new object, made from who creates it: never that of an object that was removed before, as in Linux.
pub fn number<T: Clone>(call: &mut Call<'_>, map: fn(&Ipc) -> &Map<i32, T>) -> Result<i32, Errno> {
    let start = call.fresh_id().0 % (1 << 30);
    let candidates = (0..1 << 15).map(|step| ((start + step) % (1 << 30)) as i32);
    candidates.into_iter().find(|number| !map(&call.kernel.ipc).contains_key(number)).ok_or(ENOSPC)
}

/// The object of a number; a negative one is never there.
pub fn get<T: Clone>(map: &Map<i32, T>, id: i32) -> Result<&T, Errno> {
    map.get(&id).ok_or(EINVAL)
}
