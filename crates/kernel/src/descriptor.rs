//! Descriptors and open file descriptions, as `open(2)` tells them apart.
//!
//! A descriptor is a small number in a process; it refers to a description, which has the offset and status flags and is
//! shared by `dup(2)` and `fork(2)`; the description refers to a file of some kind. Each kind has one row of
//! [`Operations`], so that `read(2)` and its kin are written once.

use crate::call::{Call, Stop};
use crate::errno::{EBADF, EMFILE, Errno};
use crate::id::Id;
use crate::{Kernel, Pid};
use memory::Memory;
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
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Descriptors {
    entries: BTreeMap<Fd, Descriptor>,
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
    pub fn free(&self, from: Fd, limit: u64) -> Result<Fd, Errno> {
        let free = (from..).find(|fd| !self.entries.contains_key(fd)).ok_or(EMFILE)?;
        if (free as u64) < limit { Ok(free) } else { Err(EMFILE) }
    }

    /// Sets an entry, giving back the one that it replaces.
    pub fn set(&mut self, fd: Fd, descriptor: Descriptor) -> Option<Descriptor> {
        self.entries.insert(fd, descriptor)
    }

    /// Takes an entry out.
    pub fn remove(&mut self, fd: Fd) -> Result<Descriptor, Errno> {
        self.entries.remove(&fd).ok_or(EBADF)
    }

    /// All entries, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Fd, Descriptor)> {
        self.entries.iter().map(|(fd, descriptor)| (*fd, *descriptor))
    }
}

/// An open file description.
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
    /// The path it was opened by, for `/proc/self/fd` and messages.
    pub path: Vec<u8>,
    /// `fcntl(F_SETOWN)`: who gets `SIGIO`/`SIGURG`.
    pub owner: i32,
}

/// What an open description refers to; the id finds the rest in the kernel's map of that kind.
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

/// Where a read or write takes place: at the description's offset, or at a given one (`pread(2)`).
pub type At = Option<u64>;

/// What a kind of file can do: one row for each kind, as Linux's `struct file_operations`.
///
/// A function that does not apply is one of [`refuse`]'s, which give the errno that Linux gives.
pub struct Operations {
    /// Up to `len` bytes; empty at the end. Waits if there is nothing and the description blocks.
    pub read: fn(&mut Call<'_>, Id, usize, At) -> Result<Vec<u8>, Stop>,
    /// Writes, giving back how many bytes were taken.
    pub write: fn(&mut Call<'_>, Id, &[u8], At) -> Result<usize, Stop>,
    /// The `poll(2)` events that hold now. The argument is the description.
    pub poll: fn(&Kernel, &Memory, Id) -> u16,
    /// `ioctl(2)`: request and argument.
    pub ioctl: fn(&mut Call<'_>, Id, u64, u64) -> Result<u64, Stop>,
    /// The last reference is gone.
    pub close: fn(&mut Kernel, &mut Memory, Id),
    /// `lseek(2)`: offset and whence.
    pub seek: fn(&mut Call<'_>, Id, i64, u32) -> Result<u64, Stop>,
}

/// `poll(2)`: there is something to read.
pub const POLLIN: u16 = 0x001;
/// Something urgent to read.
pub const POLLPRI: u16 = 0x002;
/// There is room to write.
pub const POLLOUT: u16 = 0x004;
/// An error.
pub const POLLERR: u16 = 0x008;
/// The other side is gone.
pub const POLLHUP: u16 = 0x010;
/// Not open.
pub const POLLNVAL: u16 = 0x020;
/// As [`POLLIN`], for normal data.
pub const POLLRDNORM: u16 = 0x040;
/// As [`POLLOUT`], for normal data.
pub const POLLWRNORM: u16 = 0x100;
/// The other side will send no more.
pub const POLLRDHUP: u16 = 0x2000;

/// What a kind of file can do.
#[must_use]
pub fn operations(file: File) -> &'static Operations {
    match file {
        // Each family brings its row; a kind without one cannot be opened yet.
        _ => &refuse::NOTHING,
    }
}

/// Functions for what a kind of file cannot do.
pub mod refuse {
    use super::{At, Operations};
    use crate::Kernel;
    use crate::call::{Call, Stop};
    use crate::errno::{EINVAL, ENOTTY, ESPIPE};
    use crate::id::Id;
    use memory::Memory;

    /// A file that can do nothing.
    pub static NOTHING: Operations = Operations { read, write, poll, ioctl, close, seek };

    /// `EINVAL`.
    pub fn read(_: &mut Call<'_>, _: Id, _: usize, _: At) -> Result<Vec<u8>, Stop> {
        Err(EINVAL.into())
    }

    /// `EINVAL`.
    pub fn write(_: &mut Call<'_>, _: Id, _: &[u8], _: At) -> Result<usize, Stop> {
        Err(EINVAL.into())
    }

    /// Always ready, as files that do not implement it are.
    #[must_use]
    pub fn poll(_: &Kernel, _: &Memory, _: Id) -> u16 {
        super::POLLIN | super::POLLOUT | super::POLLRDNORM | super::POLLWRNORM
    }

    /// `ENOTTY`.
    pub fn ioctl(_: &mut Call<'_>, _: Id, _: u64, _: u64) -> Result<u64, Stop> {
        Err(ENOTTY.into())
    }

    /// Nothing to do.
    pub fn close(_: &mut Kernel, _: &mut Memory, _: Id) {}

    /// `ESPIPE`.
    pub fn seek(_: &mut Call<'_>, _: Id, _: i64, _: u32) -> Result<u64, Stop> {
        Err(ESPIPE.into())
    }
}
