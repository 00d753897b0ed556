//! Who a process is: users, groups, sessions.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];
