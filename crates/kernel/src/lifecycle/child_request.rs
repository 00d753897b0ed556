//! Which children a thread waits for.

use crate::id::Pid;

/// Which children a thread waits for, and for what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChildRequest {
    pub(super) who: Who,
    pub(super) options: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Who {
    All,
    One(Pid),
    Group(Pid),
}
