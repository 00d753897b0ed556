//! Descriptors and open file descriptions, as `open(2)` tells them apart.
//!
//! A descriptor is a small number in a process; it refers to a description, which has the offset and status flags and is
//! shared by `dup(2)` and `fork(2)`; the description refers to a file of some kind. Each kind has one row of
//! [`Operations`], so that `read(2)` and its kin are written once.

mod flags;

use crate::call::{Call, Stop};
use crate::errno::{EBADF, EMFILE, Errno};
use crate::id::Id;
use crate::{Kernel, Pid};
pub use flags::*;
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Descriptors {
    entries: BTreeMap<Fd, Descriptor>,
    /// The lowest number without an entry. It follows from them: to look for it anew for each of thousands takes long.
    lowest_free: Fd,
}

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
    pub was_shared: bool,
    /// The path it was opened by, for `/proc/self/fd` and messages.
    pub path: Vec<u8>,
    /// `fcntl(F_SETOWN)`: who gets `SIGIO`/`SIGURG`.
    pub owner: i32,
}

/// `RLIMIT_NOFILE`.
const LIMIT_FILES: usize = 7;

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

impl Call<'_> {
    /// What a descriptor refers to; `EBADF` also for one opened with `O_PATH`, which most calls refuse.
    pub fn description_of(&self, fd: Fd) -> Result<Id, Errno> {
        let id = self.description_or_path(fd)?;
        if self.description(id).flags & O_PATH == 0 { Ok(id) } else { Err(EBADF) }
    }

    /// What a descriptor refers to, `O_PATH` or not.
    pub fn description_or_path(&self, fd: Fd) -> Result<Id, Errno> {
        self.process().descriptors.get(fd).map(|descriptor| descriptor.description)
    }

    /// An open description.
    #[must_use]
    pub fn description(&self, id: Id) -> &Description {
        self.kernel.descriptions.get(&id).expect("descriptors refer to descriptions that exist")
    }

    /// An open description, to change it.
    pub fn description_mut(&mut self, id: Id) -> &mut Description {
        self.kernel.descriptions.get_mut(&id).expect("descriptors refer to descriptions that exist")
    }

    /// How many descriptors the caller may have (`RLIMIT_NOFILE`).
    #[must_use]
    pub fn descriptor_limit(&self) -> u64 {
        self.process().limits[LIMIT_FILES].0
    }

    /// Makes a description and gives the caller the lowest free descriptor for it.
    pub fn install(&mut self, description: Description, close_on_exec: bool) -> Result<Fd, Errno> {
        let fd = self.process().descriptors.free(0, self.descriptor_limit())?;
        let id = self.fresh_id();
        self.kernel.descriptions.insert(id, description);
        self.refer(fd, id, close_on_exec);
        Ok(fd)
    }

    /// Lets a free descriptor of the caller refer to a description.
    pub fn refer(&mut self, fd: Fd, description: Id, close_on_exec: bool) {
        self.description_mut(description).retain();
        let replaced = self.process_mut().descriptors.set(fd, Descriptor { description, close_on_exec });
        assert!(replaced.is_none(), "descriptor {fd} was free");
    }
}

/// Closes a descriptor of a process.
pub fn close(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, fd: Fd) -> Result<(), Errno> {
    let process = kernel.processes.get_mut(&pid).expect("a process closes its own descriptors");
    let descriptor = process.descriptors.remove(fd)?;
    // Any close by a process releases all its record locks on the file (`fcntl(2)`).
    crate::files::closed_by(kernel, pid, descriptor.description);
    release(kernel, memory, descriptor.description);
    Ok(())
}

/// Closes all descriptors of a process that ends.
pub fn close_all(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    close_those(kernel, memory, pid, |_| true);
}

/// Closes what `execve(2)` closes.
pub fn close_on_exec(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    close_those(kernel, memory, pid, |descriptor| descriptor.close_on_exec);
}

fn close_those(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, which: fn(Descriptor) -> bool) {
    let Some(process) = kernel.processes.get(&pid) else { return };
    let chosen: Vec<Fd> = process.descriptors.iter().filter(|(_, entry)| which(*entry)).map(|(fd, _)| fd).collect();
    for fd in chosen {
        close(kernel, memory, pid, fd).expect("it was just listed");
    }
}

/// The same descriptors for a child of `fork(2)`: every description has one more reference for each.
pub fn inherit(kernel: &mut Kernel, descriptors: &Descriptors) -> Descriptors {
    for (_, descriptor) in descriptors.iter() {
        retain(kernel, descriptor.description);
    }
    descriptors.clone()
}

/// One more reference to a description, such as from a message in flight (`SCM_RIGHTS`).
pub fn retain(kernel: &mut Kernel, description: Id) {
    kernel.descriptions.get_mut(&description).expect("only open descriptions are shared").retain();
}

/// One reference less; the description is closed with the last.
pub fn release(kernel: &mut Kernel, memory: &mut Memory, description: Id) {
    let open = kernel.descriptions.get_mut(&description).expect("a reference keeps its description");
    open.references -= 1;
    if open.references > 0 {
        return;
    }
    crate::files::description_closed(kernel, description);
    crate::event::description_closed(kernel, description);
    let file = kernel.descriptions.get(&description).expect("it is still there").file;
    (operations(file).close)(kernel, memory, description);
    kernel.descriptions.remove(&description);
    crate::files::file_closed(kernel, memory, file);
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

/// What a read gives.
pub type Received = Result<Vec<u8>, Stop>;

/// What a kind of file can do: one row for each kind, as Linux's `struct file_operations`.
///
/// A function that does not apply is one of [`refuse`]'s, which give the errno that Linux gives.
pub struct Operations {
    /// Up to `len` bytes; empty at the end. Waits if there is nothing and the description blocks.
    pub read: fn(&mut Call<'_>, Id, usize, At) -> Received,
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

/// What a kind of file can do.
#[must_use]
pub fn operations(file: File) -> &'static Operations {
    match file {
        File::Inode(_) => &crate::files::OPERATIONS,
        File::Text(_) => &crate::files::synthetic::OPERATIONS,
        File::Device(_) => &crate::files::device::OPERATIONS,
        File::Console(_) => &crate::console::OPERATIONS,
        File::Process(_) => &crate::lifecycle::pidfd::OPERATIONS,
        File::Inotify(_) => &crate::files::notify::OPERATIONS,
        File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_) => &crate::pipe::OPERATIONS,
        File::Socket(_) => &crate::net::OPERATIONS,
        File::Event(_) => &crate::event::counter::OPERATIONS,
        File::Timer(_) => &crate::event::timer::OPERATIONS,
        File::Signal(_) => &crate::event::signals::OPERATIONS,
        File::Epoll(_) => &crate::event::epoll::OPERATIONS,
        File::MessageQueue(_) => &crate::ipc::OPERATIONS,
        File::PtyMaster(_) => &crate::terminal::MASTER,
        File::Terminal(_) => &crate::terminal::SLAVE,
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
