//! The file system: inodes, directories, paths, locks, and the calls on them.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Everything about files.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Files {}

/// A lock that a thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LockRequest {}

/// Whether a lock could be taken now.
#[must_use]
pub fn may_lock(_: &crate::Kernel, _: &LockRequest) -> bool {
    false
}
