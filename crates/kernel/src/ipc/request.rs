//! Messages, and room for them, that threads wait for.

use super::message::Wanted;
use crate::id::Id;

/// A message that a thread waits for, or room for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QueueRequest {
    /// A message of a System V queue.
    Receive(i32, Wanted),
    /// Room for that many bytes in a System V queue.
    Send(i32, usize),
    /// A message of a POSIX queue.
    PosixReceive(Id),
    /// Room in a POSIX queue.
    PosixSend(Id),
}
