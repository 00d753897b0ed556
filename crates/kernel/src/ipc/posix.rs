//! POSIX message queues (`mq_overview(7)`).

use super::QueueRequest;
use crate::Kernel;
use crate::descriptor::{File, Operations, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse};
use crate::event;
use crate::id::{Id, Pid};
use crate::process::SignalInfo;
use crate::signal;
use crate::wait::Condition;
use memory::Memory;
use std::collections::VecDeque;

/// `SI_MESGQ`.
const ARRIVED: i32 = -3;

/// A message queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PosixQueue {
    /// Its name; none once it is unlinked.
    pub name: Option<Vec<u8>>,
    /// Owner and permissions.
    pub owner: (u32, u32),
    /// Permissions.
    pub mode: u32,
    /// Open descriptions.
    pub users: u32,
    /// `mq_maxmsg`.
    pub count_max: usize,
    /// `mq_msgsize`.
    pub size_max: usize,
    /// Priority and text, the next to be received first.
    pub messages: VecDeque<(u32, Vec<u8>)>,
    /// Who is told about the first message, and how (`mq_notify(3)`).
    pub notification: Option<Notification>,
}

/// Who is told about a message in an empty queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Notification {
    /// The process.
    pub pid: Pid,
    /// The signal; none for `SIGEV_NONE`.
    pub signal: Option<u8>,
    /// `si_value`.
    pub value: u64,
}

/// What message queue descriptors can do; as files they are only closed and waited for.
pub static OPERATIONS: Operations =
    Operations { read: refuse::read, write: refuse::write, poll, ioctl: refuse::ioctl, close, seek: refuse::seek };

impl PosixQueue {
    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.messages.len() >= self.count_max
    }

    /// Puts a message behind those of the same or a higher priority.
    pub fn put(&mut self, priority: u32, text: Vec<u8>) {
        let at = self.messages.iter().position(|(other, _)| *other < priority).unwrap_or(self.messages.len());
        self.messages.insert(at, (priority, text));
    }
}

/// The queue of a description.
#[must_use]
pub fn of_description(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::MessageQueue(id) => Some(id),
        _ => None,
    }
}

/// Tells whoever asked that a message has come to an empty queue; a receiver that waits comes first (`mq_notify(3)`).
pub fn notify(kernel: &mut Kernel, id: Id, sender: (Pid, u32)) {
    let waits = |condition: &Condition| matches!(condition, Condition::Queue(QueueRequest::PosixReceive(other)) if *other == id);
    if super::waiting(kernel).any(|(_, condition)| waits(condition)) {
        return;
    }
    let Some(queue) = kernel.ipc.posix.get_mut(&id) else { return };
    let Some(Notification { pid, signal, value }) = queue.notification.take() else { return };
    let Some(number) = signal else { return };
    let (from, uid) = sender;
    let info = SignalInfo { number, code: ARRIVED, pid: from.0, uid, value, ..SignalInfo::default() };
    signal::send(kernel, signal::Target::Process(pid), info);
}

/// A process has ended: nobody tells it anything.
pub fn forget_process(kernel: &mut Kernel, pid: Pid) {
    let asked = |queue: &PosixQueue| queue.notification.is_some_and(|notification| notification.pid == pid);
    let ids: Vec<Id> = kernel.ipc.posix.iter().filter(|(_, queue)| asked(queue)).map(|(id, _)| *id).collect();
    for id in ids {
        if let Some(queue) = kernel.ipc.posix.get_mut(&id) {
            queue.notification = None;
        }
    }
}

/// Ends a queue that has neither name nor users.
pub fn drop_if_unused(kernel: &mut Kernel, id: Id) {
    if kernel.ipc.posix.get(&id).is_some_and(|queue| queue.name.is_none() && queue.users == 0) {
        kernel.ipc.posix.remove(&id);
    }
}

/// Something about the queue has changed for those who poll it.
pub fn wake(kernel: &mut Kernel, id: Id, events: u16) {
    event::wake(kernel, File::MessageQueue(id), events);
}

fn poll(kernel: &Kernel, _: &Memory, description: Id) -> u16 {
    let queue = of_description(kernel, description).and_then(|id| kernel.ipc.posix.get(&id));
    let readable = if queue.is_some_and(|queue| !queue.is_empty()) { POLLIN | POLLRDNORM } else { 0 };
    let writable = if queue.is_some_and(|queue| !queue.is_full()) { POLLOUT | POLLWRNORM } else { 0 };
    readable | writable
}

fn close(kernel: &mut Kernel, _: &mut Memory, description: Id) {
    let Some(id) = of_description(kernel, description) else { return };
    if let Some(queue) = kernel.ipc.posix.get_mut(&id) {
        queue.users -= 1;
    }
    drop_if_unused(kernel, id);
}
