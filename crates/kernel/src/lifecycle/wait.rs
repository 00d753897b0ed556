//! Waiting for children: `wait4(2)`, `waitid(2)`.
//!
//! **Invariant:** [`has_answer`] and the call look at the same children in the same order, so that a wait is over exactly when the
//! redone call returns, be it with `ECHILD`.

use super::child_request::{ChildRequest, Who};
use super::end::{end_info, reap};
use crate::call::{Call, Stop};
use crate::descriptor::File;
use crate::errno::{EAGAIN, EBADF, ECHILD, EINVAL, ESRCH};
use crate::id::{Pid, Tid};
use crate::process::{Process, SignalInfo, State};
use crate::signal::number::{SIGCHLD, SIGCONT};
use crate::wait::{Condition, Wait};
use crate::{Kernel, time};

const WNOHANG: u32 = 1;
const WSTOPPED: u32 = 2;
const WEXITED: u32 = 4;
const WCONTINUED: u32 = 8;
const WNOWAIT: u32 = 0x0100_0000;
const WNOTHREAD: u32 = 0x2000_0000;
const WALL: u32 = 0x4000_0000;
const WCLONE: u32 = 0x8000_0000;

/// `CLD_STOPPED`.
const CLD_STOPPED: i32 = 5;
/// `CLD_CONTINUED`.
const CLD_CONTINUED: i32 = 6;

/// What there is to report about a child.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Report {
    Ended,
    Stopped(u8),
    Continued,
}

/// Whether `wait4(2)` in this thread would return: there is something to report, or nobody to wait for.
#[must_use]
pub fn has_answer(kernel: &Kernel, tid: Tid, request: &ChildRequest) -> bool {
    let Some(thread) = kernel.threads.get(&tid) else { return false };
    find(kernel, thread.pid, request).is_some() || candidates(kernel, thread.pid, request).next().is_none()
}

/// Children that a request is about, oldest first.
fn candidates<'a>(kernel: &'a Kernel, pid: Pid, request: &ChildRequest) -> impl Iterator<Item = &'a Process> {
    let request = *request;
    let children = kernel.processes.get(&pid).map_or(&[][..], |process| &process.children);
    children.iter().filter_map(|child| kernel.processes.get(child)).filter(move |child| is_meant(child, &request))
}

fn is_meant(child: &Process, request: &ChildRequest) -> bool {
    let is_named = match request.who {
        Who::All => true,
        Who::One(pid) => child.pid == pid,
        Who::Group(group) => child.group == group,
    };
    // wait(2): "clone" children are those that do not end with SIGCHLD.
    let is_clone = child.exit_signal != SIGCHLD;
    is_named && (request.options & WALL != 0 || is_clone == (request.options & WCLONE != 0))
}

fn find(kernel: &Kernel, pid: Pid, request: &ChildRequest) -> Option<(Pid, Report)> {
    candidates(kernel, pid, request).find_map(|child| Some((child.pid, report(child, request.options)?)))
}

fn report(child: &Process, options: u32) -> Option<Report> {
    match child.state {
        State::Zombie(_) if options & WEXITED != 0 => Some(Report::Ended),
        State::Stopped { signal, reported: false } if options & WSTOPPED != 0 => Some(Report::Stopped(signal)),
        State::Running if child.continued && options & WCONTINUED != 0 => Some(Report::Continued),
        _ => None,
    }
}

/// One answer: who, and what `siginfo_t`, the status and the processor time say.
struct Answer {
    info: SignalInfo,
    status: i32,
    time: u64,
}

/// Finds something to report; `None` if there is nothing yet and the caller does not want to wait.
///
/// Oldest child first. On Linux the order among several that could be reported is that of the list
/// of children, too, though `wait(2)` promises none.
fn wait(call: &mut Call<'_>, request: ChildRequest) -> Result<Option<Answer>, Stop> {
    if let Some((pid, report)) = find(call.kernel, call.pid, &request) {
        let answer = answer(call.kernel, pid, report);
        if request.options & WNOWAIT == 0 {
            consume(call.kernel, pid, report);
        }
        return Ok(Some(answer));
    }
    if candidates(call.kernel, call.pid, &request).next().is_none() {
        return Err(ECHILD.into());
    }
    if request.options & WNOHANG != 0 { Ok(None) } else { Err(Wait::until(Condition::Child(request)).into()) }
}

fn answer(kernel: &Kernel, pid: Pid, report: Report) -> Answer {
    let child = kernel.processes.get(&pid).expect("found above");
    let time = time::process_time(kernel, child) + child.usage.children;
    let base = SignalInfo { number: SIGCHLD, pid: pid.0, uid: child.credentials.user[0], ..SignalInfo::default() };
    let with = |code, signal: u8| SignalInfo { code, status: i32::from(signal), ..base };
    match report {
        Report::Stopped(signal) => {
            Answer { info: with(CLD_STOPPED, signal), status: i32::from(signal) << 8 | 0x7f, time }
        }
        Report::Continued => Answer { info: with(CLD_CONTINUED, SIGCONT), status: 0xffff, time },
        Report::Ended => {
            let State::Zombie(status) = child.state else { unreachable!("reported as ended") };
            Answer { info: end_info(kernel, child), status, time }
        }
    }
}

/// What was reported is not reported again.
fn consume(kernel: &mut Kernel, pid: Pid, report: Report) {
    let child = kernel.processes.get_mut(&pid).expect("found above");
    match report {
        Report::Ended => reap(kernel, pid),
        Report::Stopped(signal) => child.state = State::Stopped { signal, reported: true },
        Report::Continued => child.continued = false,
    }
}

/// `wait4(2)`.
pub fn wait4(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, status, options, usage, ..] = call.args;
    let options = options as u32;
    if options & !(WNOHANG | WSTOPPED | WCONTINUED | WNOTHREAD | WALL | WCLONE) != 0 {
        return Err(EINVAL.into());
    }
    let who = match call.int(0) {
        i32::MIN => return Err(ESRCH.into()),
        -1 => Who::All,
        0 => Who::Group(call.process().group),
        pid @ 1.. => Who::One(Pid(pid as u32)),
        group => Who::Group(Pid(group.unsigned_abs())),
    };
    let Some(answer) = wait(call, ChildRequest { who, options: options | WEXITED })? else { return Ok(0) };
    if status != 0 {
        call.store_u32(status, answer.status as u32)?;
    }
    if usage != 0 {
        time::store_usage(call, usage, answer.time)?;
    }
    Ok(u64::from(answer.info.pid))
}

/// `waitid(2)`.
pub fn waitid(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [kind, id, address, options, usage, _] = call.args;
    let options = options as u32;
    let known = WNOHANG | WSTOPPED | WEXITED | WCONTINUED | WNOWAIT | WNOTHREAD | WALL | WCLONE;
    if options & !known != 0 || options & (WSTOPPED | WEXITED | WCONTINUED) == 0 {
        return Err(EINVAL.into());
    }
    let (who, nonblocking) = whom(call, kind as u32, id as i32)?;
    let request = ChildRequest { who, options: options | if nonblocking { WNOHANG } else { 0 } };
    let answer = wait(call, request)?;
    if answer.is_none() && nonblocking && options & WNOHANG == 0 {
        return Err(EAGAIN.into());
    }
    if address != 0 {
        // waitid(2): if there was nothing, `si_signo` and `si_pid` are zero.
        let bytes = answer.as_ref().map_or([0; 128], |answer| answer.info.to_bytes());
        // Linux writes no more than the members of `SIGCHLD`.
        call.store(address, &bytes[..28])?;
    }
    if let Some(answer) = answer.filter(|_| usage != 0) {
        time::store_usage(call, usage, answer.time)?;
    }
    Ok(0)
}

/// `P_ALL`, `P_PID`, `P_PGID`, `P_PIDFD`; a non-blocking pidfd means `WNOHANG` with an error.
fn whom(call: &Call<'_>, kind: u32, id: i32) -> Result<(Who, bool), Stop> {
    match (kind, id) {
        (0, _) => Ok((Who::All, false)),
        (1, 1..) => Ok((Who::One(Pid(id as u32)), false)),
        (2, 0) => Ok((Who::Group(call.process().group), false)),
        (2, 1..) => Ok((Who::Group(Pid(id as u32)), false)),
        (3, 0..) => {
            let open = call.description(call.description_of(id)?);
            match open.file {
                File::Process(pid) => Ok((Who::One(pid), open.is_nonblocking())),
                _ => Err(EBADF.into()),
            }
        }
        _ => Err(EINVAL.into()),
    }
}
