//! What the kernel keeps of System V and POSIX communication.

use super::message::Queue;
use super::posix::PosixQueue;
use super::segment::Segment;
use super::semaphore::{Set, Undo};
use crate::id::{Id, Pid};
use crate::map::Map;

/// Semaphores, shared memory, message queues.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ipc {
    /// Sets of System V semaphores.
    pub(super) sets: Map<i32, Set>,
    /// What happens to semaphores when a process ends (`SEM_UNDO`), by process, set and semaphore.
    pub(super) undo: Map<Pid, Undo>,
    /// Segments of shared memory.
    pub(super) segments: Map<i32, Segment>,
    /// System V message queues.
    pub(super) queues: Map<i32, Queue>,
    /// POSIX message queues.
    pub(super) posix: Map<Id, PosixQueue>,
    /// Their names.
    pub(super) names: Map<Vec<u8>, Id>,
}
