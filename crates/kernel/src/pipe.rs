//! Pipes and FIFOs.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// All pipes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pipes {}
