//! Who cannot go on, and why.

use crate::event_kind::{InFile, known_or_not};
use crate::{Call, Location, ThreadRef};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// An actor that cannot go on, or one side of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// Who.
    pub actor: u32,
    /// Why.
    #[serde(default, deserialize_with = "known_reason", skip_serializing_if = "WaitReason::is_stated")]
    pub reason: WaitReason,
    /// Why, for readers of a file: `waits for room in ch`. Where there is a reason, it is the reason in words, or empty as
    /// long as nobody has asked for words.
    pub text: String,
    /// The statement at which it stands.
    pub location: Option<Location>,
}

/// Why an actor cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The text beside it says why: files of older versions have no more.
    #[default]
    Stated,
    /// A process of a model waits for this statement.
    Statement(String),
    /// Or for one of so many.
    Statements(u64),
    /// Or for the end of younger processes.
    YoungerProcesses,
    /// A program was never started: what it depends on does not happen.
    NotStarted,
    /// Waits for the end of a thread; nothing: one that has ended and is known by no name.
    Joins(Option<String>),
    /// Waits at a barrier of this name to which not all have come.
    Barrier(String),
    /// Sleeps at a condition variable of this name, and nobody is left to wake it.
    Condition(String),
    /// Waits for something that nobody holds: a semaphore, a word.
    Object(String),
    /// Waits for a lock.
    Lock {
        /// Its name.
        name: String,
        /// Who holds it; perhaps the one who waits.
        holder: ThreadRef,
        /// Since which step.
        since: Option<usize>,
    },
    /// Waits in a syscall.
    Call(Call),
    /// Waits in a syscall for nothing but peers.
    Peers {
        /// The call.
        call: Call,
        /// The peers.
        peers: Vec<AwaitedPeer>,
    },
    /// One of two accesses with nothing between them.
    Races {
        /// Whether it writes.
        is_write: bool,
        /// Who makes the other access.
        other: String,
    },
}

/// A peer that somebody waits for, at the end of a schedule: all that it had to say was delivered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct AwaitedPeer {
    /// Its name.
    pub name: String,
    /// Whether it has ended; otherwise it waits for input itself.
    pub has_ended: bool,
}

impl WaitReason {
    /// Whether a text says why.
    #[must_use]
    pub fn is_stated(&self) -> bool {
        *self == Self::Stated
    }
}

/// Reads a reason. What another version has written is shown by the text beside it.
fn known_reason<'de, D: Deserializer<'de>>(file: D) -> Result<WaitReason, D::Error> {
    Ok(match known_or_not(file)? {
        InFile::Known(reason) => reason,
        InFile::Other(IgnoredAny) => WaitReason::Stated,
    })
}
