//! Seals of `memfd_create(2)`: what can no longer be done to a file.

use crate::Kernel;
use crate::errno::{EPERM, Errno};
use crate::id::Id;

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
/// All of them; `F_SEAL_EXEC` is not modelled.
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

/// `EPERM` if a new length is sealed off.
pub fn check_resize(kernel: &Kernel, inode: Id, before: u64, after: u64) -> Result<(), Errno> {
    let seals = seals(kernel, inode).unwrap_or(0);
    let is_sealed = (after < before && seals & F_SEAL_SHRINK != 0) || (after > before && seals & F_SEAL_GROW != 0);
    if is_sealed { Err(EPERM) } else { Ok(()) }
}
