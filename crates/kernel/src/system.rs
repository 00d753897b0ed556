//! Calls about the machine: uname, sysinfo, limits, random numbers.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];
