//! Job control: who a terminal controls, and who may use it (`credentials(7)`, `setpgid(2)`).

use super::request::Request;
use super::state::Terminal;
use super::terminal_mut;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::EIO;
use crate::id::{Id, Pid};
use crate::process::SignalInfo;
use crate::signal::{self, Target, job::is_orphaned};
use crate::wait::{Condition, Wait};

/// `SIGHUP`.
const SIGHUP: u8 = 1;
/// `SIGCONT`.
const SIGCONT: u8 = 18;

/// The controlling terminal of a process: that of its session.
#[must_use]
pub fn controlling(kernel: &Kernel, pid: Pid) -> Option<Id> {
    let session = kernel.processes.get(&pid)?.session;
    let controls = |terminal: &Terminal| terminal.session == Some(session) && session != Pid(0);
    kernel.terminals.all.iter().find(|(_, terminal)| controls(terminal)).map(|(id, _)| *id)
}

/// A session leader without terminal takes one that controls nobody.
pub fn adopt(kernel: &mut Kernel, pid: Pid, id: Id) {
    let Some(process) = kernel.processes.get(&pid) else { return };
    let (session, group) = (process.session, process.group);
    let is_free = kernel.terminals.all.get(&id).is_some_and(|terminal| terminal.session.is_none());
    if session == pid && is_free && controlling(kernel, pid).is_none() {
        take(kernel, id, session, group);
    }
}

/// A terminal controls a session from now on.
pub fn take(kernel: &mut Kernel, id: Id, session: Pid, group: Pid) {
    let terminal = terminal_mut(kernel, id);
    terminal.session = Some(session);
    terminal.foreground = Some(group);
}

/// Whether a process uses its terminal from the background.
#[must_use]
pub fn is_background(kernel: &Kernel, id: Id, pid: Pid) -> bool {
    let (Some(terminal), Some(process)) = (kernel.terminals.all.get(&id), kernel.processes.get(&pid)) else {
        return false;
    };
    let controls = terminal.session == Some(process.session);
    controls && terminal.foreground.is_some_and(|foreground| foreground != process.group)
}

/// Stops a process that uses its terminal from the background: it goes on when it comes to the foreground.
///
/// A process that takes no notice of the signal gets `EIO` for reading and may write.
pub fn check_foreground(call: &mut Call<'_>, id: Id, number: u8, reads: bool) -> Result<(), Stop> {
    if !is_background(call.kernel, id, call.pid) {
        return Ok(());
    }
    let process = call.process();
    let group = process.group;
    let ignored = signal::is_ignored(process, number) || call.thread().blocked >> (number - 1) & 1 == 1;
    if ignored {
        return if reads { Err(EIO.into()) } else { Ok(()) };
    }
    if is_orphaned(call.kernel, group, None) {
        return Err(EIO.into());
    }
    signal::send(call.kernel, Target::Group(group), SignalInfo::kernel(number));
    Err(Wait::until(Condition::Terminal(Request::Foreground(id, call.pid))).into())
}

/// Sends a signal to the foreground group.
pub fn signal_foreground(kernel: &mut Kernel, id: Id, number: u8) {
    let group = kernel.terminals.all.get(&id).and_then(|terminal| terminal.foreground);
    if let Some(group) = group {
        signal::send(kernel, Target::Group(group), SignalInfo::kernel(number));
    }
}

/// The line is cut: the session leader and the foreground group hear of it, and the terminal controls nobody.
pub fn hang_up(kernel: &mut Kernel, id: Id) {
    let Some(terminal) = kernel.terminals.all.get(&id) else { return };
    let (session, foreground) = (terminal.session, terminal.foreground);
    if let Some(leader) = session {
        for number in [SIGHUP, SIGCONT] {
            signal::send(kernel, Target::Process(leader), SignalInfo::kernel(number));
        }
    }
    if let Some(group) = foreground {
        signal::send(kernel, Target::Group(group), SignalInfo::kernel(SIGHUP));
    }
    release(kernel, id);
}

fn release(kernel: &mut Kernel, id: Id) {
    let terminal = terminal_mut(kernel, id);
    (terminal.session, terminal.foreground) = (None, None);
}

/// A process has ended, or gives its terminal up: if it led a session, the terminal is free and the foreground group hears
/// of it.
pub fn session_ended(kernel: &mut Kernel, pid: Pid) {
    let leads = kernel.processes.get(&pid).is_some_and(|process| process.session == pid);
    let Some(id) = controlling(kernel, pid).filter(|_| leads) else { return };
    for number in [SIGHUP, SIGCONT] {
        signal_foreground(kernel, id, number);
    }
    release(kernel, id);
}
