//! Why a thread cannot go on.
//!
//! Data, not a callback: a waiting thread is cloned, hashed and printed like everything else in the world. When a wait is
//! over, the call is redone from its arguments; it finds the old wait in [`crate::Call::resumed`].

use crate::descriptor::Fd;
use crate::files::lock::LockRequest;
use crate::id::{Id, Pid};
use crate::ipc::request::QueueRequest;
use crate::ipc::semaphore::SemaphoreRequest;
pub use crate::kernel::is_over;
use crate::lifecycle::child_request::ChildRequest;
use crate::net::request::Request as SocketRequest;
use crate::terminal::request::Request as TerminalRequest;

/// Why a thread cannot go on, and when to try again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wait {
    /// Any of these ends the wait; none at all waits for a signal or the deadline only.
    pub until: Vec<Condition>,
    /// Virtual time at which the wait ends by itself, in nanoseconds of the monotonic clock.
    pub deadline: Option<u64>,
    /// The deadline is a time of the real-time clock: it moves when that clock is set.
    pub is_real: bool,
    /// What a signal handler does to the call.
    pub interruption: Interruption,
    /// How much of the call is already done, such as bytes of a long write. A signal handler that interrupts the call makes
    /// it return this if it is not zero.
    pub progress: u64,
    /// Set by whoever wakes the thread by name, such as `futex(2)`: the wait is over whatever its conditions say.
    pub woken: bool,
    /// Descriptors that the call was given, and what they referred to when it began: each keeps its description until the call
    /// has ended, whoever closes it meanwhile (Linux's `fdget`). [`crate::Kernel::call`] fills in those among the arguments.
    pub held: Vec<(Fd, Id)>,
    /// What the call keeps for when it is redone: the arrays that `poll(2)` and `select(2)` copied in when they began, the bytes
    /// that a `read(2)` of a terminal has taken so far.
    pub kept: Vec<u8>,
    /// Whether a signal handler ends the wait: set only while the call is redone for the last time ([`Interruption::Finish`]).
    pub interrupted: bool,
}

/// What becomes of a waiting call when a signal handler has run (`signal(7)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interruption {
    /// Redone after a handler with `SA_RESTART`, `EINTR` otherwise.
    Restart,
    /// Redone after any handler.
    Again,
    /// `EINTR` even with `SA_RESTART`.
    Fail,
    /// `EINTR` even with `SA_RESTART`, and the time left until the deadline goes to this address as a `struct timespec`, unless
    /// 0 (`nanosleep(2)`).
    Remaining {
        /// Where to.
        address: u64,
    },
    /// The call is redone for the last time with [`Wait::interrupted`] and says itself what comes of it: it has something to
    /// write back.
    Finish,
    /// Not interrupted by anything but death.
    Never,
}

/// Something that a waiting thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// The open file description has one of these `poll(2)` events.
    Poll(Id, u16),
    /// Someone wakes the thread by name ([`Wait::woken`]); the id names what it queues on, such as a futex.
    Woken(Id),
    /// A child can be reported to `wait4(2)`, or none is left that ever could.
    Child(ChildRequest),
    /// The process that shares our memory since `vfork(2)` has executed or ended.
    Vforked(Pid),
    /// A file lock could be taken.
    Lock(LockRequest),
    /// Operations on System V semaphores could be carried out.
    Semaphores(SemaphoreRequest),
    /// A message could be taken from, or left in, a message queue (System V or POSIX).
    Queue(QueueRequest),
    /// Something about a socket.
    Socket(SocketRequest),
    /// Something about a terminal.
    Terminal(TerminalRequest),
    /// That much could be added to an event counter (`eventfd(2)`).
    CounterRoom(Id, u64),
    /// A signal of this set (bit `n - 1` for signal `n`) is pending, blocked or not (`sigwaitinfo(2)`).
    Signal(u64),
}

impl Wait {
    /// A wait for one condition, restarted after signal handlers that ask for it, without deadline.
    #[must_use]
    pub fn until(condition: Condition) -> Self {
        Self::any(vec![condition])
    }

    /// A wait for any of several conditions.
    #[must_use]
    pub fn any(until: Vec<Condition>) -> Self {
        let (interruption, held, kept) = (Interruption::Restart, Vec::new(), Vec::new());
        Self {
            until,
            deadline: None,
            is_real: false,
            interruption,
            progress: 0,
            woken: false,
            held,
            kept,
            interrupted: false,
        }
    }

    /// The same with a deadline.
    #[must_use]
    pub fn deadline(mut self, deadline: Option<u64>) -> Self {
        self.deadline = deadline;
        self
    }

    /// The same where the deadline is a time of the real-time clock.
    #[must_use]
    pub fn real(mut self, is_real: bool) -> Self {
        self.is_real = is_real;
        self
    }

    /// The same with another answer to signals.
    #[must_use]
    pub fn interruption(mut self, interruption: Interruption) -> Self {
        self.interruption = interruption;
        self
    }

    /// The same, keeping what these descriptors refer to.
    #[must_use]
    pub fn holding(mut self, held: Vec<(Fd, Id)>) -> Self {
        self.held = held;
        self
    }

    /// What a descriptor referred to when the call began.
    #[must_use]
    pub fn held(&self, fd: Fd) -> Option<Id> {
        self.held.iter().find(|(held, _)| *held == fd).map(|(_, description)| *description)
    }

    /// The same, keeping bytes for when the call is redone.
    #[must_use]
    pub fn keeping(mut self, kept: Vec<u8>) -> Self {
        self.kept = kept;
        self
    }

    /// The same, remembering how much is done.
    #[must_use]
    pub fn progress(mut self, progress: u64) -> Self {
        self.progress = progress;
        self
    }
}
