//! The slave side: what looks like a terminal to programs.

use super::request::Request;
use super::settings::{TOSTOP, VMIN, VTIME};
use super::state::{BUFFER_MAX, Terminal};
use super::{drop_if_unused, ioctl, job, of_description, terminal_mut, wake_master};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{At, Operations, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse};
use crate::errno::{EAGAIN, EIO, ENOTTY};
use crate::id::Id;
use crate::signal::number::{SIGTTIN, SIGTTOU};
use crate::wait::{Condition, Wait};
use memory::Memory;

/// `VTIME` counts tenths of a second.
const TENTH: u64 = 100_000_000;

/// What a terminal can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl: ioctl::ioctl, close, seek: refuse::seek };

fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    if !terminal_mut(call.kernel, id).has_master {
        return Ok(Vec::new());
    }
    job::check_foreground(call, id, SIGTTIN, true)?;
    let terminal = terminal_mut(call.kernel, id);
    let (wanted, time) = patience(terminal, len);
    if terminal.has_input(wanted) || !terminal.settings.is_canonical() && (wanted == 0 || call.timed_out()) {
        let terminal = terminal_mut(call.kernel, id);
        let bytes = terminal.read_input(len);
        wake_master(call.kernel, id, POLLOUT | POLLWRNORM);
        return Ok(bytes);
    }
    if call.description(description).is_nonblocking() {
        return Err(EAGAIN.into());
    }
    let first = time.map(|time| call.kernel.clock.now() + time);
    let deadline = call.resumed.as_ref().map_or(first, |wait| wait.deadline);
    Err(Wait::until(Condition::Terminal(Request::Input(id, wanted))).deadline(deadline).into())
}

/// How many bytes make a read return, and how long it waits (`termios(3)`, noncanonical mode).
fn patience(terminal: &Terminal, len: usize) -> (usize, Option<u64>) {
    if terminal.settings.is_canonical() {
        return (1, None);
    }
    let least = usize::from(terminal.settings.characters[VMIN]).min(len);
    match u64::from(terminal.settings.characters[VTIME]) {
        0 => (least, None),
        // The time runs from the call.
        tenths if least == 0 => (1, Some(tenths * TENTH)),
        // The time runs from the first byte.
        tenths if terminal.input_bytes() > 0 => (least, Some(tenths * TENTH)),
        _ => (1, None),
    }
}

fn write(call: &mut Call<'_>, description: Id, bytes: &[u8], _: At) -> Result<usize, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    let terminal = terminal_mut(call.kernel, id);
    if !terminal.has_master {
        return Err(EIO.into());
    }
    if terminal.settings.has(TOSTOP) {
        job::check_foreground(call, id, SIGTTOU, false)?;
    }
    let mut sent = call.resumed.as_ref().map_or(0, |wait| wait.progress as usize);
    let terminal = terminal_mut(call.kernel, id);
    while sent < bytes.len() && terminal.has_output_room() {
        let count = (bytes.len() - sent).min(BUFFER_MAX - terminal.output.len());
        terminal.show_all(&bytes[sent..sent + count]);
        sent += count;
    }
    wake_master(call.kernel, id, POLLIN | POLLRDNORM);
    if sent == bytes.len() {
        return Ok(sent);
    }
    if call.description(description).is_nonblocking() {
        return if sent > 0 { Ok(sent) } else { Err(EAGAIN.into()) };
    }
    Err(Wait::until(Condition::Terminal(Request::OutputRoom(id))).progress(sent as u64).into())
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let terminal = of_description(kernel, description).and_then(|id| kernel.terminals.all.get(&id));
    let Some(terminal) = terminal.filter(|terminal| terminal.has_master) else {
        return POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDNORM | POLLWRNORM;
    };
    let settings = &terminal.settings;
    let least = if settings.characters[VTIME] == 0 { usize::from(settings.characters[VMIN]) } else { 1 };
    let readable = if terminal.has_input(least) { POLLIN | POLLRDNORM } else { 0 };
    let writable = if terminal.has_output_room() { POLLOUT | POLLWRNORM } else { 0 };
    readable | writable
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    let Some(id) = of_description(kernel, description) else { return };
    let terminal = terminal_mut(kernel, id);
    assert!(terminal.slaves > 0, "every slave that is closed was opened");
    terminal.slaves -= 1;
    if terminal.slaves == 0 {
        terminal.left = true;
        wake_master(kernel, id, 0);
    }
    drop_if_unused(kernel, id);
}
