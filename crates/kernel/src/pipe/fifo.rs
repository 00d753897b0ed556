//! Opening FIFOs, where each side waits for the other (`fifo(7)`).

use super::ring::Pipe;
use super::{forget_if_unused, wake_readers};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Description, File, O_ACCMODE, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY};
use crate::errno::{EINVAL, ENXIO};
use crate::id::Id;
use crate::wait::{Condition, Wait};

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
pub(super) fn readers(kernel: &Kernel, id: Id) -> u32 {
    kernel.pipes.get(&id).map_or(0, |pipe| pipe.readers) + waiting(kernel, &reader_queue(id))
}

/// Writing ends, with those that wait in `open(2)`.
pub(super) fn writers(kernel: &Kernel, id: Id) -> u32 {
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
///
/// `fifo(7)`: "opening a FIFO for reading normally blocks until some other process opens the same
/// FIFO for writing". Both sides wake each other by name, because a condition on counts would be
/// missed if the other side opened and closed in between.
pub fn open_fifo(call: &mut Call<'_>, id: Id, flags: u32, path: Vec<u8>, close_on_exec: bool) -> Result<u64, Stop> {
    let woken = call.resumed.as_ref().is_some_and(|wait| wait.woken);
    if !woken {
        // Whoever waited for this pipe may have been interrupted since.
        forget_if_unused(call.kernel, id);
    }
    let is_nonblocking = flags & O_NONBLOCK != 0;
    // A pipe without a name has had both ends: whoever opens it again waits for nobody.
    let waits = !woken && call.kernel.inode(id).is_some();
    let file = match flags & O_ACCMODE {
        O_RDONLY => {
            wake(call.kernel, &writer_queue(id));
            if writers(call.kernel, id) == 0 && waits && !is_nonblocking {
                return Err(Wait::until(reader_queue(id)).into());
            }
            File::PipeReader(id)
        }
        O_WRONLY => {
            if readers(call.kernel, id) == 0 && waits && is_nonblocking {
                return Err(ENXIO.into());
            }
            wake(call.kernel, &reader_queue(id));
            if readers(call.kernel, id) == 0 && waits {
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
    let is_first = reads && pipe.readers == 0 || writes && pipe.writers == 0;
    pipe.readers += u32::from(reads);
    pipe.writers += u32::from(writes);
    pipe.written |= writes || waited;
    if is_first {
        wake_readers(kernel, id, 0);
    }
}
