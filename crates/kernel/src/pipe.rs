//! Pipes and FIFOs (`pipe(7)`).
//!
//! As in Linux a pipe is a ring of pages: a small write joins the last page if it fits there as a whole, and takes a page
//! of its own if not, so that how many writes a pipe holds is exactly what programs find on Linux.

use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{
    At, Description, Fd, File, O_ACCMODE, O_CLOEXEC, O_DIRECT, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY, Operations,
    POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse,
};
use crate::errno::{EAGAIN, EBUSY, EINVAL, EMFILE, ENOTTY, ENXIO, EPERM, EPIPE, Errno};
use crate::id::Id;
use crate::map::Map;
use crate::table::{Argument, Row};
use crate::wait::{Condition, Wait};
use memory::Memory;
use std::collections::VecDeque;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(22, "pipe", pipe, &[Argument::Hex]),
    Row::full(293, "pipe2", pipe2, &[Argument::Hex, Argument::Hex])
        .partial("no packets (O_DIRECT), no notifications (O_NOTIFICATION_PIPE)"),
];

/// What an end of a pipe can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl, close, seek: refuse::seek };

/// Bytes of a page; also `PIPE_BUF`, up to which a write is not torn.
const PAGE: usize = 4096;
/// Pages of a new pipe.
const SLOTS: usize = 16;
/// `/proc/sys/fs/pipe-max-size`.
const SIZE_MAX: u64 = 1 << 20;
/// `SIGPIPE`.
const SIGPIPE: u8 = 13;
/// `FIONREAD`.
const FIONREAD: u64 = 0x541b;

/// All pipes.
pub type Pipes = Map<Id, Pipe>;

/// A pipe, or a FIFO while somebody has it open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pipe {
    /// Pages with something to read, oldest first.
    pages: VecDeque<Page>,
    /// How many pages there may be.
    slots: usize,
    /// Open reading ends.
    readers: u32,
    /// Open writing ends.
    writers: u32,
    /// Whether a writer has been there since a reader came: only then can the writers have gone (`POLLHUP`).
    written: bool,
}

/// A page of a pipe.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Page {
    bytes: Vec<u8>,
    /// How much of it was read.
    start: usize,
}

impl Default for Pipe {
    fn default() -> Self {
        Self { pages: VecDeque::new(), slots: SLOTS, readers: 0, writers: 0, written: false }
    }
}

impl Pipe {
    /// Bytes to read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.iter().map(|page| page.bytes.len() - page.start).sum()
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn is_full(&self) -> bool {
        self.pages.len() >= self.slots
    }

    /// `F_GETPIPE_SZ`.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        (self.slots * PAGE) as u64
    }

    /// Bytes that fit in for sure.
    #[must_use]
    pub fn room(&self) -> usize {
        self.slots.saturating_sub(self.pages.len()) * PAGE
    }

    /// Takes up to `len` bytes out.
    pub fn take(&mut self, len: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(page) = self.pages.front_mut().filter(|_| taken.len() < len) {
            let end = page.bytes.len().min(page.start + len - taken.len());
            taken.extend_from_slice(&page.bytes[page.start..end]);
            page.start = end;
            if end == page.bytes.len() {
                self.pages.pop_front();
            }
        }
        taken
    }

    /// The first `len` bytes, left where they are (`tee(2)`).
    #[must_use]
    pub fn peek(&self, len: usize) -> Vec<u8> {
        self.pages.iter().flat_map(|page| &page.bytes[page.start..]).take(len).copied().collect()
    }

    /// Puts bytes in as far as there is room; how many.
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let mut done = self.join(bytes);
        while done < bytes.len() && !self.is_full() {
            let end = bytes.len().min(done + PAGE);
            self.pages.push_back(Page { bytes: bytes[done..end].to_vec(), start: 0 });
            done = end;
        }
        done
    }

    /// The odd bytes of a write go into the last page if they all fit there.
    fn join(&mut self, bytes: &[u8]) -> usize {
        let odd = bytes.len() % PAGE;
        match self.pages.back_mut() {
            Some(page) if odd > 0 && page.bytes.len() + odd <= PAGE => {
                page.bytes.extend_from_slice(&bytes[..odd]);
                odd
            }
            _ => 0,
        }
    }
}

/// `pipe(2)`.
fn pipe(call: &mut Call<'_>) -> Result<u64, Stop> {
    make(call, 0)
}

/// `pipe2(2)`.
fn pipe2(call: &mut Call<'_>) -> Result<u64, Stop> {
    make(call, call.args[1] as u32)
}

/// `O_NOTIFICATION_PIPE`, which is `O_EXCL`.
const NOTIFICATIONS: u32 = 0o200;

fn make(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    if flags & !(O_CLOEXEC | O_NONBLOCK | O_DIRECT | NOTIFICATIONS) != 0 {
        return Err(EINVAL.into());
    }
    call.only_flags(flags.into(), (O_CLOEXEC | O_NONBLOCK).into(), "flags")?;
    let free = call.process().descriptors.free(0, call.descriptor_limit())?;
    call.process().descriptors.free(free + 1, call.descriptor_limit()).map_err(|_| EMFILE)?;
    let id = call.fresh_id();
    let status = flags & O_NONBLOCK;
    call.kernel.pipes.insert(id, Pipe { readers: 1, writers: 1, written: true, ..Pipe::default() });
    let name = format!("pipe:[{}]", id.0 >> 24).into_bytes();
    let close_on_exec = flags & O_CLOEXEC != 0;
    let reader = Description::new(File::PipeReader(id), O_RDONLY | status, name.clone());
    let reader = call.install(reader, close_on_exec)?;
    let writer = call.install(Description::new(File::PipeWriter(id), O_WRONLY | status, name), close_on_exec)?;
    store_pair(call, reader, writer)
}

/// Tells the guest its two descriptors; if it cannot be told they are taken back.
fn store_pair(call: &mut Call<'_>, reader: Fd, writer: Fd) -> Result<u64, Stop> {
    let pair = [(reader as u32).to_le_bytes(), (writer as u32).to_le_bytes()].concat();
    let stored = call.store(call.args[0], &pair);
    if stored.is_err() {
        for fd in [reader, writer] {
            crate::descriptor::close(call.kernel, call.memory, call.pid, fd)?;
        }
    }
    stored.map(|()| 0)
}

/// The pipe behind a description.
fn id_of(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => Some(id),
        _ => None,
    }
}

/// The pipe behind a description that must be one.
fn of<'a>(call: &'a mut Call<'_>, description: Id) -> (Id, &'a mut Pipe) {
    let id = id_of(call.kernel, description).expect("an end of a pipe");
    (id, call.kernel.pipes.get_mut(&id).expect("an open end keeps its pipe"))
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let (id, pipe) = of(call, description);
    if !pipe.is_empty() {
        return Ok(pipe.take(len));
    }
    if writers(call.kernel, id) == 0 {
        return Ok(Vec::new());
    }
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Poll(description, POLLIN | POLLHUP)).into())
}

fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    if bytes.is_empty() {
        return Ok(0);
    }
    let done = call.resumed.as_ref().map_or(0, |wait| wait.progress as usize);
    let (id, pipe) = of(call, description);
    if pipe.readers == 0 && readers(call.kernel, id) == 0 {
        return broken(call, done);
    }
    let (_, pipe) = of(call, description);
    let done = done + pipe.put(&bytes[done..]);
    if done == bytes.len() {
        return Ok(done);
    }
    if call.description(description).is_nonblocking() {
        return if done > 0 { Ok(done) } else { Err(EAGAIN.into()) };
    }
    Err(Wait::until(Condition::Poll(description, POLLOUT | POLLERR)).progress(done as u64).into())
}

/// Nobody will read: `SIGPIPE` and `EPIPE`, unless something was already taken.
fn broken(call: &mut Call<'_>, done: usize) -> Result<usize, Stop> {
    let info = crate::process::SignalInfo { number: SIGPIPE, ..Default::default() };
    crate::signal::send(call.kernel, crate::signal::Target::Thread(call.tid), info);
    if done > 0 { Ok(done) } else { Err(EPIPE.into()) }
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let open = kernel.descriptions.get(&description).expect("the caller found it");
    let Some((id, pipe)) = id_of(kernel, description).and_then(|id| Some((id, kernel.pipes.get(&id)?))) else {
        return POLLERR;
    };
    let mut events = 0;
    if open.is_readable() {
        events |= if pipe.is_empty() { 0 } else { POLLIN | POLLRDNORM };
        events |= if pipe.written && writers(kernel, id) == 0 { POLLHUP } else { 0 };
    }
    if open.is_writable() {
        events |= if pipe.is_full() { 0 } else { POLLOUT | POLLWRNORM };
        events |= if readers(kernel, id) == 0 { POLLERR } else { 0 };
    }
    events
}

fn ioctl(call: &mut Call<'_>, description: Id, request: u64, argument: u64) -> Result<u64, Stop> {
    if request != FIONREAD {
        return Err(ENOTTY.into());
    }
    let length = of(call, description).1.len();
    call.store_u32(argument, length as u32)?;
    Ok(0)
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    let Some(open) = kernel.descriptions.get(&description) else { return };
    let (reads, writes) = (open.is_readable(), open.is_writable());
    let Some(id) = id_of(kernel, description) else { return };
    let Some(pipe) = kernel.pipes.get_mut(&id) else { return };
    pipe.readers -= u32::from(reads);
    pipe.writers -= u32::from(writes);
    forget_if_unused(kernel, id);
}

/// A pipe ends with its last end; what is left in it is lost. Those who wait to open it hold it, too.
fn forget_if_unused(kernel: &mut Kernel, id: Id) {
    if readers(kernel, id) == 0 && writers(kernel, id) == 0 {
        kernel.pipes.remove(&id);
    }
}

/// What those who wait to open a FIFO for reading queue on.
fn reader_queue(fifo: Id) -> Condition {
    Condition::Woken(fifo.child(1))
}

/// What those who wait to open a FIFO for writing queue on.
fn writer_queue(fifo: Id) -> Condition {
    Condition::Woken(fifo.child(2))
}

fn waiting(kernel: &Kernel, queue: &Condition) -> u32 {
    let waits = |wait: &Wait| wait.until.contains(queue);
    kernel.threads.values().filter(|thread| thread.wait.as_ref().is_some_and(waits)).count() as u32
}

/// Reading ends, with those that wait in `open(2)`: Linux counts them from the start.
fn readers(kernel: &Kernel, id: Id) -> u32 {
    kernel.pipes.get(&id).map_or(0, |pipe| pipe.readers) + waiting(kernel, &reader_queue(id))
}

/// Writing ends, with those that wait in `open(2)`.
fn writers(kernel: &Kernel, id: Id) -> u32 {
    kernel.pipes.get(&id).map_or(0, |pipe| pipe.writers) + waiting(kernel, &writer_queue(id))
}

/// Lets those who wait to open the other end go on.
fn wake(kernel: &mut Kernel, queue: &Condition) {
    let waits = |wait: &Wait| wait.until.contains(queue);
    let threads = kernel.threads.values().filter(|thread| thread.wait.as_ref().is_some_and(waits));
    let chosen: Vec<crate::Tid> = threads.map(|thread| thread.tid).collect();
    for tid in chosen {
        if let Some(wait) = kernel.threads.get_mut(&tid).and_then(|thread| thread.wait.as_mut()) {
            wait.woken = true;
        }
    }
}

/// Opens a FIFO (`fifo(7)`), or again a pipe through `/proc/self/fd`.
pub fn open_fifo(call: &mut Call<'_>, id: Id, flags: u32, path: Vec<u8>, close_on_exec: bool) -> Result<u64, Stop> {
    let woken = call.resumed.as_ref().is_some_and(|wait| wait.woken);
    if !woken {
        // Whoever waited for this pipe may have been interrupted since.
        forget_if_unused(call.kernel, id);
    }
    let is_nonblocking = flags & O_NONBLOCK != 0;
    let file = match flags & O_ACCMODE {
        O_RDONLY => {
            wake(call.kernel, &writer_queue(id));
            if writers(call.kernel, id) == 0 && !woken && !is_nonblocking {
                return Err(Wait::until(reader_queue(id)).into());
            }
            File::PipeReader(id)
        }
        O_WRONLY => {
            if readers(call.kernel, id) == 0 && !woken && is_nonblocking {
                return Err(ENXIO.into());
            }
            wake(call.kernel, &reader_queue(id));
            if readers(call.kernel, id) == 0 && !woken {
                return Err(Wait::until(writer_queue(id)).into());
            }
            File::PipeWriter(id)
        }
        O_RDWR => {
            wake(call.kernel, &writer_queue(id));
            wake(call.kernel, &reader_queue(id));
            File::PipeBoth(id)
        }
        _ => return Err(EINVAL.into()),
    };
    let description = Description::new(file, flags, path);
    let (reads, writes) = (description.is_readable(), description.is_writable());
    let fd = call.install(description, close_on_exec)?;
    attach(call.kernel, id, reads, writes);
    Ok(fd as u64)
}

/// Counts a new end.
fn attach(kernel: &mut Kernel, id: Id, reads: bool, writes: bool) {
    let waited = waiting(kernel, &writer_queue(id)) > 0;
    if !kernel.pipes.contains_key(&id) {
        kernel.pipes.insert(id, Pipe::default());
    }
    let pipe = kernel.pipes.get_mut(&id).expect("it was just put there");
    pipe.readers += u32::from(reads);
    pipe.writers += u32::from(writes);
    pipe.written |= writes || waited;
}

/// The pipe behind a description, if it is one: for `splice(2)` and `fcntl(2)`.
#[must_use]
pub fn find(kernel: &Kernel, description: Id) -> Option<(Id, &Pipe)> {
    let id = id_of(kernel, description)?;
    Some((id, kernel.pipes.get(&id)?))
}

/// `F_SETPIPE_SZ`: whole pages, a power of two of them, and no fewer than are in use.
pub fn set_capacity(call: &mut Call<'_>, description: Id, bytes: u64) -> Result<u64, Errno> {
    let is_root = call.asker().uid == 0;
    let id = id_of(call.kernel, description).ok_or(crate::errno::EBADF)?;
    let size = bytes.max(1).next_multiple_of(PAGE as u64).next_power_of_two();
    if bytes > 1 << 31 {
        return Err(EINVAL);
    }
    let pipe = call.kernel.pipes.get_mut(&id).ok_or(crate::errno::EBADF)?;
    if size > SIZE_MAX && !is_root && size > pipe.capacity() {
        return Err(EPERM);
    }
    let slots = (size / PAGE as u64) as usize;
    if slots < pipe.pages.len() {
        return Err(EBUSY);
    }
    pipe.slots = slots;
    Ok(size)
}

/// Whether a pipe can only run dry.
#[must_use]
pub fn has_no_writers(kernel: &Kernel, id: Id) -> bool {
    writers(kernel, id) == 0
}

/// `EPIPE` and `SIGPIPE` if nobody reads.
pub fn check_readers(call: &mut Call<'_>, description: Id) -> Result<(), Stop> {
    let id = id_of(call.kernel, description).expect("an end of a pipe");
    if readers(call.kernel, id) == 0 { broken(call, 0).map(|_| ()) } else { Ok(()) }
}

/// Takes bytes that were looked at before out of a pipe.
pub fn take_from(kernel: &mut Kernel, description: Id, len: usize) {
    let pipe = id_of(kernel, description).and_then(|id| kernel.pipes.get_mut(&id));
    pipe.expect("an end of a pipe").take(len);
}

/// Puts bytes into a pipe as far as there is room; how many.
pub fn put_into(kernel: &mut Kernel, description: Id, bytes: &[u8]) -> usize {
    let pipe = id_of(kernel, description).and_then(|id| kernel.pipes.get_mut(&id));
    pipe.expect("an end of a pipe").put(bytes)
}
