//! What a path of `/proc` or `/sys` can be.

use crate::Kernel;
use crate::files::place::Node;
use crate::id::{Pid, Tid};
use memory::Memory;

/// Makes the text of a file.
pub(super) type Make = fn(&Kernel, &Memory, Scope) -> Vec<u8>;

/// Whose files are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scope {
    pub(super) pid: Pid,
    pub(super) tid: Tid,
}

/// What a synthetic path is.
#[derive(Clone, Copy)]
pub(super) enum Item {
    /// A directory, of a process if the scope says so.
    Directory(Option<Scope>),
    /// A text with its permissions.
    Text(u32, Make, Option<Scope>),
    /// `/proc/self` or `/proc/thread-self`.
    Own { thread: bool },
    /// `/proc/PID/fd/N`.
    Descriptor(Scope, i32),
    /// `/proc/PID/fdinfo/N`.
    DescriptorText(Scope, i32),
    /// `/proc/PID/cwd`, `exe`, `root`.
    Place(Scope, Spot),
    /// `/proc/sys/kernel/random/uuid`.
    Uuid,
    /// A link with a fixed text.
    Link(&'static str),
}

/// What a link of a process leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    Working,
    Executable,
    Root,
}

/// Where following a link leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Jump {
    /// On from the link's directory by this path.
    Path(Vec<u8>),
    /// Straight to this.
    Node(Node),
}
