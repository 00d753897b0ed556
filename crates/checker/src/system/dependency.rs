//! What a step may read of other threads: the elements of its read set beside memory.

use kernel::Tid;
use memory::SpaceId;

/// An element of a read set: what a step may read of other threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dependency {
    /// A thread's overlay.
    Thread(Tid),
    /// The sleepers at an object.
    Sleepers(u64),
    /// The holder of a lock.
    Holder(u64),
    /// The thread other than the given one on whose stack an address lies.
    StackOf(u64, Tid),
    /// Whether freed blocks wait to be reclaimed by their owners.
    Buried,
    /// The overlays of all threads.
    AllThreads,
    /// The thread of a space whose local storage begins at an address. Kernel and registers decide it, not the overlay.
    Base(u64, SpaceId),
}
