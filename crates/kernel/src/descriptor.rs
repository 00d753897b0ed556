//! Descriptors and open file descriptions, as `open(2)` tells them apart.
//!
//! A descriptor is a small number in a process; it refers to a description, which has the offset and status flags and is
//! shared by `dup(2)` and `fork(2)`; the description refers to a file of some kind. Each kind has one row of
//! [`Operations`], so that `read(2)` and its kin are written once.

mod close;
mod flags;
mod kinds;
mod operations;
mod references;

use crate::errno::{EBADF, EMFILE, Errno};
use crate::id::{Id, Pid};
pub use close::{close_all, close_on_exec};
pub use flags::*;
pub use operations::{At, Operations, Received, noop_seek, refuse};
pub use references::{inherit, retain};
use std::collections::BTreeMap;

/// A file descriptor: a small number in one process.
pub type Fd = i32;

/// One entry of a process's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Descriptor {
    /// What it refers to.
    pub description: Id,
    /// `FD_CLOEXEC`.
    pub close_on_exec: bool,
}

/// The descriptors of a process.
///
/// **Invariant:** `lowest_free` is the lowest number without an entry. POSIX wants new descriptors
/// to be the lowest available (`open(2)`), and programs rely on it (`close(0); open(...)`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Descriptors {
    entries: BTreeMap<Fd, Descriptor>,
    /// The lowest number without an entry. It follows from them: to look for it anew for each of thousands takes long.
    lowest_free: Fd,
}

/// `lowest_free` follows from the entries and is left out.
impl std::hash::Hash for Descriptors {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.entries.hash(state);
    }
}

impl Descriptors {
    /// What a descriptor refers to.
    pub fn get(&self, fd: Fd) -> Result<Descriptor, Errno> {
        self.entries.get(&fd).copied().ok_or(EBADF)
    }

    /// One entry, to change its flag.
    pub fn get_mut(&mut self, fd: Fd) -> Result<&mut Descriptor, Errno> {
        self.entries.get_mut(&fd).ok_or(EBADF)
    }

    /// The lowest free number from `from` on, below the limit.
    ///
    /// O(length of the run of taken numbers from `from` on).
    pub fn free(&self, from: Fd, limit: u64) -> Result<Fd, Errno> {
        let from = from.max(self.lowest_free);
        let taken = self.entries.range(from..).map(|(fd, _)| *fd);
        let free = from + taken.zip(from..).take_while(|(taken, next)| taken == next).count() as Fd;
        if (free as u64) < limit { Ok(free) } else { Err(EMFILE) }
    }

    /// Sets an entry, giving back the one that it replaces.
    pub fn set(&mut self, fd: Fd, descriptor: Descriptor) -> Option<Descriptor> {
        let replaced = self.entries.insert(fd, descriptor);
        while self.entries.contains_key(&self.lowest_free) {
            self.lowest_free += 1;
        }
        replaced
    }

    /// Takes an entry out.
    pub fn remove(&mut self, fd: Fd) -> Result<Descriptor, Errno> {
        let removed = self.entries.remove(&fd).ok_or(EBADF)?;
        self.lowest_free = self.lowest_free.min(fd);
        Ok(removed)
    }

    /// All entries, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Fd, Descriptor)> {
        self.entries.iter().map(|(fd, descriptor)| (*fd, *descriptor))
    }
}

/// An open file description.
///
/// **Invariant:** `references` is the number of descriptors in all processes plus messages in
/// flight that refer to it; `Kernel::release` removes it with the last one, unless a thread waits
/// in a call that was given it (`Wait::held`): then it goes with the call, as on Linux. Waits are
/// not counted, so that waiting changes nothing that others could see.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Description {
    /// What kind of file.
    pub file: File,
    /// Where the next read or write starts, for files that have positions.
    pub offset: u64,
    /// Access mode and status flags of `open(2)` (`O_RDWR`, `O_APPEND`, `O_NONBLOCK`, ...).
    pub flags: u32,
    /// How many descriptors (and messages in flight, `SCM_RIGHTS`) refer to it; closed at zero.
    pub references: u32,
    /// Whether several did at any time: what one of them does may matter to another that is closed by now.
    ///
    /// Part of the state, because footprints ask for it: a description that only one descriptor
    /// ever referred to belongs to its process, and calls on it are invisible to others.
    pub was_shared: bool,
    /// The path it was opened by, for `/proc/self/fd` and messages.
    pub path: Vec<u8>,
    /// `fcntl(F_SETOWN)`: who gets `SIGIO`/`SIGURG`.
    pub owner: i32,
}

impl Description {
    /// A description that nothing refers to yet.
    #[must_use]
    pub fn new(file: File, flags: u32, path: Vec<u8>) -> Self {
        Self { file, offset: 0, flags, references: 0, was_shared: false, path, owner: 0 }
    }

    /// One more reference.
    pub fn retain(&mut self) {
        self.references += 1;
        self.was_shared |= self.references > 1;
    }

    /// Whether it was opened for reading.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        matches!(self.flags & O_ACCMODE, O_RDONLY | O_RDWR) && self.flags & O_PATH == 0
    }

    /// Whether it was opened for writing.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        matches!(self.flags & O_ACCMODE, O_WRONLY | O_RDWR) && self.flags & O_PATH == 0
    }

    /// Whether calls on it fail with `EAGAIN` rather than wait.
    #[must_use]
    pub fn is_nonblocking(&self) -> bool {
        self.flags & O_NONBLOCK != 0
    }
}

/// What an open description refers to; the id finds the rest in the kernel's map of that kind.
///
/// A kind and an id, no data: the kernel's maps hold the data, so that a description is small and
/// equal descriptions are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum File {
    /// A regular file, directory or symbolic link (`O_PATH`): an inode.
    Inode(Id),
    /// The reading end of a pipe or FIFO.
    PipeReader(Id),
    /// The writing end.
    PipeWriter(Id),
    /// A FIFO opened for both.
    PipeBoth(Id),
    /// A socket.
    Socket(Id),
    /// `eventfd(2)`.
    Event(Id),
    /// `timerfd_create(2)`.
    Timer(Id),
    /// `signalfd(2)`.
    Signal(Id),
    /// `epoll(7)`.
    Epoll(Id),
    /// `inotify(7)`.
    Inotify(Id),
    /// A pseudo-terminal's master side.
    PtyMaster(Id),
    /// A terminal as programs see it.
    Terminal(Id),
    /// A character device without state: `/dev/null`, `/dev/zero`, `/dev/urandom`, by device number.
    Device(u32),
    /// Standard input, output or error of a program that Allways started: bytes come from and go to the user.
    Console(Console),
    /// A synthetic file of `/proc` or `/sys`, its text made at `open(2)`.
    Text(Id),
    /// A POSIX message queue (`mq_overview(7)`).
    MessageQueue(Id),
    /// `pidfd_open(2)`.
    Process(Pid),
}

/// The three standard streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Console {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}
