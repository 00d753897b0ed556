//! What a step may read of other threads: the elements of its read set beside memory.

use kernel::Tid;
use memory::SpaceId;

/// Something that a step may read of other threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dependency {
    /// Everything about a thread.
    Thread(Tid),
    /// Who sleeps at an object.
    Sleepers(u64),
    /// Who holds a lock.
    Holder(u64),
    /// Whose stack an address is in, but for that of a thread.
    StackOf(u64, Tid),
    /// Whether blocks are on their way back to their owners.
    Buried,
    /// Everything about everybody.
    AllThreads,
    /// Whose local storage is there in a space; the answer is not the library's.
    Base(u64, SpaceId),
}
