//! The read set of a step, while it is recorded.

use crate::SpaceId;

/// The reads of a step so far.
#[derive(Debug, Default)]
pub(crate) struct ReadSet {
    /// Whether reads are recorded.
    pub(crate) is_on: bool,
    /// Accesses to the current space, packed as in the log.
    pub(crate) accesses: Vec<u64>,
    /// Reads made by the checker itself: space, address, bytes.
    pub(crate) peeks: Vec<(SpaceId, u64, usize)>,
    /// Whether something other than words of the current space was read.
    pub(crate) is_more: bool,
}
