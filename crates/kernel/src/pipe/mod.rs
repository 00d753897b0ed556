//! Pipes and FIFOs (`pipe(7)`).
//!
//! As in Linux a pipe is a ring of pages: a small write joins the last page if it fits there as a whole, and takes a page
//! of its own if not, so that how many writes a pipe holds is exactly what programs find on Linux.
//!
//! `pipe(7)`: writes of up to `PIPE_BUF` (4096) bytes are atomic. Larger ones are not: a write that
//! does not fit puts in what does and waits with `progress`, and other writers may come in between.

mod fifo;
pub(crate) mod ring;

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::{
    At, Description, Fd, File, O_CLOEXEC, O_DIRECT, O_NONBLOCK, O_RDONLY, O_WRONLY, Operations, POLLERR, POLLHUP,
    POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse,
};
use crate::errno::{EAGAIN, EBADF, EBUSY, EINVAL, EMFILE, ENOTTY, EPERM, EPIPE, Errno};
use crate::id::Id;
use crate::table::footprint::FootprintRule::MakesDescriptors;
use crate::table::narration::Called;
use crate::table::syscall::{Argument, Row};
use crate::wait::{Condition, Wait};
use crate::{Kernel, event};
pub use fifo::open_fifo;
use fifo::{readers, writers};
use memory::Memory;
use ring::PAGE;
pub use ring::{Pipe, Pipes};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(22, "pipe", pipe, &[Argument::Hex], MakesDescriptors),
    Row::full(293, "pipe2", pipe2, &[Argument::Hex, Argument::Hex], MakesDescriptors)
        .partial("no packets (O_DIRECT), no notifications (O_NOTIFICATION_PIPE)")
        .called(Called::As("pipe")),
];

/// What an end of a pipe can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl, close, seek: refuse::seek };

/// `/proc/sys/fs/pipe-max-size`.
const SIZE_MAX: u64 = 1 << 20;
/// `SIGPIPE`.
const SIGPIPE: u8 = 13;
/// `FIONREAD`.
const FIONREAD: u64 = 0x541b;

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
            call.kernel.close(call.memory, call.pid, fd)?;
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
        return Ok(take(call.kernel, id, len));
    }
    if writers(call.kernel, id) == 0 {
        return Ok(Vec::new());
    }
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Poll(description, POLLIN | POLLHUP)).into())
}

/// `SIGPIPE` goes to the thread, not to the process: it is a synchronous consequence of its call
/// (`signal(7)`).
fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    if bytes.is_empty() {
        return Ok(0);
    }
    let done = call.resumed.as_ref().map_or(0, |wait| wait.progress as usize);
    let (id, pipe) = of(call, description);
    if pipe.readers == 0 && readers(call.kernel, id) == 0 {
        return broken(call, done);
    }
    let done = done + put(call.kernel, id, &bytes[done..]);
    if done == bytes.len() {
        return Ok(done);
    }
    if call.description(description).is_nonblocking() {
        return if done > 0 { Ok(done) } else { Err(EAGAIN.into()) };
    }
    Err(Wait::until(Condition::Poll(description, POLLOUT | POLLERR)).progress(done as u64).into())
}

/// Takes bytes out of a pipe; writers hear of it if it was full.
fn take(kernel: &mut Kernel, id: Id, len: usize) -> Vec<u8> {
    let pipe = kernel.pipes.get_mut(&id).expect("an open end keeps its pipe");
    let was_full = pipe.is_full();
    let bytes = pipe.take(len);
    if was_full && !pipe.is_full() {
        wake_writers(kernel, id, POLLOUT | POLLWRNORM);
    }
    bytes
}

/// Puts bytes into a pipe as far as there is room; readers hear of every write, which edge-triggered watchers count on.
fn put(kernel: &mut Kernel, id: Id, bytes: &[u8]) -> usize {
    let done = kernel.pipes.get_mut(&id).expect("an open end keeps its pipe").put(bytes);
    if done > 0 {
        wake_readers(kernel, id, POLLIN | POLLRDNORM);
    }
    done
}

fn wake_readers(kernel: &mut Kernel, id: Id, events: u16) {
    event::wake(kernel, File::PipeReader(id), events);
    event::wake(kernel, File::PipeBoth(id), events);
}

fn wake_writers(kernel: &mut Kernel, id: Id, events: u16) {
    event::wake(kernel, File::PipeWriter(id), events);
    event::wake(kernel, File::PipeBoth(id), events);
}

/// Nobody will read: `SIGPIPE` and `EPIPE`, unless something was already taken.
fn broken(call: &mut Call<'_>, done: usize) -> Result<usize, Stop> {
    let info = crate::process::SignalInfo { number: SIGPIPE, ..Default::default() };
    crate::signal::send(call.kernel, crate::signal::Target::Thread(call.tid), info);
    if done > 0 { Ok(done) } else { Err(EPIPE.into()) }
}

/// `poll(2)`: `POLLHUP` for readers without writers, `POLLERR` for writers without readers. A FIFO
/// that never had a writer reports neither.
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
    let is_one_sided = (pipe.readers == 0) != (pipe.writers == 0);
    if is_one_sided {
        wake_readers(kernel, id, 0);
        wake_writers(kernel, id, 0);
    }
    forget_if_unused(kernel, id);
}

/// A pipe ends with its last end; what is left in it is lost. Those who wait to open it hold it, too.
fn forget_if_unused(kernel: &mut Kernel, id: Id) {
    if readers(kernel, id) == 0 && writers(kernel, id) == 0 {
        kernel.pipes.remove(&id);
    }
}

/// The pipe behind a description, if it is one: for `splice(2)` and `fcntl(2)`.
#[must_use]
pub fn find(kernel: &Kernel, description: Id) -> Option<(Id, &Pipe)> {
    let id = id_of(kernel, description)?;
    Some((id, kernel.pipes.get(&id)?))
}

/// `F_SETPIPE_SZ`: whole pages, a power of two of them, and no fewer than are in use.
pub fn set_capacity(call: &mut Call<'_>, description: Id, bytes: u64) -> Result<u64, Errno> {
    let is_root = call.can(Capability::Resource);
    let id = id_of(call.kernel, description).ok_or(EBADF)?;
    let size = bytes.max(1).next_multiple_of(PAGE as u64).next_power_of_two();
    if bytes > 1 << 31 {
        return Err(EINVAL);
    }
    let pipe = call.kernel.pipes.get_mut(&id).ok_or(EBADF)?;
    if size > SIZE_MAX && !is_root && size > pipe.capacity() {
        return Err(EPERM);
    }
    let slots = (size / PAGE as u64) as usize;
    if slots < pipe.pages.len() {
        return Err(EBUSY);
    }
    pipe.slots = slots;
    wake_writers(call.kernel, id, POLLOUT | POLLWRNORM);
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
    let id = id_of(kernel, description).expect("an end of a pipe");
    take(kernel, id, len);
}

/// Puts bytes into a pipe as far as there is room; how many.
pub fn put_into(kernel: &mut Kernel, description: Id, bytes: &[u8]) -> usize {
    let id = id_of(kernel, description).expect("an end of a pipe");
    put(kernel, id, bytes)
}
