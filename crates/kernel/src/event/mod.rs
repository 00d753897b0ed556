//! Waiting for several things: poll, select, epoll, and event, timer and signal descriptors.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Event counters, epoll sets and their kin.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Events {}
