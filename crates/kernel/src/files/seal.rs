//! Seals of `memfd_create(2)`: what can no longer be done to a file.

use super::inode::{Inode, Kind};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Description, File, O_LARGEFILE, O_RDWR};
use crate::errno::{EBUSY, EINVAL, ENAMETOOLONG, EPERM, Errno};
use crate::id::Id;
use memory::{Backing, Mapping, Protection, Sharing};

/// No more seals.
pub const F_SEAL_SEAL: u32 = 0x1;
/// No shrinking.
pub const F_SEAL_SHRINK: u32 = 0x2;
/// No growing.
pub const F_SEAL_GROW: u32 = 0x4;
/// No writing.
pub const F_SEAL_WRITE: u32 = 0x8;
/// No writing but through mappings that exist.
pub const F_SEAL_FUTURE_WRITE: u32 = 0x10;
/// No change of the right to execute; not modelled.
const F_SEAL_EXEC: u32 = 0x20;
/// All that are modelled.
pub const F_SEALS: u32 = 0x1f;

/// The seals of a file; nothing if it cannot be sealed at all.
#[must_use]
pub fn seals(kernel: &Kernel, inode: Id) -> Option<u32> {
    kernel.files.seals.get(&inode).copied()
}

/// `EPERM` if a write, which may make the file longer, is sealed off.
pub fn check_write(kernel: &Kernel, inode: Id, grows: bool) -> Result<(), Errno> {
    let seals = seals(kernel, inode).unwrap_or(0);
    let is_sealed = seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) != 0 || (grows && seals & F_SEAL_GROW != 0);
    if is_sealed { Err(EPERM) } else { Ok(()) }
}

/// `EPERM` if a shared mapping may not be written through.
pub fn check_map(kernel: &Kernel, inode: Id) -> Result<(), Errno> {
    check_write(kernel, inode, false)
}

/// `EPERM` if a new length is sealed off.
pub fn check_resize(kernel: &Kernel, inode: Id, before: u64, after: u64) -> Result<(), Errno> {
    let seals = seals(kernel, inode).unwrap_or(0);
    let is_sealed = (after < before && seals & F_SEAL_SHRINK != 0) || (after > before && seals & F_SEAL_GROW != 0);
    if is_sealed { Err(EPERM) } else { Ok(()) }
}

const MFD_CLOEXEC: u64 = 1;
const MFD_ALLOW_SEALING: u64 = 2;
const MFD_HUGETLB: u64 = 4;
const MFD_NOEXEC_SEAL: u64 = 8;
const MFD_EXEC: u64 = 0x10;
/// The name with its prefix fits into `NAME_MAX`.
const NAME_MAX: usize = 249;

/// `memfd_create(2)`.
pub fn memfd_create(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[1] as u32 as u64;
    let known = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC;
    if flags & !(known | MFD_HUGETLB | MFD_NOEXEC_SEAL) != 0 {
        return Err(EINVAL.into());
    }
    call.only_flags(flags, known, "flags")?;
    let name = call.load_string(call.args[0], NAME_MAX + 1).map_err(|stop| match stop {
        Stop::Errno(ENAMETOOLONG) => EINVAL.into(),
        other => other,
    })?;
    call.process().descriptors.free(0, call.descriptor_limit())?;
    let id = call.fresh_id();
    let asker = call.asker();
    let mut inode = Inode::new(Kind::Regular, 0o777, (asker.uid, asker.gid), id, call.kernel.clock.real());
    inode.links = 0;
    call.memory.create_object(memory::ObjectId(id.0), 0);
    call.kernel.files.inodes.insert(id, inode);
    let first = if flags & MFD_ALLOW_SEALING != 0 { 0 } else { F_SEAL_SEAL };
    call.kernel.files.seals.insert(id, first);
    let path = [b"/memfd:", name.as_slice(), b" (deleted)"].concat();
    let description = Description::new(File::Inode(id), O_RDWR | O_LARGEFILE, path);
    Ok(call.install(description, flags & MFD_CLOEXEC != 0)? as u64)
}

/// `F_GET_SEALS`.
pub fn get(call: &Call<'_>, description: Id) -> Result<u64, Stop> {
    let File::Inode(id) = call.description(description).file else { return Err(EINVAL.into()) };
    Ok(seals(call.kernel, id).ok_or(EINVAL)?.into())
}

/// `F_ADD_SEALS`.
pub fn add(call: &mut Call<'_>, description: Id, added: u32) -> Result<u64, Stop> {
    let open = call.description(description);
    let File::Inode(id) = open.file else { return Err(EINVAL.into()) };
    if !open.is_writable() {
        return Err(EPERM.into());
    }
    if added & !(F_SEALS | F_SEAL_EXEC) != 0 {
        return Err(EINVAL.into());
    }
    let before = seals(call.kernel, id).ok_or(EINVAL)?;
    if before & F_SEAL_SEAL != 0 {
        return Err(EPERM.into());
    }
    call.only_flags(added.into(), F_SEALS.into(), "seals")?;
    if added & F_SEAL_WRITE != 0 && before & F_SEAL_WRITE == 0 && is_mapped_for_writing(call, id) {
        return Err(EBUSY.into());
    }
    call.kernel.files.seals.insert(id, before | added);
    Ok(0)
}

/// Whether a shared mapping of a file can be written through.
fn is_mapped_for_writing(call: &Call<'_>, id: Id) -> bool {
    let writes = |mapping: &Mapping| {
        let is_ours = matches!(mapping.backing, Backing::Object { id: object, .. } if object.0 == id.0);
        is_ours && mapping.sharing == Sharing::Shared && mapping.protection.contains(Protection::WRITE)
    };
    let mut living = call.kernel.processes.values().filter(|process| !process.is_zombie());
    living.any(|process| call.memory.mappings(process.space).any(writes))
}
