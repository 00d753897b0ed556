//! `msgget(2)`, `msgsnd(2)`, `msgrcv(2)`, `msgctl(2)`.

use super::access::{Access, IPC_NOWAIT, IPC_RMID, IPC_SET, IPC_STAT, READ, WRITE};
use super::keys;
use super::message::{Queue, Wanted};
use super::request::QueueRequest;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{E2BIG, EAGAIN, EIDRM, EINVAL, ENOMSG, EPERM};
use crate::wait::{Condition, Interruption, Wait};
use std::collections::VecDeque;

/// `MSGMAX`.
const MESSAGE_MAX: u64 = 8192;
/// `MSGMNB`.
const QUEUE_MAX: u64 = 16_384;
/// Cut what is too long.
const MSG_NOERROR: u64 = 0o10_000;
/// Any type but this.
const MSG_EXCEPT: u64 = 0o20_000;
/// Leave it there.
const MSG_COPY: u64 = 0o40_000;

fn seconds(call: &Call<'_>) -> u64 {
    call.kernel.clock.real() / 1_000_000_000
}

/// `msgget(2)`.
pub fn msgget(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (key, flags) = (call.int(0), call.args[1]);
    if let Some(id) = keys::find(call, &call.kernel.ipc.queues, key, flags)? {
        return Ok(id as u64);
    }
    let id = keys::number(call, |ipc| &ipc.queues)?;
    let queue = Queue {
        access: Access::new(call, key, flags),
        messages: VecDeque::new(),
        bytes_max: QUEUE_MAX,
        times: [0, 0, seconds(call)],
        last: [0, 0],
    };
    call.kernel.ipc.queues.insert(id, queue);
    Ok(id as u64)
}

/// The queue, if the caller may use it so; `EIDRM` if it was removed while the caller waited.
fn queue_of<'a>(call: &'a Call<'_>, id: i32, wanted: u32) -> Result<&'a Queue, Stop> {
    let missing = if call.resumed.is_some() { EIDRM } else { EINVAL };
    let queue = call.kernel.ipc.queues.get(&id).ok_or(missing)?;
    queue.access.check(call, wanted)?;
    Ok(queue)
}

fn wait(request: QueueRequest) -> Wait {
    Wait::until(Condition::Queue(request)).interruption(Interruption::Fail)
}

/// `msgsnd(2)`.
pub fn msgsnd(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (id, flags) = (call.int(0), call.args[3]);
    // Copied when the call begins: what the sender writes to it later is no part of the message.
    let message = match &call.resumed {
        Some(wait) => wait.kept.clone(),
        None => load_message(call, id)?,
    };
    let (kind, text) = message.split_first_chunk().expect("it begins with its kind");
    let (kind, text) = (i64::from_le_bytes(*kind), text.to_vec());
    if !queue_of(call, id, WRITE)?.has_room(text.len()) {
        let request = QueueRequest::Send(id, text.len());
        return Err(if flags & IPC_NOWAIT != 0 { EAGAIN.into() } else { wait(request).keeping(message).into() });
    }
    let (now, pid) = (seconds(call), call.pid.0);
    let queue = call.kernel.ipc.queues.get_mut(&id).ok_or(EINVAL)?;
    queue.messages.push_back((kind, text));
    (queue.times[0], queue.last[0]) = (now, pid);
    Ok(0)
}

/// A `struct msgbuf`: the kind, then the text.
fn load_message(call: &mut Call<'_>, id: i32) -> Result<Vec<u8>, Stop> {
    let [_, address, size, ..] = call.args;
    let kind = call.load_u64(address)? as i64;
    if size > MESSAGE_MAX || id < 0 || kind < 1 {
        return Err(EINVAL.into());
    }
    let text = call.load_bytes(address.wrapping_add(8), size as usize)?;
    Ok([&kind.to_le_bytes()[..], &text].concat())
}

/// `msgrcv(2)`.
pub fn msgrcv(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (id, [_, address, size, kind, flags, _]) = (call.int(0), call.args);
    if id < 0 || (size as i64) < 0 {
        return Err(EINVAL.into());
    }
    if flags & MSG_COPY != 0 {
        return call.unsupported("MSG_COPY");
    }
    let wanted = match kind as i64 {
        0 => Wanted::Any,
        kind if kind < 0 => Wanted::UpTo(kind.checked_neg().unwrap_or(i64::MAX)),
        kind if flags & MSG_EXCEPT != 0 => Wanted::Not(kind),
        kind => Wanted::Type(kind),
    };
    let queue = queue_of(call, id, READ)?;
    let Some(at) = queue.find(wanted) else {
        let request = QueueRequest::Receive(id, wanted);
        return Err(if flags & IPC_NOWAIT != 0 { ENOMSG.into() } else { wait(request).into() });
    };
    let (kind, text) = queue.messages[at].clone();
    if text.len() as u64 > size && flags & MSG_NOERROR == 0 {
        return Err(E2BIG.into());
    }
    let (now, pid) = (seconds(call), call.pid.0);
    let queue = call.kernel.ipc.queues.get_mut(&id).ok_or(EINVAL)?;
    queue.messages.remove(at);
    (queue.times[1], queue.last[1]) = (now, pid);
    let text = &text[..text.len().min(size as usize)];
    call.store_u64(address, kind as u64)?;
    call.store(address.wrapping_add(8), text)?;
    Ok(text.len() as u64)
}

/// `msgctl(2)`.
pub fn msgctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (id, argument) = (call.int(0), call.args[2]);
    match u64::from(call.args[1] as u32) {
        IPC_RMID => {
            keys::get(&call.kernel.ipc.queues, id)?.access.check_owner(call)?;
            call.kernel.ipc.queues.remove(&id);
            Ok(0)
        }
        IPC_SET => change(call, id, argument),
        IPC_STAT => tell(call, id, argument),
        command @ (3 | 11..=13) => call.unsupported(format!("command {command}")),
        _ => Err(EINVAL.into()),
    }
}

fn change(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let mut access = keys::get(&call.kernel.ipc.queues, id)?.access.clone();
    access.check_owner(call)?;
    access.load(call, argument)?;
    let bytes_max = call.load_u64(argument.wrapping_add(88))?;
    if bytes_max > QUEUE_MAX && !call.can(Capability::Resource) {
        return Err(EPERM.into());
    }
    let now = seconds(call);
    let queue = call.kernel.ipc.queues.get_mut(&id).ok_or(EINVAL)?;
    (queue.access, queue.bytes_max, queue.times[2]) = (access, bytes_max, now);
    Ok(0)
}

/// `struct msqid64_ds`.
fn tell(call: &mut Call<'_>, id: i32, argument: u64) -> Result<u64, Stop> {
    let queue = keys::get(&call.kernel.ipc.queues, id)?;
    queue.access.check(call, READ)?;
    let mut bytes = queue.access.encode();
    bytes.extend(queue.times.map(u64::to_le_bytes).concat());
    bytes.extend([queue.bytes(), queue.messages.len() as u64, queue.bytes_max].map(u64::to_le_bytes).concat());
    bytes.extend(queue.last.map(u32::to_le_bytes).concat());
    bytes.extend([0; 16]);
    call.store(argument, &bytes)?;
    Ok(0)
}
