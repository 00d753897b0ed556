//! System V and POSIX semaphores, shared memory and message queues.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Semaphores, shared memory, message queues.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ipc {}

/// Semaphore operations that a thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SemaphoreRequest {}

/// A message that a thread waits for, or room for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct QueueRequest {}

/// Whether the operations could be carried out now.
#[must_use]
pub fn may_operate(_: &crate::Kernel, _: &SemaphoreRequest) -> bool {
    false
}

/// Whether the message could be taken or left now.
#[must_use]
pub fn may_pass(_: &crate::Kernel, _: &QueueRequest) -> bool {
    false
}
