//! Which file system something is on (`st_dev`).

use super::base;
use crate::Kernel;
use crate::id::Id;

/// `st_dev` of files and directories.
pub(super) const DEVICE_FILES: u32 = 0x801;
/// Of `/proc`.
pub(super) const DEVICE_PROC: u32 = 0x15;
/// Of `/sys`.
pub(super) const DEVICE_SYS: u32 = 0x16;
/// Of `/dev`.
pub(super) const DEVICE_DEV: u32 = 0x5;

/// `st_dev`: which file system something is on.
#[must_use]
pub fn device_of(kernel: &Kernel, id: Id) -> u32 {
    let Some(base) = kernel.files.known.get(id) else { return DEVICE_FILES };
    match base.path.as_slice() {
        path if path.starts_with(b"/proc") && base::is_synthetic(path) => DEVICE_PROC,
        path if base::is_synthetic(path) => DEVICE_SYS,
        path if path.starts_with(b"/dev") => DEVICE_DEV,
        _ => DEVICE_FILES,
    }
}

/// The file system of a directory, new or not: that of the nearest directory that was there before.
#[must_use]
pub fn device_of_directory(kernel: &Kernel, mut directory: Id) -> u32 {
    while kernel.files.known.get(directory).is_none() {
        directory = kernel.place_of(directory).0;
    }
    device_of(kernel, directory)
}
