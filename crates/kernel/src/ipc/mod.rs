//! System V and POSIX semaphores, shared memory and message queues.
//!
//! POSIX semaphores and shared memory are files and futexes and have no calls of their own.

mod access;
mod message;
mod posix;
mod posix_calls;
mod segment;
mod semaphore;
mod semaphore_calls;

use crate::id::{Id, Pid};
use crate::map::Map;
use crate::table::footprint::FootprintRule::{Everything, SystemV};
use crate::table::narration::Words;
use crate::table::syscall::Argument::{Fd, Hex, In, Int, Mode, Path, Size};
use crate::table::syscall::Row;
use crate::{Kernel, Tid};
use memory::Memory;

pub use message::Queue;
pub use posix::{OPERATIONS, PosixQueue};
pub use segment::Segment;
pub use semaphore::{SemaphoreRequest, Set};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(29, "shmget", segment::shmget, &[Hex, Size, Hex], Everything).partial("no huge pages"),
    Row::full(30, "shmat", segment::shmat, &[Int, Hex, Hex], Everything),
    Row::full(31, "shmctl", segment::shmctl, &[Int, Int, Hex], Everything).partial("not IPC_INFO, SHM_INFO, SHM_STAT"),
    Row::full(64, "semget", semaphore_calls::semget, &[Hex, Int, Hex], Everything),
    Row::full(65, "semop", semaphore_calls::semop, &[Int, Hex, Size], SystemV).says(Words::Semaphores),
    Row::full(66, "semctl", semaphore_calls::semctl, &[Int, Int, Int, Hex], SystemV)
        .partial("not IPC_INFO, SEM_INFO, SEM_STAT"),
    Row::full(67, "shmdt", segment::shmdt, &[Hex], Everything),
    Row::full(68, "msgget", message::msgget, &[Hex, Hex], Everything),
    Row::full(69, "msgsnd", message::msgsnd, &[Int, Hex, Size, Hex], SystemV),
    Row::full(70, "msgrcv", message::msgrcv, &[Int, Hex, Size, Int, Hex], SystemV).partial("not MSG_COPY"),
    Row::full(71, "msgctl", message::msgctl, &[Int, Int, Hex], SystemV).partial("not IPC_INFO, MSG_INFO, MSG_STAT"),
    Row::full(220, "semtimedop", semaphore_calls::semtimedop, &[Int, Hex, Size, Hex], SystemV).says(Words::Semaphores),
    Row::full(240, "mq_open", posix_calls::mq_open, &[Path, Hex, Mode, Hex], Everything),
    Row::full(241, "mq_unlink", posix_calls::mq_unlink, &[Path], Everything),
    Row::full(242, "mq_timedsend", posix_calls::mq_timedsend, &[Fd, In(2), Size, Int, Hex], Everything),
    Row::full(243, "mq_timedreceive", posix_calls::mq_timedreceive, &[Fd, Hex, Size, Hex, Hex], Everything),
    Row::full(244, "mq_notify", posix_calls::mq_notify, &[Fd, Hex], Everything).partial("not SIGEV_THREAD"),
    Row::full(245, "mq_getsetattr", posix_calls::mq_getsetattr, &[Fd, Hex, Hex], Everything),
];

/// Semaphores, shared memory, message queues.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ipc {
    /// Sets of System V semaphores.
    sets: Map<i32, Set>,
    /// What happens to semaphores when a process ends (`SEM_UNDO`), by process, set and semaphore.
    undo: Map<Pid, semaphore::Undo>,
    /// Segments of shared memory.
    segments: Map<i32, Segment>,
    /// System V message queues.
    queues: Map<i32, Queue>,
    /// POSIX message queues.
    posix: Map<Id, PosixQueue>,
    /// Their names.
    names: Map<Vec<u8>, Id>,
}

/// A message that a thread waits for, or room for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QueueRequest {
    /// A message of a System V queue.
    Receive(i32, message::Wanted),
    /// Room for that many bytes in a System V queue.
    Send(i32, usize),
    /// A message of a POSIX queue.
    PosixReceive(Id),
    /// Room in a POSIX queue.
    PosixSend(Id),
}

/// Whether the operations could be carried out now.
#[must_use]
pub fn may_operate(kernel: &Kernel, request: &SemaphoreRequest) -> bool {
    semaphore::may_operate(kernel, request)
}

/// Whether the message could be taken or left now.
#[must_use]
pub fn may_pass(kernel: &Kernel, request: &QueueRequest) -> bool {
    match request {
        QueueRequest::Receive(id, wanted) => {
            kernel.ipc.queues.get(id).is_none_or(|queue| queue.find(*wanted).is_some())
        }
        QueueRequest::Send(id, size) => kernel.ipc.queues.get(id).is_none_or(|queue| queue.has_room(*size)),
        QueueRequest::PosixReceive(id) => kernel.ipc.posix.get(id).is_none_or(|queue| !queue.is_empty()),
        QueueRequest::PosixSend(id) => kernel.ipc.posix.get(id).is_none_or(|queue| !queue.is_full()),
    }
}

/// A process has ended: its semaphore operations are undone, segments that nobody needs any more are freed.
pub fn process_ended(kernel: &mut Kernel, memory: &mut Memory, pid: Pid) {
    semaphore::undo(kernel, pid);
    posix::forget_process(kernel, pid);
    segment::sweep(kernel, memory);
}

/// Whether the end of a process changes semaphores or message queues.
#[must_use]
pub fn notices_end(kernel: &Kernel, pid: Pid) -> bool {
    kernel.ipc.undo.contains_key(&pid) || !kernel.ipc.posix.is_empty()
}

/// A process has left an address space by `execve(2)`: its attachments are gone.
pub fn executed(kernel: &mut Kernel, memory: &mut Memory) {
    segment::sweep(kernel, memory);
}

/// Threads that wait for something, with what they wait for.
fn waiting(kernel: &Kernel) -> impl Iterator<Item = (Tid, &crate::Condition)> {
    kernel.threads.iter().flat_map(|(tid, thread)| {
        thread.wait.iter().flat_map(|wait| &wait.until).map(move |condition| (*tid, condition))
    })
}
