//! Clocks, sleeping and timers.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Armed timers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Timers {}
