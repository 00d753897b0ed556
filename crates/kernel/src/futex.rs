//! Futexes.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Threads that wait, by what they wait for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Futexes {}
