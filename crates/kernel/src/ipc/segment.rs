//! A segment of System V shared memory.

use super::access::{Access, Object};
use crate::id::Pid;

/// A segment of shared memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Segment {
    /// Who may do what; the mode tells also whether it is to be removed.
    pub(super) access: Access,
    /// Its content.
    pub(super) object: u64,
    /// Bytes, as asked for.
    pub(super) size: u64,
    /// Last attach, detach and change, seconds since 1970.
    pub(super) times: [u64; 3],
    /// Who created it.
    pub(super) creator: Pid,
    /// Who attached or detached it last.
    pub(super) last: u32,
}

impl Object for Segment {
    fn access(&self) -> &Access {
        &self.access
    }
}
