//! POSIX message queues as open files, and who is told of messages (`mq_overview(7)`).

use super::posix::{Notification, PosixQueue};
use super::request::QueueRequest;
use super::waiting::waiting;
use crate::Kernel;
use crate::descriptor::{File, Operations, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, refuse};
use crate::event;
use crate::id::{Id, Pid};
use crate::process::SignalInfo;
use crate::signal;
use crate::wait::Condition;
use memory::Memory;

/// `SI_MESGQ`.
const ARRIVED: i32 = -3;

/// What message queue descriptors can do; as files they are only closed and waited for.
pub static OPERATIONS: Operations =
    Operations { read: refuse::read, write: refuse::write, poll, ioctl: refuse::ioctl, close, seek: refuse::seek };

/// The queue of a description.
#[must_use]
pub fn of_description(kernel: &Kernel, description: Id) -> Option<Id> {
    match kernel.descriptions.get(&description)?.file {
        File::MessageQueue(id) => Some(id),
        _ => None,
    }
}

/// Tells whoever asked that a message has come to an empty queue; a receiver that waits comes first (`mq_notify(3)`).
///
/// A registration is used up by the notification. Where a receiver gets the message instead, it
/// stays.
pub fn notify(kernel: &mut Kernel, id: Id, sender: (Pid, u32)) {
    let waits = |condition: &Condition| matches!(condition, Condition::Queue(QueueRequest::PosixReceive(other)) if *other == id);
    if waiting(kernel).any(|(_, condition)| waits(condition)) {
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

impl Kernel {
    /// A process has closed a descriptor of a queue: it is told nothing any more, whichever descriptor it asked by
    /// (`mq_close(3)`).
    pub fn queue_closed_by(&mut self, pid: Pid, description: Id) {
        let queue = of_description(self, description).and_then(|id| self.ipc.posix.get_mut(&id));
        if let Some(queue) = queue {
            queue.notification = queue.notification.filter(|notification| notification.pid != pid);
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
        assert!(queue.users > 0, "every queue descriptor that is closed was opened");
        queue.users -= 1;
    }
    drop_if_unused(kernel, id);
}
