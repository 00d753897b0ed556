//! What may end a wait: objects that somebody must write before one of its conditions holds.
//!
//! The wait itself knows what it is for. The footprint of the call would not do: a call that touches everything, such as
//! `splice(2)`, may wait for one pipe, and who waits at a futex may have been moved to another one since.

use super::access::{self, Kind, reads};
use super::descriptors::through_file;
use super::sockets;
use explore::graph::Access;
use kernel::descriptor::File;
use kernel::files::LockRequest;
use kernel::futex::{self, Key};
use kernel::ipc::QueueRequest;
use kernel::{Condition, Id, Kernel, Tid};
use memory::Memory;

/// Objects that a thread waits for: those of its conditions, and its process, which signals come to.
///
/// Used as the pending footprint of a blocked thread: whoever writes one of these objects may
/// enable it, and the fixpoint takes such writers as its necessary enabling set. An object too few
/// would make a wake-up invisible, and a schedule in which it happens would be left out.
#[must_use]
pub fn awaited(kernel: &Kernel, memory: &Memory, tid: Tid) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid) else { return Vec::new() };
    let waiter = Waiter { kernel, memory, tid };
    let conditions = thread.wait.iter().flat_map(|wait| &wait.until);
    let accesses = conditions.flat_map(|condition| waiter.accesses(condition));
    let mut objects = vec![access::object(Kind::Process, u64::from(thread.pid.0), 0)];
    objects.extend(accesses.map(|access| access.object));
    objects
}

/// A thread that waits.
struct Waiter<'a> {
    kernel: &'a Kernel,
    memory: &'a Memory,
    tid: Tid,
}

impl Waiter<'_> {
    /// What a condition depends on, beside the waiter's process.
    fn accesses(&self, condition: &Condition) -> Vec<Access> {
        match condition {
            Condition::Poll(description, _) => self.ready(*description),
            Condition::Woken(_) => self.queue(),
            Condition::Child(_) | Condition::Signal(_) => Vec::new(),
            Condition::Vforked(child) => vec![reads(Kind::Process, u64::from(child.0))],
            Condition::Lock(LockRequest::Record { file, .. } | LockRequest::Whole { file, .. }) => {
                vec![reads(Kind::Inode, file.0)]
            }
            Condition::Semaphores(request) => vec![reads(Kind::Ipc, request.set as u64)],
            Condition::Queue(QueueRequest::Receive(id, _) | QueueRequest::Send(id, _)) => {
                vec![reads(Kind::Ipc, *id as u64)]
            }
            Condition::Socket(request) => sockets::awaited(self.kernel, *request),
            Condition::CounterRoom(id, _) => vec![reads(Kind::File, id.0)],
            // Whoever uses one touches everything.
            Condition::Queue(_) | Condition::Terminal(_) => access::everything(),
        }
    }

    /// What an open file can be read or written depends on. Closing its descriptors ends no wait: the call keeps it open.
    fn ready(&self, description: Id) -> Vec<Access> {
        let file = self.kernel.descriptions.get(&description).map(|open| open.file);
        file.into_iter().flat_map(|file| self.ready_file(file)).collect()
    }

    fn ready_file(&self, file: File) -> Vec<Access> {
        match file {
            File::Socket(id) => sockets::look(self.kernel, id),
            File::Epoll(id) => self.ready_set(id),
            // Files are always ready.
            File::Inode(_) => Vec::new(),
            other => through_file(other),
        }
    }

    /// A set of watched files depends on each of them.
    fn ready_set(&self, id: Id) -> Vec<Access> {
        let watched = self.kernel.events.epolls.get(&id).into_iter().flat_map(|epoll| epoll.items.keys());
        std::iter::once(reads(Kind::File, id.0)).chain(watched.flat_map(|item| self.ready(item.description))).collect()
    }

    /// The futex that it waits at. Who opens a FIFO, on which others wait in `open(2)`, touches everything.
    fn queue(&self) -> Vec<Access> {
        match futex::queue_of(self.kernel, self.tid) {
            Some(Key::Private(space, address) | Key::Alone(space, address)) => {
                vec![access::word(self.memory, space, address, false, Kind::Futex)]
            }
            Some(Key::Shared(object, offset)) => {
                vec![Access { object: access::object(Kind::Futex, object.0, offset >> 2), write: false, plain: false }]
            }
            None => access::everything(),
        }
    }
}
