//! System V and POSIX semaphores, shared memory and message queues.
//!
//! POSIX semaphores and shared memory are files and futexes and have no calls of their own.
//!
//! `SystemV` footprints name the one set or queue that a call is about; calls that create one or
//! look it up by key have the rule `Everything`.

mod access;
mod keys;
mod message;
mod message_calls;
mod posix;
mod posix_calls;
mod posix_file;
pub(crate) mod request;
mod segment;
mod segment_calls;
pub(crate) mod semaphore;
mod semaphore_calls;
mod semaphore_trial;
pub(crate) mod state;
mod waiting;

use crate::Kernel;
use crate::id::Pid;
use crate::table::footprint::FootprintRule::{Everything, SystemV};
use crate::table::narration::Words;
use crate::table::syscall::Argument::{Fd, Hex, In, Int, Mode, Path, Size};
use crate::table::syscall::{Remaps, Row};
use memory::Memory;

pub use message::Queue;
pub use posix::PosixQueue;
pub use posix_file::OPERATIONS;
pub use request::QueueRequest;
pub use segment::Segment;
pub use semaphore::{SemaphoreRequest, Set};
pub use state::Ipc;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(29, "shmget", segment_calls::shmget, &[Hex, Size, Hex], Everything).partial("no huge pages"),
    Row::full(30, "shmat", segment_calls::shmat, &[Int, Hex, Hex], Everything),
    Row::full(31, "shmctl", segment_calls::shmctl, &[Int, Int, Hex], Everything)
        .partial("not IPC_INFO, SHM_INFO, SHM_STAT"),
    Row::full(64, "semget", semaphore_calls::semget, &[Hex, Int, Hex], Everything),
    Row::full(65, "semop", semaphore_calls::semop, &[Int, Hex, Size], SystemV).says(Words::Semaphores),
    Row::full(66, "semctl", semaphore_calls::semctl, &[Int, Int, Int, Hex], SystemV)
        .partial("not IPC_INFO, SEM_INFO, SEM_STAT"),
    Row::full(67, "shmdt", segment_calls::shmdt, &[Hex], Everything).remaps(Remaps::Detach),
    Row::full(68, "msgget", message_calls::msgget, &[Hex, Hex], Everything),
    Row::full(69, "msgsnd", message_calls::msgsnd, &[Int, Hex, Size, Hex], SystemV),
    Row::full(70, "msgrcv", message_calls::msgrcv, &[Int, Hex, Size, Int, Hex], SystemV).partial("not MSG_COPY"),
    Row::full(71, "msgctl", message_calls::msgctl, &[Int, Int, Hex], SystemV)
        .partial("not IPC_INFO, MSG_INFO, MSG_STAT"),
    Row::full(220, "semtimedop", semaphore_calls::semtimedop, &[Int, Hex, Size, Hex], SystemV).says(Words::Semaphores),
    Row::full(240, "mq_open", posix_calls::mq_open, &[Path, Hex, Mode, Hex], Everything),
    Row::full(241, "mq_unlink", posix_calls::mq_unlink, &[Path], Everything),
    Row::full(242, "mq_timedsend", posix_calls::mq_timedsend, &[Fd, In(2), Size, Int, Hex], Everything),
    Row::full(243, "mq_timedreceive", posix_calls::mq_timedreceive, &[Fd, Hex, Size, Hex, Hex], Everything),
    Row::full(244, "mq_notify", posix_calls::mq_notify, &[Fd, Hex], Everything).partial("not SIGEV_THREAD"),
    Row::full(245, "mq_getsetattr", posix_calls::mq_getsetattr, &[Fd, Hex, Hex], Everything),
];

/// Whether the operations could be carried out now.
#[must_use]
pub fn may_operate(kernel: &Kernel, request: &SemaphoreRequest) -> bool {
    semaphore_trial::may_operate(kernel, request)
}

/// Whether the message could be taken or left now.
///
/// A queue that is gone answers "yes": the wait ends, and the call that is redone finds out and
/// fails.
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
    semaphore_trial::undo(kernel, pid);
    posix_file::forget_process(kernel, pid);
    segment_calls::sweep(kernel, memory);
}

/// Whether the end of a process changes semaphores or message queues.
///
/// Asked before a process ends, so that an exit which nobody notices need not conflict with
/// anything.
#[must_use]
pub fn notices_end(kernel: &Kernel, pid: Pid) -> bool {
    kernel.ipc.undo.contains_key(&pid) || !kernel.ipc.posix.is_empty()
}

/// A process has left an address space by `execve(2)`: its attachments are gone.
pub fn executed(kernel: &mut Kernel, memory: &mut Memory) {
    segment_calls::sweep(kernel, memory);
}
