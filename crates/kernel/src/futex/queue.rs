//! Who waits at which futex.

use crate::id::Tid;
use memory::{ObjectId, SpaceId};
use std::collections::BTreeMap;

/// Threads that wait, by what they wait for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Futexes {
    pub(super) queues: BTreeMap<Key, Vec<Waiter>>,
}

/// What a futex is. A private and a shared operation on the same private memory do not meet, as in Linux.
///
/// Linux makes the same difference (`get_futex_key`): private keys are (mm, address), shared ones
/// (inode, offset) or (mm, address) for anonymous memory. Keys of objects do not depend on where
/// they are mapped, so processes meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Key {
    /// `FUTEX_PRIVATE_FLAG`: an address in a space.
    Private(SpaceId, u64),
    /// Without the flag, but in memory that nobody else maps.
    Alone(SpaceId, u64),
    /// A place in an object that several may map.
    Shared(ObjectId, u64),
}

/// A thread in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Waiter {
    pub(super) tid: Tid,
    pub(super) bits: u32,
}
