//! Calls on the address space: mmap, mprotect, brk.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];
