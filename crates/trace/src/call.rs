//! Syscalls as events: what is told of their arguments, and what they came to.

use crate::Direction;
use serde::{Deserialize, Serialize};

/// A syscall that begins, waits or has returned.
///
/// Files of older versions have other fields here; none of these has a default, so that such a file is not taken for this one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The name that people know it by: `stat` also for `newfstatat`.
    pub name: String,
    /// What it is for, where that says more than its name.
    pub purpose: Purpose,
    /// What is told of its arguments, in their order.
    pub arguments: Vec<Argument>,
    /// How far it has come.
    pub progress: Progress,
    /// The fault that happens to it; without a word if its result says enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// What it puts into a pipe or a socket, or takes out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<Passage>,
}

/// Bytes that go into a channel between programs or come out of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Passage {
    /// One direction of a connection, a pipe, or the mailbox of a socket; the same for both sides.
    pub channel: String,
    /// In or out.
    pub direction: Direction,
    /// How many.
    pub bytes: u64,
    /// Whether they are a message of their own and not part of a stream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_message: bool,
}

/// What a syscall is for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What its name says.
    Plain,
    /// Writes to a standard stream.
    Prints(Stream),
    /// Sleeps for so many nanoseconds, if they can be read.
    Sleeps(Option<u64>),
    /// Takes or gives back a lock of the file that its first argument is.
    Locks(LockMode),
    /// Makes a process.
    Forks,
}

/// What a call does with a lock of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockMode {
    /// Takes it beside others.
    Shared,
    /// Takes it alone.
    Exclusive,
    /// Gives it back.
    Unlock,
}

/// A standard stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// An argument of a syscall, with its meaning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// A descriptor, and what it refers to.
    Descriptor {
        /// Its number.
        fd: i32,
        /// What it refers to.
        file: FileKind,
    },
    /// A path.
    Path(String),
    /// The first of two names: what gets another one.
    OldName(String),
    /// The second of two names.
    NewName(String),
    /// Bytes that are written or sent.
    Bytes(Bytes),
    /// The name of a signal.
    Signal(String),
    /// A number.
    Number(u64),
    /// The address of the other side.
    PeerAddress(String),
    /// The address that a socket gets.
    OwnAddress(String),
    /// Operations on System V semaphores.
    Semaphores {
        /// The set.
        set: i32,
        /// The number of a semaphore, and what is added to it.
        operations: Vec<(u16, i16)>,
    },
}

/// What a descriptor refers to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Nothing that has a name for people.
    Other,
    /// A file; its name, if it was opened on the way.
    File(Option<String>),
    /// A directory.
    Directory,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A counter of `eventfd(2)`.
    Eventfd,
    /// A timer of `timerfd_create(2)`.
    Timerfd,
    /// A set of `epoll(7)`.
    Epoll,
    /// A terminal.
    Terminal,
    /// A standard stream.
    Stream(Stream),
}

/// How far a syscall has come.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It begins, or it is under way.
    Begun,
    /// It waits, and its thread with it.
    Waits,
    /// It has returned.
    Returned(Returned),
}

/// What a syscall came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returned {
    /// Nothing that is told.
    Nothing,
    /// The name of an error: `ENOENT`.
    Error(String),
    /// There is no more to read.
    EndOfInput,
    /// Bytes that were read.
    Bytes(Bytes),
    /// A file changed so many nanoseconds ago.
    Age(u64),
    /// A new descriptor.
    Descriptor(i64),
    /// A number.
    Number(i64),
    /// So many descriptors are ready.
    Ready(i64),
    /// A process was waited for, and has ended.
    Child(ThreadRef),
}

/// A thread, or a process by its first thread, with the name that texts call it by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadRef {
    /// Its number as an actor.
    pub actor: u32,
    /// Its short name: `T2`, where lanes say `T2 worker`.
    pub name: String,
}

/// Bytes that were written, read or sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bytes {
    /// How many there are.
    pub length: u64,
    /// The first [`Bytes::KEPT`] of them, if they can be read and are text.
    pub start: Option<String>,
}

impl Bytes {
    /// How many are kept.
    pub const KEPT: usize = 24;

    /// Bytes of which the first ones are these; more than [`Bytes::KEPT`] are cut off.
    #[must_use]
    pub fn beginning_with(start: &[u8], length: u64) -> Self {
        let start = &start[..start.len().min(Self::KEPT)];
        let is_text = start.iter().all(|byte| (0x20..0x7f).contains(byte) || b"\n\r\t".contains(byte));
        Self { length, start: is_text.then(|| String::from_utf8_lossy(start).into_owned()) }
    }

    /// Bytes of which no more is known than how many.
    #[must_use]
    pub fn unreadable(length: u64) -> Self {
        Self { length, start: None }
    }
}

impl Call {
    /// A call that begins, and of which no more is known than its name.
    #[must_use]
    pub fn named(name: String) -> Self {
        Self {
            name,
            purpose: Purpose::Plain,
            arguments: Vec::new(),
            progress: Progress::Begun,
            fault: None,
            passage: None,
        }
    }

    /// The standard stream that it writes to.
    #[must_use]
    pub fn stream(&self) -> Option<Stream> {
        match self.purpose {
            Purpose::Prints(stream) => Some(stream),
            _ => None,
        }
    }

    /// Whether it makes a process.
    #[must_use]
    pub fn forks(&self) -> bool {
        self.purpose == Purpose::Forks
    }

    /// The name of its error, if it failed.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.progress {
            Progress::Returned(Returned::Error(name)) => Some(name),
            _ => None,
        }
    }

    /// The first path that it names.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Path(path) | Argument::OldName(path) | Argument::NewName(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// Whether it found standard input at its end.
    #[must_use]
    pub fn is_end_of_input(&self) -> bool {
        let is_input = |file: &FileKind| *file == FileKind::Stream(Stream::Input);
        let reads_input = matches!(self.arguments.first(), Some(Argument::Descriptor { file, .. }) if is_input(file));
        reads_input && self.progress == Progress::Returned(Returned::EndOfInput)
    }

    /// Whether it prints as another one did: to the same stream, with the same result.
    #[must_use]
    pub fn prints_like(&self, other: &Self) -> bool {
        self.stream().is_some() && self.stream() == other.stream() && self.progress == other.progress
    }

    /// Gives the first file among its arguments a name.
    pub fn name_file(&mut self, known: &str) {
        let mut files = self.arguments.iter_mut().filter_map(|argument| match argument {
            Argument::Descriptor { file: FileKind::File(name), .. } => Some(name),
            _ => None,
        });
        if let Some(name) = files.next() {
            *name = Some(known.to_owned());
        }
    }
}
