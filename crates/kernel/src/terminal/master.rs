//! The master side: where the terminal emulator sits.
//!
//! What the master writes is what a user types: it goes through the line discipline byte by byte,
//! and may raise signals on the way. What it reads is what programs print, after output processing.

use super::request::Request;
use super::{drop_if_unused, ioctl, job, of_description, terminal_mut, wake_master, wake_slave};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{At, Operations, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse};
use crate::errno::{EAGAIN, EIO, ENOTTY};
use crate::id::Id;
use crate::wait::{Condition, Wait};
use memory::Memory;

/// What a master can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl: ioctl::ioctl, close, seek: refuse::seek };

fn wait_or_again<T>(call: &Call<'_>, description: Id, request: Request, progress: usize) -> Result<T, Stop> {
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Terminal(request)).progress(progress as u64).into())
}

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    let terminal = terminal_mut(call.kernel, id);
    if terminal.output.is_empty() && terminal.left {
        // All slaves are closed (`pty(7)`).
        return Err(EIO.into());
    }
    if terminal.output.is_empty() {
        return wait_or_again(call, description, Request::Output(id), 0);
    }
    let count = terminal.output.len().min(len);
    let bytes = terminal.output.as_slice()[..count].to_vec();
    terminal.output.consume(count);
    wake_slave(call.kernel, id, POLLOUT | POLLWRNORM);
    Ok(bytes)
}

/// A byte that is accepted is not taken back when the call has to wait: `progress` counts them, so
/// that a redone call does not type twice.
fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    let mut sent = call.resumed.as_ref().map_or(0, |wait| wait.progress as usize);
    while sent < bytes.len() && terminal_mut(call.kernel, id).has_input_room() {
        if let Some(signal) = terminal_mut(call.kernel, id).typed(bytes[sent]) {
            job::signal_foreground(call.kernel, id, signal);
        }
        sent += 1;
    }
    wake_slave(call.kernel, id, POLLIN | POLLRDNORM);
    if !terminal_mut(call.kernel, id).output.is_empty() {
        wake_master(call.kernel, id, POLLIN | POLLRDNORM);
    }
    match sent {
        sent if sent == bytes.len() => Ok(sent),
        sent if sent > 0 && call.description(description).is_nonblocking() => Ok(sent),
        sent => wait_or_again(call, description, Request::InputRoom(id), sent),
    }
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let Some(terminal) = of_description(kernel, description).and_then(|id| kernel.terminals.all.get(&id)) else {
        return POLLHUP;
    };
    let readable = if terminal.output.is_empty() { 0 } else { POLLIN | POLLRDNORM };
    let writable = if terminal.has_input_room() { POLLOUT | POLLWRNORM } else { 0 };
    let hung_up = if terminal.left { POLLHUP } else { 0 };
    readable | writable | hung_up
}

/// Closing the master cuts the line: readers see the end, writers get `EIO`, the session is hung up.
fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    let Some(id) = of_description(kernel, description) else { return };
    terminal_mut(kernel, id).has_master = false;
    job::hang_up(kernel, id);
    wake_slave(kernel, id, 0);
    drop_if_unused(kernel, id);
}
