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
    let patience = patience(terminal_mut(call.kernel, id), len);
    let is_nonblocking = call.description(description).is_nonblocking();
    let terminal = terminal_mut(call.kernel, id);
    let has_some = terminal.has_input(1);
    let in_time = has_some && (terminal.has_input(patience.least) || is_nonblocking);
    if in_time || patience.may_be_empty(call) || has_some && call.timed_out() {
        let bytes = terminal_mut(call.kernel, id).read_input(len);
        wake_master(call.kernel, id, POLLOUT | POLLWRNORM);
        return Ok(bytes);
    }
    if is_nonblocking {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Terminal(Request::Input(id, patience.next))).deadline(patience.deadline(call)).into())
}

/// How long a read waits for how much (`termios(3)`, noncanonical mode).
#[derive(Clone, Copy)]
struct Patience {
    /// So many bytes are enough; none at all may be.
    least: usize,
    /// When there are so many, something has changed.
    next: usize,
    timer: Timer,
}

/// What `VTIME` means.
#[derive(Clone, Copy)]
enum Timer {
    None,
    /// The time runs from the call.
    Call(u64),
    /// The time runs from the last byte.
    Byte(u64),
}

fn patience(terminal: &Terminal, len: usize) -> Patience {
    if terminal.settings.is_canonical() {
        return Patience { least: 1, next: 1, timer: Timer::None };
    }
    let least = usize::from(terminal.settings.characters[VMIN]).min(len);
    let (there, time) = (terminal.input_bytes(), u64::from(terminal.settings.characters[VTIME]) * TENTH);
    match time {
        0 => Patience { least, next: least, timer: Timer::None },
        _ if least == 0 => Patience { least, next: 1, timer: Timer::Call(time) },
        _ if there == 0 => Patience { least, next: 1, timer: Timer::None },
        _ => Patience { least, next: there + 1, timer: Timer::Byte(time) },
    }
}

impl Patience {
    /// Whether a read that finds nothing returns all the same.
    fn may_be_empty(self, call: &Call<'_>) -> bool {
        self.least == 0 && (matches!(self.timer, Timer::None) || call.timed_out())
    }

    fn deadline(self, call: &Call<'_>) -> Option<u64> {
        let now = call.kernel.clock.now();
        match self.timer {
            Timer::None => None,
            Timer::Call(time) => call.resumed.as_ref().map_or(Some(now + time), |wait| wait.deadline),
            Timer::Byte(time) => Some(now + time),
        }
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
