//! `ioctl_tty(2)`.

use super::settings::{SIZE, SIZE2};
use super::state::Terminal;
use super::{job, of_description, open_terminal, terminal_mut, wake_slave};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::{File, POLLOUT, POLLWRNORM};
use crate::errno::{EINVAL, EIO, ENOTTY, EPERM, ESRCH};
use crate::id::{Id, Pid};
use crate::signal::number::SIGTTOU;

/// `SIGWINCH`.
const SIGWINCH: u8 = 28;

/// `ioctl(2)` on either side; most requests on the master are about the slave.
pub fn ioctl(call: &mut Call<'_>, description: Id, request: u64, argument: u64) -> Result<u64, Stop> {
    let id = of_description(call.kernel, description).ok_or(ENOTTY)?;
    let is_master = matches!(call.description(description).file, File::PtyMaster(_));
    match request & 0xffff_ffff {
        0x5401 => get_settings(call, id, argument, SIZE),
        0x802c_542a => get_settings(call, id, argument, SIZE2),
        request @ 0x5402..=0x5404 => set_settings(call, id, argument, SIZE, request == 0x5404, is_master),
        request @ 0x402c_542b..=0x402c_542d => {
            set_settings(call, id, argument, SIZE2, request == 0x402c_542d, is_master)
        }
        // TCSBRK, TCSBRKP: output is drained at once, and there is no line to send a break on.
        0x5409 | 0x5425 => Ok(0),
        0x540a => flow(call, id, argument),
        0x540b => flush(call, id, argument),
        0x540e => take(call, id, argument, is_master),
        0x540f => get_foreground(call, id, argument, is_master),
        0x5410 => set_foreground(call, id, argument, is_master),
        0x5411 => count(call, id, argument, |terminal| terminal.output.len()),
        0x541b if is_master => count(call, id, argument, |terminal| terminal.output.len()),
        0x541b => count(call, id, argument, readable),
        0x5413 => get_size(call, id, argument),
        0x5414 => set_size(call, id, argument),
        0x5422 => give_up(call, id),
        0x5424 => call.store_u32(argument, 0).map(|()| 0),
        0x5429 => get_session(call, id, argument, is_master),
        0x8004_5430 if is_master => count(call, id, argument, |terminal| terminal.number as usize),
        0x4004_5431 if is_master => lock(call, id, argument),
        0x8004_5439 if is_master => count(call, id, argument, |terminal| usize::from(terminal.locked)),
        0x5441 if is_master => open_peer(call, id, argument),
        0x8004_5430 | 0x4004_5431 | 0x8004_5439 | 0x5441 => Err(ENOTTY.into()),
        request => call.unsupported(format!("request {request:#x} on a terminal")),
    }
}

/// What `FIONREAD` counts: the first line, or all, without line editing.
fn readable(terminal: &Terminal) -> usize {
    if !terminal.settings.is_canonical() {
        return terminal.input_bytes();
    }
    terminal.lines.iter().filter(|line| line.complete).map(|line| line.bytes.len()).sum()
}

fn count(call: &mut Call<'_>, id: Id, argument: u64, what: fn(&Terminal) -> usize) -> Result<u64, Stop> {
    let number = what(terminal_mut(call.kernel, id));
    call.store_u32(argument, number as u32)?;
    Ok(0)
}

fn get_settings(call: &mut Call<'_>, id: Id, argument: u64, size: usize) -> Result<u64, Stop> {
    let bytes = terminal_mut(call.kernel, id).settings.encode();
    call.store(argument, &bytes[..size])?;
    Ok(0)
}

/// A background process that changes a terminal is stopped (`tcsetattr(3)`).
fn check_change(call: &mut Call<'_>, id: Id, is_master: bool) -> Result<(), Stop> {
    if is_master { Ok(()) } else { job::check_foreground(call, id, SIGTTOU, false) }
}

fn set_settings(
    call: &mut Call<'_>,
    id: Id,
    argument: u64,
    size: usize,
    flush: bool,
    is_master: bool,
) -> Result<u64, Stop> {
    check_change(call, id, is_master)?;
    let bytes = call.load_bytes(argument, size)?;
    let terminal = terminal_mut(call.kernel, id);
    if flush {
        terminal.flush_input();
    }
    let was_canonical = terminal.settings.is_canonical();
    terminal.settings.decode(&bytes);
    terminal.change_mode(was_canonical);
    wake_slave(call.kernel, id, 0);
    Ok(0)
}

/// `tcflow(3)`.
fn flow(call: &mut Call<'_>, id: Id, argument: u64) -> Result<u64, Stop> {
    match argument {
        0 => terminal_mut(call.kernel, id).stopped = true,
        1 => {
            terminal_mut(call.kernel, id).stopped = false;
            wake_slave(call.kernel, id, POLLOUT | POLLWRNORM);
        }
        2 | 3 => {}
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}

/// `tcflush(3)`.
fn flush(call: &mut Call<'_>, id: Id, argument: u64) -> Result<u64, Stop> {
    let terminal = terminal_mut(call.kernel, id);
    if argument > 2 {
        return Err(EINVAL.into());
    }
    if argument != 1 {
        terminal.flush_input();
    }
    if argument != 0 {
        terminal.output = crate::net::Bytes::default();
    }
    Ok(0)
}

/// `TIOCSCTTY`: a session leader takes its controlling terminal; the superuser may steal it.
fn take(call: &mut Call<'_>, id: Id, argument: u64, is_master: bool) -> Result<u64, Stop> {
    let process = call.process();
    let (session, group) = (process.session, process.group);
    let holder = terminal_mut(call.kernel, id).session;
    if is_master {
        return Err(EIO.into());
    }
    if session == call.pid && holder == Some(session) {
        return Ok(0);
    }
    if session != call.pid || job::controlling(call.kernel, call.pid).is_some() {
        return Err(EPERM.into());
    }
    if holder.is_some() && !(argument == 1 && call.can(Capability::Admin)) {
        return Err(EPERM.into());
    }
    job::take(call.kernel, id, session, group);
    Ok(0)
}

/// `TIOCNOTTY`.
fn give_up(call: &mut Call<'_>, id: Id) -> Result<u64, Stop> {
    if job::controlling(call.kernel, call.pid) != Some(id) {
        return Err(ENOTTY.into());
    }
    if call.process().session != call.pid {
        return call.unsupported("TIOCNOTTY by a process that does not lead its session");
    }
    job::session_ended(call.kernel, call.pid);
    Ok(0)
}

/// The master may ask about its slave whatever it controls.
fn check_controlling(call: &Call<'_>, id: Id, is_master: bool) -> Result<(), Stop> {
    if is_master || job::controlling(call.kernel, call.pid) == Some(id) { Ok(()) } else { Err(ENOTTY.into()) }
}

fn get_foreground(call: &mut Call<'_>, id: Id, argument: u64, is_master: bool) -> Result<u64, Stop> {
    check_controlling(call, id, is_master)?;
    let group = terminal_mut(call.kernel, id).foreground.map_or(0, |group| group.0);
    call.store_u32(argument, group)?;
    Ok(0)
}

/// `tcsetpgrp(3)`: only to a group of the caller's session.
fn set_foreground(call: &mut Call<'_>, id: Id, argument: u64, is_master: bool) -> Result<u64, Stop> {
    check_change(call, id, is_master)?;
    check_controlling(call, id, false)?;
    let group = call.load_u32(argument)?;
    if (group as i32) < 0 {
        return Err(EINVAL.into());
    }
    let session = call.process().session;
    let members = call.kernel.processes.values().filter(|process| process.group == Pid(group));
    let sessions: Vec<Pid> = members.map(|process| process.session).collect();
    match sessions.first() {
        None => Err(ESRCH.into()),
        Some(other) if *other != session => Err(EPERM.into()),
        Some(_) => {
            terminal_mut(call.kernel, id).foreground = Some(Pid(group));
            Ok(0)
        }
    }
}

fn get_session(call: &mut Call<'_>, id: Id, argument: u64, is_master: bool) -> Result<u64, Stop> {
    check_controlling(call, id, is_master)?;
    let session = terminal_mut(call.kernel, id).session.ok_or(ENOTTY)?;
    call.store_u32(argument, session.0)?;
    Ok(0)
}

fn get_size(call: &mut Call<'_>, id: Id, argument: u64) -> Result<u64, Stop> {
    let bytes = terminal_mut(call.kernel, id).size.map(u16::to_le_bytes).concat();
    call.store(argument, &bytes)?;
    Ok(0)
}

/// A new size is told to the foreground group.
fn set_size(call: &mut Call<'_>, id: Id, argument: u64) -> Result<u64, Stop> {
    let bytes: [u8; 8] = call.load(argument)?;
    let number = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
    let size = [number(0), number(1), number(2), number(3)];
    let terminal = terminal_mut(call.kernel, id);
    if terminal.size != size {
        terminal.size = size;
        job::signal_foreground(call.kernel, id, SIGWINCH);
    }
    Ok(0)
}

/// `unlockpt(3)`.
fn lock(call: &mut Call<'_>, id: Id, argument: u64) -> Result<u64, Stop> {
    let locked = call.load_u32(argument)? != 0;
    terminal_mut(call.kernel, id).locked = locked;
    Ok(0)
}

/// `TIOCGPTPEER`: opens the slave without its path.
fn open_peer(call: &mut Call<'_>, id: Id, flags: u64) -> Result<u64, Stop> {
    let path = format!("/dev/pts/{}", terminal_mut(call.kernel, id).number).into_bytes();
    open_terminal(call, id, flags as u32, path)
}
