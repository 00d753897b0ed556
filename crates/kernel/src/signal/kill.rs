//! Sending signals from programs: `kill(2)` and its kin.
//!
//! Permission is asked for each target alone: a call for many succeeds if it may signal one of them. Signal 0 is a question: it
//! goes all the way, and nothing is sent.

use super::action::number;
use super::info::{SI_TKILL, SI_USER, SIZE};
use super::number::{FIRST_REAL_TIME, SIGCONT};
use super::send::{Target, has_room, members, send};
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::File;
use crate::errno::{EAGAIN, EBADF, EINVAL, EPERM, ESRCH};
use crate::id::{Pid, Tid};
use crate::process::SignalInfo;

/// Whether a process may send a signal to another (`kill(2)`).
///
/// `kill(2)`: "the real or effective user ID of the sending process must equal the real or saved
/// set-user-ID of the target process", or the sender is privileged; `SIGCONT` within a session is
/// free.
#[must_use]
pub fn may_signal(call: &Call<'_>, pid: Pid, signal: u8) -> bool {
    let (sender, Some(target)) = (call.process(), call.kernel.processes.get(&pid)) else { return false };
    let [real, effective, ..] = sender.credentials.user;
    let [target_real, _, target_saved, _] = target.credentials.user;
    let is_same = |user: u32| user == target_real || user == target_saved;
    call.can(Capability::Kill)
        || pid == call.pid
        || is_same(real)
        || is_same(effective)
        || signal == SIGCONT && sender.session == target.session
}

/// A signal argument of which 0 only asks.
fn number_or_probe(value: u64) -> Result<Option<u8>, Stop> {
    if value as i32 == 0 { Ok(None) } else { number(value).map(Some) }
}

fn info(call: &Call<'_>, number: u8, code: i32) -> SignalInfo {
    let uid = call.process().credentials.user[0];
    SignalInfo { number, code, pid: call.pid.0, uid, ..SignalInfo::default() }
}

/// `kill(2)`.
pub fn kill(call: &mut Call<'_>) -> Result<u64, Stop> {
    let signal = number_or_probe(call.args[1])?;
    let targets = match call.int(0) {
        i32::MIN => return Err(ESRCH.into()),
        number @ 1.. => call.kernel.process_of(number as u32).into_iter().collect(),
        0 => group(call, call.process().group),
        -1 => everyone_else(call),
        group_id => group(call, Pid(group_id.unsigned_abs())),
    };
    let (mut sent, mut refused) = (false, false);
    for pid in targets {
        match call.kernel.processes.contains_key(&pid) {
            true if may_signal(call, pid, signal.unwrap_or(0)) => {
                sent = true;
                if let Some(number) = signal {
                    let info = info(call, number, SI_USER);
                    send(call.kernel, Target::Process(pid), info);
                }
            }
            exists => refused |= exists,
        }
    }
    match (sent, refused) {
        (true, _) => Ok(0),
        (false, true) => Err(EPERM.into()),
        (false, false) => Err(ESRCH.into()),
    }
}

/// Members of a group; zombies can be asked about as well.
fn group(call: &Call<'_>, group: Pid) -> Vec<Pid> {
    let living = members(call.kernel, group);
    let all = || call.kernel.processes.values().filter(|process| process.group == group).map(|process| process.pid);
    if living.is_empty() { all().collect() } else { living }
}

/// "Every process for which the calling process has permission to send signals, except for process
/// 1 (init)" and, on Linux, except itself.
fn everyone_else(call: &Call<'_>) -> Vec<Pid> {
    call.kernel.processes.keys().copied().filter(|pid| *pid != call.pid).collect()
}

/// `tkill(2)`.
pub fn tkill(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.int(0) <= 0 {
        return Err(EINVAL.into());
    }
    to_thread(call, None, Tid(call.args[0] as u32), call.args[1], None)
}

/// `tgkill(2)`.
pub fn tgkill(call: &mut Call<'_>) -> Result<u64, Stop> {
    if call.int(0) <= 0 || call.int(1) <= 0 {
        return Err(EINVAL.into());
    }
    let (pid, tid) = (Pid(call.args[0] as u32), Tid(call.args[1] as u32));
    to_thread(call, Some(pid), tid, call.args[2], None)
}

fn to_thread(
    call: &mut Call<'_>,
    pid: Option<Pid>,
    tid: Tid,
    signal: u64,
    queued: Option<SignalInfo>,
) -> Result<u64, Stop> {
    let signal = number_or_probe(signal)?;
    let Some(owner) = call.kernel.threads.get(&tid).map(|thread| thread.pid) else {
        return ended_leader(call, pid, tid);
    };
    if pid.is_some_and(|pid| pid != owner) {
        return Err(ESRCH.into());
    }
    if queued.is_none() && !may_signal(call, owner, signal.unwrap_or(0)) {
        return Err(EPERM.into());
    }
    if signal.is_some_and(|number| number >= FIRST_REAL_TIME) && !has_room(call.kernel, Target::Thread(tid)) {
        return Err(EAGAIN.into());
    }
    if let Some(number) = signal {
        let info = queued.unwrap_or_else(|| info(call, number, SI_TKILL));
        send(call.kernel, Target::Thread(tid), info);
    }
    Ok(0)
}

/// The first thread of a process can be named until the process is reaped.
fn ended_leader(call: &Call<'_>, pid: Option<Pid>, tid: Tid) -> Result<u64, Stop> {
    let is_leader = call.kernel.processes.contains_key(&Pid(tid.0)) && pid.is_none_or(|pid| pid.0 == tid.0);
    if is_leader { Ok(0) } else { Err(ESRCH.into()) }
}

/// `siginfo_t` that a program made up; only the kernel's own codes are refused, and only towards others.
fn load_info(call: &mut Call<'_>, signal: u64, address: u64, pid: Pid) -> Result<SignalInfo, Stop> {
    let bytes: [u8; SIZE] = call.load(address)?;
    let info = SignalInfo::from_bytes(signal as u8, &bytes);
    let is_forged = info.code >= 0 || info.code == SI_TKILL;
    if is_forged && pid != call.pid { Err(EPERM.into()) } else { Ok(info) }
}

/// `rt_sigqueueinfo(2)`.
pub fn rt_sigqueueinfo(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, signal, address, ..] = call.args;
    let named = call.kernel.process_of(pid as u32);
    let info = load_info(call, signal, address, named.unwrap_or(Pid(pid as u32)))?;
    queue(call, named.ok_or(ESRCH)?, signal, info)
}

fn queue(call: &mut Call<'_>, pid: Pid, signal: u64, info: SignalInfo) -> Result<u64, Stop> {
    let signal = number_or_probe(signal)?;
    if !call.kernel.processes.contains_key(&pid) {
        return Err(ESRCH.into());
    }
    if !may_signal(call, pid, signal.unwrap_or(0)) {
        return Err(EPERM.into());
    }
    let is_queued = signal.is_some_and(|number| number >= FIRST_REAL_TIME);
    if is_queued && !has_room(call.kernel, Target::Process(pid)) {
        return Err(EAGAIN.into());
    }
    if signal.is_some() {
        send(call.kernel, Target::Process(pid), info);
    }
    Ok(0)
}

/// `rt_tgsigqueueinfo(2)`.
pub fn rt_tgsigqueueinfo(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [pid, tid, signal, address, ..] = call.args;
    if pid as i32 <= 0 || tid as i32 <= 0 {
        return Err(EINVAL.into());
    }
    let info = load_info(call, signal, address, Pid(pid as u32))?;
    to_thread(call, Some(Pid(pid as u32)), Tid(tid as u32), signal, Some(info))
}

/// `pidfd_send_signal(2)`.
pub fn pidfd_send_signal(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, signal, address, flags, ..] = call.args;
    if flags != 0 {
        return Err(EINVAL.into());
    }
    let descriptor = call.process().descriptors.get(call.int(0))?;
    let file = call.kernel.descriptions.get(&descriptor.description).map(|description| description.file);
    let pid = match file {
        Some(File::Process(pid)) => pid,
        Some(File::Inode(folder)) if call.description_of(call.int(0)).is_ok() => {
            call.kernel.process_of_folder(folder).ok_or(EBADF)?
        }
        _ => return Err(EBADF.into()),
    };
    let info = match address {
        0 => info(call, signal as u8, SI_USER),
        _ => load_info(call, signal, address, pid)?,
    };
    queue(call, pid, signal, info)
}
