//! Operations of the C library as events.

use serde::{Deserialize, Serialize};

/// An operation of the C library on something that threads share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Operation {
    /// What is done.
    pub verb: Verb,
    /// What to: a variable by the program's own name, a thread by its short name. Nothing: a thread that has ended and is
    /// known by no name.
    pub object: Option<String>,
    /// Whether it gives up at a certain time.
    pub has_time_limit: bool,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Takes a lock, alone.
    Lock,
    /// Takes it if it is free.
    TryLock,
    /// Takes a lock beside other readers.
    ReadLock,
    /// Takes it if no writer has it.
    TryReadLock,
    /// Takes a lock of readers and writers, alone.
    WriteLock,
    /// Takes it if nobody has it.
    TryWriteLock,
    /// Gives a lock back.
    Unlock,
    /// Ends the life of a lock or a condition variable.
    Destroy,
    /// Gives its lock back and sleeps at a condition variable.
    Sleep,
    /// Goes on behind a condition variable.
    WakeUp,
    /// Wakes one sleeper.
    Signal,
    /// Wakes all sleepers.
    Broadcast,
    /// Comes to a barrier.
    Arrive,
    /// Takes from a semaphore.
    Take,
    /// Takes from it if there is something.
    TryTake,
    /// Gives to a semaphore.
    Give,
    /// Waits for the end of a thread.
    Join,
    /// Asks whether it has ended.
    TryJoin,
    /// Comes to what is done once.
    Once,
    /// Asks a thread to end.
    Cancel,
    /// Lets a thread end without anybody who waits for it.
    Detach,
    /// Frees memory.
    Free,
}
