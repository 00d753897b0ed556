//! What a state of programs holds beside variables: threads, locks, descriptors, what is in flight, files.
//!
//! Data for a reader who stands in one state; nothing of it is needed to execute anything again, so it is never saved.

use crate::{Bytes, Ending, ThreadRef};

/// What a state of programs holds beside variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inventory {
    /// Every thread that lives, and every process that has ended and was not waited for.
    pub threads: Vec<ThreadState>,
    /// Locks that somebody holds or waits for.
    pub locks: Vec<LockState>,
    /// Descriptors of all processes, by process and number.
    pub descriptors: Vec<OpenDescriptor>,
    /// Pipes and sockets that hold something which nobody has received.
    pub channels: Vec<ChannelState>,
    /// Files that are not as they were at the beginning.
    pub files: Vec<FileState>,
}

/// Where a thread is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadState {
    /// Who.
    pub thread: ThreadRef,
    /// Its call stack, innermost function first.
    pub stack: Vec<String>,
    /// How it has ended, if it is a process that nobody has waited for.
    pub ending: Option<Ending>,
}

/// Who holds a lock, and who waits for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockState {
    /// Its name in the program.
    pub name: String,
    /// Who holds it.
    pub holder: Option<ThreadRef>,
    /// The step in which it was acquired.
    pub since: Option<usize>,
    /// Who waits for it.
    pub waiters: Vec<ThreadRef>,
}

/// A descriptor of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenDescriptor {
    /// The process.
    pub process: String,
    /// The descriptor.
    pub number: i32,
    /// What it refers to.
    pub file: OpenFile,
}

/// What a descriptor refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenFile {
    /// A file, and where the next read or write begins.
    File {
        /// Its path.
        path: String,
        /// The offset.
        offset: u64,
    },
    /// An end of a pipe.
    Pipe {
        /// Whether it can be read from.
        is_reader: bool,
        /// The pipe: both ends have the same number.
        number: u64,
    },
    /// A socket.
    Socket(SocketState),
    /// Anything else, by the name that `/proc/PID/fd` shows.
    Other(String),
}

/// A socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SocketState {
    /// `TCP`, `UDP`, `Unix`.
    pub kind: &'static str,
    /// Its own address.
    pub local: Option<String>,
    /// That of its peer.
    pub remote: Option<String>,
    /// How many connections wait to be accepted, if it listens.
    pub backlog: Option<usize>,
}

/// What is under way to somebody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelState {
    /// The process and the descriptor that can receive it; nobody yet, if the connection was not accepted.
    pub receiver: Option<(String, i32)>,
    /// Messages, or pieces of a stream, oldest first.
    pub packets: Vec<Bytes>,
}

/// A file that is not as it was at the beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileState {
    /// Its path.
    pub path: String,
    /// What is there now.
    pub content: FileContent,
}

/// What is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileContent {
    /// Nothing: it was removed.
    Removed,
    /// A regular file.
    Regular(Bytes),
    /// A directory.
    Directory,
    /// A symbolic link, and where it leads.
    Link(String),
    /// A FIFO, a socket, a device.
    Special,
}
