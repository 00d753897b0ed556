//! How processes and threads begin and end: clone, execve, exit, wait.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Whether `wait4(2)` in this thread would find a child to report.
#[must_use]
pub fn has_reportable_child(_: &crate::Kernel, _: crate::Pid, _: crate::Tid) -> bool {
    false
}

/// Whether the child of `vfork(2)` has executed or ended, so that its parent may go on.
#[must_use]
pub fn has_left_shared_space(_: &crate::Kernel, _: crate::Pid) -> bool {
    true
}
