//! Calls that make, remove and change names.

use super::base;
use crate::Kernel;
use crate::errno::{EPERM, Errno};
use crate::id::Id;

/// `EPERM` for directories of `/proc` and `/sys`, whose names are not ours to change.
pub fn check_changeable(kernel: &Kernel, directory: Id) -> Result<(), Errno> {
    let is_fixed = kernel.files.known.get(directory).is_some_and(|base| base::is_synthetic(&base.path));
    if is_fixed { Err(EPERM) } else { Ok(()) }
}
