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
use crate::wait::{Condition, Interruption, Wait};
use memory::Memory;

/// `VTIME` counts tenths of a second.
const TENTH: u64 = 100_000_000;

/// What a terminal can do.
pub static OPERATIONS: Operations = Operations { read, write, poll, ioctl: ioctl::ioctl, close, seek: refuse::seek };

/// Without lines, bytes are taken as they come: others do not find them any more, and a signal handler makes the call return
/// them (`n_tty_read` of Linux).
fn read(call: &mut Call<'_>, description: Id, len: usize, _: At) -> Result<Vec<u8>, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    let mut taken = call.resumed.as_ref().map(|wait| wait.kept.clone()).unwrap_or_default();
    if !terminal_mut(call.kernel, id).has_master {
        return Ok(taken);
    }
    job::check_foreground(call, id, SIGTTIN, true)?;
    let is_nonblocking = call.description(description).is_nonblocking();
    let terminal = terminal_mut(call.kernel, id);
    let patience = patience(terminal, len);
    let more = terminal.has_input(1).then(|| terminal.read_input(len.saturating_sub(taken.len())));
    let has_more = more.is_some();
    if has_more {
        wake_master(call.kernel, id, POLLOUT | POLLWRNORM);
    }
    taken.extend(more.into_iter().flatten());
    let is_enough = has_more && (taken.len() >= patience.least || is_nonblocking);
    let is_over = call.is_interrupted() || call.timed_out() && !taken.is_empty();
    if is_enough || is_over || patience.may_be_empty(call) {
        return Ok(taken);
    }
    if is_nonblocking {
        return Err(EAGAIN.into());
    }
    let deadline = patience.deadline(call, has_more);
    let interruption = if taken.is_empty() { Interruption::Restart } else { Interruption::Finish };
    let wait = Wait::until(Condition::Terminal(Request::Input(id, 1))).deadline(deadline);
    Err(wait.interruption(interruption).keeping(taken).into())
}

/// How long a read waits for how much (`termios(3)`, noncanonical mode).
#[derive(Clone, Copy)]
struct Patience {
    /// So many bytes are enough, or the end of a line.
    least: usize,
    timer: Timer,
}

/// What `VTIME` means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timer {
    None,
    /// There is no time: a read that finds nothing returns at once.
    Now,
    /// The time runs from the call.
    Call(u64),
    /// The time runs from the last byte.
    Byte(u64),
}

fn patience(terminal: &Terminal, len: usize) -> Patience {
    if terminal.settings.is_canonical() {
        return Patience { least: 0, timer: Timer::None };
    }
    let least = usize::from(terminal.settings.characters[VMIN]).min(len);
    let timer = match u64::from(terminal.settings.characters[VTIME]) * TENTH {
        0 if least == 0 => Timer::Now,
        0 => Timer::None,
        time if least == 0 => Timer::Call(time),
        time => Timer::Byte(time),
    };
    Patience { least, timer }
}

impl Patience {
    /// Whether a read that finds nothing returns all the same.
    fn may_be_empty(self, call: &Call<'_>) -> bool {
        self.timer == Timer::Now || matches!(self.timer, Timer::Call(_)) && call.timed_out()
    }

    fn deadline(self, call: &Call<'_>, has_more: bool) -> Option<u64> {
        let now = call.kernel.clock.now();
        let before = call.resumed.as_ref().map(|wait| wait.deadline);
        match self.timer {
            Timer::None | Timer::Now => None,
            Timer::Call(time) => before.unwrap_or(Some(now + time)),
            Timer::Byte(time) if has_more => Some(now + time),
            Timer::Byte(_) => before.flatten(),
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
