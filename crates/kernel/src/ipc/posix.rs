//! A POSIX message queue (`mq_overview(7)`).

use crate::id::Pid;
use std::collections::VecDeque;

/// A message queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PosixQueue {
    /// Its name; none once it is unlinked.
    pub name: Option<Vec<u8>>,
    /// Owner and permissions.
    pub owner: (u32, u32),
    /// Permissions.
    pub mode: u32,
    /// Open descriptions.
    pub users: u32,
    /// `mq_maxmsg`.
    pub count_max: usize,
    /// `mq_msgsize`.
    pub size_max: usize,
    /// Priority and text, the next to be received first.
    pub messages: VecDeque<(u32, Vec<u8>)>,
    /// Who is told about the first message, and how (`mq_notify(3)`).
    pub notification: Option<Notification>,
}

/// Who is told about a message in an empty queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Notification {
    /// The process.
    pub pid: Pid,
    /// The signal; none for `SIGEV_NONE`.
    pub signal: Option<u8>,
    /// `si_value`.
    pub value: u64,
}

impl PosixQueue {
    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.messages.len() >= self.count_max
    }

    /// Puts a message behind those of the same or a higher priority.
    pub fn put(&mut self, priority: u32, text: Vec<u8>) {
        let at = self.messages.iter().position(|(other, _)| *other < priority).unwrap_or(self.messages.len());
        self.messages.insert(at, (priority, text));
    }
}
