//! What an event is, as data. Decisions are made by it, and `report` makes the words.

use crate::{Bytes, Call, FaultEvent, Operation, Progress, ThreadRef};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// What an event is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A statement of a model, or a fault that happens to it: its text is the source's.
    #[default]
    Statement,
    /// Instructions that no other thread can notice.
    Local,
    /// A syscall.
    Call(Call),
    /// A thread is made.
    CreateThread {
        /// The function that it is made for.
        routine: String,
    },
    /// An assertion fails.
    Assertion,
    /// An operation of the C library on something that threads share.
    Operation(Operation),
    /// The thread ends itself.
    ExitThread,
    /// The process ends itself.
    ExitProcess {
        /// Its exit code, as the program gives it.
        status: i32,
    },
    /// An access to a word that other threads access, too.
    Access {
        /// What the program calls it.
        name: String,
        /// Whether it writes.
        is_write: bool,
        /// Whether what it writes waits in the store buffer of its thread.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_buffered: bool,
    },
    /// The oldest store in the store buffer of a thread reaches memory.
    Drain {
        /// What the program calls the word.
        name: String,
    },
    /// A signal is delivered.
    Signal {
        /// Its name.
        signal: String,
    },
    /// A thread or a process has ended.
    End(Ending),
    /// A fault happens to programs.
    Fault(FaultEvent),
    /// Time passes.
    Time {
        /// How much of it.
        nanoseconds: u64,
        /// Who could have moved and did not.
        slow: Vec<ThreadRef>,
    },
    /// A peer connects to a port of a program.
    Connection {
        /// The port.
        port: u16,
    },
    /// An answer of a peer comes.
    Delivery {
        /// What it says.
        answer: Option<Bytes>,
        /// What becomes of the connection.
        end: Option<ConnectionEnd>,
        /// Whether it is a client, which is asked nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_client: bool,
    },
}

/// How somebody has ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// A thread of several, or a process that nobody asks how.
    Ended,
    /// With this exit code.
    Exited(i32),
    /// By the signal of this name.
    Killed(String),
}

/// How a peer ends a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionEnd {
    /// It says no more.
    Closed,
    /// It breaks off.
    Reset,
    /// Nobody was there to receive a datagram.
    Unreachable,
}

impl EventKind {
    /// Whether it is a statement of a model.
    #[must_use]
    pub fn is_statement(&self) -> bool {
        *self == Self::Statement
    }

    /// The syscall, if it is one.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The same syscall, further on; anything else stays as it is.
    #[must_use]
    pub fn at(self, progress: Progress) -> Self {
        match self {
            Self::Call(call) => Self::Call(Call { progress, ..call }),
            other => other,
        }
    }

    /// Whether it writes to a standard stream.
    #[must_use]
    pub fn prints(&self) -> bool {
        self.call().is_some_and(|call| call.stream().is_some())
    }

    /// Whether it makes a process.
    #[must_use]
    pub fn forks(&self) -> bool {
        self.call().is_some_and(Call::forks)
    }
}

/// Reads what an event is. What another version has written is shown by the text beside it.
pub(crate) fn known_kind<'de, D: Deserializer<'de>>(file: D) -> Result<EventKind, D::Error> {
    Ok(match known_or_not(file)? {
        InFile::Known(kind) => kind,
        InFile::Other(IgnoredAny) => EventKind::Statement,
    })
}

/// Data that this version knows, or of another one.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum InFile<T> {
    Known(T),
    Other(IgnoredAny),
}

/// Reads data if it is of this version.
pub(crate) fn known_or_not<'de, T: Deserialize<'de>, D: Deserializer<'de>>(file: D) -> Result<InFile<T>, D::Error> {
    InFile::deserialize(file)
}
