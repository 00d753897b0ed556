//! `mq_open(3)` and its kin, as system calls.

use super::posix::{Notification, PosixQueue};
use super::posix_file::{drop_if_unused, notify, of_description, wake};
use super::request::QueueRequest;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::descriptor::{
    Description, File, O_ACCMODE, O_CLOEXEC, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_WRONLY, POLLIN, POLLOUT,
};
use crate::errno::{
    EACCES, EAGAIN, EBADF, EBUSY, EEXIST, EINVAL, EMSGSIZE, ENAMETOOLONG, ENOENT, EPERM, ETIMEDOUT, Errno,
};
use crate::id::{Id, Pid};
use crate::wait::{Condition, Wait};
use std::collections::VecDeque;

/// `/proc/sys/fs/mqueue/msg_default` and `msg_max`.
const COUNT: (usize, usize) = (10, 10);
/// `msgsize_default` and `msgsize_max`.
const SIZE: (usize, usize) = (8192, 8192);
/// What the superuser may ask for.
const HARD: (usize, usize) = (65_536, 16 << 20);
/// `MQ_PRIO_MAX`.
const PRIORITIES: u32 = 32_768;
/// `NAME_MAX`.
const NAME_MAX: usize = 255;

/// `mq_open(3)`. The C library has taken the slash away.
pub fn mq_open(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [name, flags, mode, attributes, ..] = call.args;
    let flags = flags as u32;
    let name = call.load_path(name)?;
    check_name(&name)?;
    let id = match call.kernel.ipc.names.get(&name).copied() {
        Some(_) if flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL => return Err(EEXIST.into()),
        Some(id) => {
            check_access(call, id, flags)?;
            id
        }
        None if flags & O_CREAT == 0 => return Err(ENOENT.into()),
        None => create(call, &name, mode as u32, attributes)?,
    };
    let path = [b"/", &name[..]].concat();
    let description = Description::new(File::MessageQueue(id), flags & (O_ACCMODE | O_NONBLOCK), path);
    let fd = call.install(description, flags & O_CLOEXEC != 0)?;
    if let Some(queue) = call.kernel.ipc.posix.get_mut(&id) {
        queue.users += 1;
    }
    Ok(fd as u64)
}

fn check_name(name: &[u8]) -> Result<(), Errno> {
    match name {
        b"" => Err(ENOENT),
        b"." | b".." => Err(EACCES),
        name if name.contains(&b'/') => Err(EACCES),
        name if name.len() > NAME_MAX => Err(ENAMETOOLONG),
        _ => Ok(()),
    }
}

fn check_access(call: &Call<'_>, id: Id, flags: u32) -> Result<(), Errno> {
    let queue = call.kernel.ipc.posix.get(&id).ok_or(ENOENT)?;
    let wanted = match flags & O_ACCMODE {
        O_RDONLY => 4,
        O_WRONLY => 2,
        _ => 6,
    };
    let credentials = &call.process().credentials;
    let (uid, gid) = (credentials.user[1], credentials.group[1]);
    let shift = match uid {
        _ if call.can(Capability::Override) => return Ok(()),
        uid if uid == queue.owner.0 => 6,
        _ if gid == queue.owner.1 => 3,
        _ => 0,
    };
    if queue.mode >> shift & wanted == wanted { Ok(()) } else { Err(EACCES) }
}

fn create(call: &mut Call<'_>, name: &[u8], mode: u32, attributes: u64) -> Result<Id, Stop> {
    let (mut count_max, mut size_max) = (COUNT.0, SIZE.0);
    if attributes != 0 {
        count_max = call.load_u64(attributes.wrapping_add(8))? as usize;
        size_max = call.load_u64(attributes.wrapping_add(16))? as usize;
    }
    let credentials = &call.process().credentials;
    let owner = (credentials.user[1], credentials.group[1]);
    let (count_limit, size_limit) = if call.can(Capability::Resource) { HARD } else { (COUNT.1, SIZE.1) };
    if !(1..=count_limit).contains(&count_max) || !(1..=size_limit).contains(&size_max) {
        return Err(EINVAL.into());
    }
    let id = call.fresh_id();
    let queue = PosixQueue {
        name: Some(name.to_vec()),
        owner,
        mode: mode & 0o777 & !call.process().directories.mask,
        users: 0,
        count_max,
        size_max,
        messages: VecDeque::new(),
        notification: None,
    };
    call.kernel.ipc.posix.insert(id, queue);
    call.kernel.ipc.names.insert(name.to_vec(), id);
    Ok(id)
}

/// `mq_unlink(3)`.
pub fn mq_unlink(call: &mut Call<'_>) -> Result<u64, Stop> {
    let name = call.load_path(call.args[0])?;
    check_name(&name)?;
    let id = call.kernel.ipc.names.get(&name).copied().ok_or(ENOENT)?;
    let (uid, is_free) = (call.process().credentials.user[1], call.can(Capability::Owner));
    let queue = call.kernel.ipc.posix.get_mut(&id).ok_or(ENOENT)?;
    // The directory of queues is sticky.
    if !is_free && uid != queue.owner.0 {
        return Err(EPERM.into());
    }
    queue.name = None;
    call.kernel.ipc.names.remove(&name);
    drop_if_unused(call.kernel, id);
    Ok(0)
}

/// The queue behind the first argument, and its description.
fn queue_argument(call: &Call<'_>) -> Result<(Id, Id), Stop> {
    let description = call.description_of(call.int(0))?;
    let id = of_description(call.kernel, description).ok_or(EBADF)?;
    Ok((description, id))
}

/// Waits for a message or for room, up to a time of the real-time clock.
fn wait(call: &Call<'_>, description: Id, request: QueueRequest, time: Option<u64>, kept: Vec<u8>) -> Stop {
    if call.description(description).is_nonblocking() {
        return EAGAIN.into();
    }
    let clock = call.kernel.clock;
    if time.is_some_and(|time| time <= clock.real()) {
        return ETIMEDOUT.into();
    }
    let deadline = time.map(|time| time - (clock.real() - clock.now()));
    Wait::until(Condition::Queue(request)).deadline(deadline).real(true).keeping(kept).into()
}

/// Read when the call begins; the wait has it from then on.
fn load_time(call: &mut Call<'_>, address: u64) -> Result<Option<u64>, Stop> {
    let clock = call.kernel.clock;
    match &call.resumed {
        Some(wait) => Ok(wait.deadline.map(|deadline| deadline + (clock.real() - clock.now()))),
        None if address == 0 => Ok(None),
        None => call.load_timespec(address).map(Some),
    }
}

/// `mq_timedsend(3)`.
pub fn mq_timedsend(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, buffer, length, priority, time, _] = call.args;
    let priority = priority as u32;
    if priority >= PRIORITIES {
        return Err(EINVAL.into());
    }
    let time = load_time(call, time)?;
    let (description, id) = queue_argument(call)?;
    if !call.description(description).is_writable() {
        return Err(EBADF.into());
    }
    let queue = call.kernel.ipc.posix.get(&id).ok_or(EBADF)?;
    if length > queue.size_max as u64 {
        return Err(EMSGSIZE.into());
    }
    let is_full = queue.is_full();
    // Copied when the call begins: what the sender writes to it later is no part of the message.
    let text = match &call.resumed {
        Some(wait) => wait.kept.clone(),
        None => call.load_bytes(buffer, length as usize)?,
    };
    if is_full {
        return Err(wait(call, description, QueueRequest::PosixSend(id), time, text));
    }
    let sender = (call.pid, call.process().credentials.user[0]);
    let queue = call.kernel.ipc.posix.get_mut(&id).ok_or(EBADF)?;
    let was_empty = queue.is_empty();
    queue.put(priority, text);
    if was_empty {
        notify(call.kernel, id, sender);
    }
    wake(call.kernel, id, POLLIN);
    Ok(0)
}

/// `mq_timedreceive(3)`.
pub fn mq_timedreceive(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, buffer, length, priority, time, _] = call.args;
    let time = load_time(call, time)?;
    let (description, id) = queue_argument(call)?;
    if !call.description(description).is_readable() {
        return Err(EBADF.into());
    }
    let queue = call.kernel.ipc.posix.get(&id).ok_or(EBADF)?;
    if length < queue.size_max as u64 {
        return Err(EMSGSIZE.into());
    }
    if queue.is_empty() {
        return Err(wait(call, description, QueueRequest::PosixReceive(id), time, Vec::new()));
    }
    let queue = call.kernel.ipc.posix.get_mut(&id).ok_or(EBADF)?;
    let (urgency, text) = queue.messages.pop_front().expect("it is not empty");
    call.store(buffer, &text)?;
    if priority != 0 {
        call.store_u32(priority, urgency)?;
    }
    wake(call.kernel, id, POLLOUT);
    Ok(text.len() as u64)
}

/// `mq_notify(3)`.
pub fn mq_notify(call: &mut Call<'_>) -> Result<u64, Stop> {
    let event = call.args[1];
    let notification = if event == 0 { None } else { Some(load_notification(call, event)?) };
    let (_, id) = queue_argument(call)?;
    let pid = call.pid;
    let queue = call.kernel.ipc.posix.get_mut(&id).ok_or(EBADF)?;
    let holder: Option<Pid> = queue.notification.map(|notification| notification.pid);
    match (notification, holder) {
        (None, Some(holder)) if holder == pid => queue.notification = None,
        (None, _) => {}
        (Some(_), Some(_)) => return Err(EBUSY.into()),
        (Some(notification), None) => queue.notification = Some(notification),
    }
    Ok(0)
}

/// `struct sigevent`: value, signal, kind.
fn load_notification(call: &mut Call<'_>, address: u64) -> Result<Notification, Stop> {
    let value = call.load_u64(address)?;
    let number = call.load_u32(address.wrapping_add(8))?;
    let signal = match call.load_u32(address.wrapping_add(12))? {
        0 if (1..=64).contains(&number) => Some(number as u8),
        1 => None,
        2 => return call.unsupported("SIGEV_THREAD"),
        _ => return Err(EINVAL.into()),
    };
    Ok(Notification { pid: call.pid, signal, value })
}

/// `mq_getattr(3)` and `mq_setattr(3)`.
pub fn mq_getsetattr(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, new, old, ..] = call.args;
    let flags = if new == 0 { None } else { Some(call.load_u64(new)?) };
    if flags.is_some_and(|flags| flags & !u64::from(O_NONBLOCK) != 0) {
        return Err(EINVAL.into());
    }
    let (description, id) = queue_argument(call)?;
    let queue = call.kernel.ipc.posix.get(&id).ok_or(EBADF)?;
    let now = u64::from(call.description(description).flags & O_NONBLOCK);
    let numbers = [now, queue.count_max as u64, queue.size_max as u64, queue.messages.len() as u64, 0, 0, 0, 0];
    if let Some(flags) = flags {
        let open = call.description_mut(description);
        open.flags = open.flags & !O_NONBLOCK | flags as u32;
    }
    if old != 0 {
        call.store(old, &numbers.map(u64::to_le_bytes).concat())?;
    }
    Ok(0)
}
