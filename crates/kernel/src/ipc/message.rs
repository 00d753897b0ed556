//! A System V message queue.

use super::access::{Access, Object};
use std::collections::VecDeque;

/// A message queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Queue {
    pub(super) access: Access,
    /// Type and text, oldest first.
    pub(super) messages: VecDeque<(i64, Vec<u8>)>,
    /// How many bytes it takes.
    pub(super) bytes_max: u64,
    /// Last send, receive and change, seconds since 1970.
    pub(super) times: [u64; 3],
    /// Who sent and received last.
    pub(super) last: [u32; 2],
}

/// Which message is wanted (`msgrcv(2)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wanted {
    /// The first.
    Any,
    /// The first of this type.
    Type(i64),
    /// The first of any other type.
    Not(i64),
    /// The first of the lowest type up to this.
    UpTo(i64),
}

impl Object for Queue {
    fn access(&self) -> &Access {
        &self.access
    }
}

impl Queue {
    pub(super) fn bytes(&self) -> u64 {
        self.messages.iter().map(|(_, text)| text.len() as u64).sum()
    }

    /// Whether a message of that many bytes has room.
    #[must_use]
    pub fn has_room(&self, size: usize) -> bool {
        self.bytes() + size as u64 <= self.bytes_max && (self.messages.len() as u64) < self.bytes_max
    }

    /// Where the wanted message is.
    #[must_use]
    pub fn find(&self, wanted: Wanted) -> Option<usize> {
        let mut types = self.messages.iter().map(|(kind, _)| *kind);
        match wanted {
            Wanted::Any => types.next().map(|_| 0),
            Wanted::Type(kind) => types.position(|other| other == kind),
            Wanted::Not(kind) => types.position(|other| other != kind),
            Wanted::UpTo(most) => {
                let lowest = types.filter(|kind| *kind <= most).min()?;
                self.find(Wanted::Type(lowest))
            }
        }
    }
}
