//! Terminals.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// All terminals.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Terminals {}
