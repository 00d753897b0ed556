//! What an event is, as data: decisions are made by it. The text of an event is for people alone.

use serde::{Deserialize, Serialize};

/// What an event is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A statement of a model, or a fault that happens to it.
    #[default]
    Statement,
    /// Instructions that no other thread can notice.
    Local,
    /// A syscall.
    Call(Call),
    /// A syscall that writes to a standard stream.
    Print,
    /// A syscall that sleeps for a time.
    Sleep,
    /// A process is made.
    Fork,
    /// A thread is made.
    CreateThread,
    /// An assertion fails.
    Assertion,
    /// Another operation of the C library.
    Operation,
    /// The process ends itself.
    Exit,
    /// An access to a word that other threads access, too.
    Access,
    /// A signal is delivered.
    Signal,
    /// A thread or a process has ended.
    End,
    /// Time passes.
    Time,
    /// An answer of a peer comes.
    Delivery,
}

/// A syscall that has returned, or waits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// The name of its error, if it failed: `ENOENT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The path that it names, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it found standard input at its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_end_of_input: bool,
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
}
