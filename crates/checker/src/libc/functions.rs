//! What recognised functions are. Their names, and all else that is said of them, are rows of [`super::table`].

use super::Allocation;
use crate::system::overlay::Phase;

/// How the checker treats a recognised function or address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// A function at which threads meet, and which may block: one step with its specified meaning.
    Synchronising(Synchronising),
    /// `pthread_setcancelstate(3)`.
    CancelState,
    /// `pthread_testcancel(3)`: where a thread continues that is cancelled while it waits.
    TestCancel,
    /// A function that is executed as a whole.
    Whole(Whole),
    /// A function that allocates or frees.
    Allocate(Allocation),
    /// `abort(3)`: called by the library when it detects misuse.
    Abort,
    /// A failed `assert(3)`: it ends the schedule.
    AssertFail,
    /// `__libc_start_main`: its first argument is `main`.
    StartMain,
    /// The beginning of a program's own code: `main`, or the start routine of a thread.
    Begin,
    /// The start routine by which a library begins threads: it calls the program's own code later, and goes on behind it.
    LibraryStart,
    /// Where the start routine of a thread returns to, or the program's own code to that of a library.
    Return,
    /// A function that registers a callback for the end of a thread, in its argument of this number.
    Registers(u8),
    /// `__sigsetjmp`: it marks where an ending thread returns to the program, to clean up.
    Landing,
    /// Where such a thread returns to.
    Landed,
    /// A function that only takes time, and counts how often.
    Delay,
    /// A callback: a function of the program that the library calls.
    Callback,
    /// Where a callback returns to, or the library function that called it.
    Back,
}

/// A function at which threads meet. Hooks carry it by value: what a pending call depends on is asked for in every state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Synchronising {
    /// What it does.
    pub does: Does,
    /// When it gives up.
    pub limit: Limit,
    /// Whether it is a cancellation point in which threads wait (`pthreads(7)`).
    pub is_cancellation_point: bool,
}

/// What a synchronising function does, whenever it gives up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Does {
    /// `pthread_mutex_lock(3)`.
    Lock,
    /// `pthread_mutex_unlock(3)`.
    Unlock,
    /// `pthread_mutex_destroy(3)`.
    DestroyMutex,
    /// `pthread_rwlock_rdlock(3)`.
    ReadLock,
    /// `pthread_rwlock_wrlock(3)`.
    WriteLock,
    /// `pthread_rwlock_unlock(3)`.
    UnlockBoth,
    /// `pthread_spin_lock(3)`.
    SpinLock,
    /// `pthread_spin_unlock(3)`.
    SpinUnlock,
    /// `pthread_cond_wait(3)`.
    Wait,
    /// `pthread_cond_signal(3)`.
    Signal,
    /// `pthread_cond_broadcast(3)`.
    Broadcast,
    /// `pthread_cond_destroy(3)`.
    DestroyCondition,
    /// `pthread_barrier_wait(3)`.
    BarrierWait,
    /// `sem_wait(3)`.
    SemaphoreWait,
    /// `sem_post(3)`.
    SemaphorePost,
    /// `pthread_join(3)`: executed as a whole once the other thread has ended.
    Join,
    /// `pthread_once(3)`.
    Once,
    /// `pthread_cancel(3)`.
    Cancel,
    /// `Mutex::lock` of Rust's standard library, where the lock is not free.
    RustLock,
    /// `RawMutex::lock` of the crate `parking_lot`, where the lock is not free.
    ParkingLock,
}

/// When a synchronising function gives up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// Never, or it never waits.
    Never,
    /// At once: it returns this where it would wait.
    Tries(u64),
    /// At the time in the argument of this number, by this clock.
    Until(ClockOf, u8),
}

/// The clock of a deadline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClockOf {
    /// The real-time clock.
    RealTime,
    /// The clock in the argument of this number.
    Argument(u8),
    /// The clock of the condition variable (`pthread_condattr_setclock(3)`).
    Condition,
}

/// Kinds of functions that are executed as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Whole {
    /// `pthread_create(3)`.
    Create,
    /// `pthread_join(3)` of a thread that has ended.
    Join,
    /// `pthread_detach(3)`.
    Detach,
    /// `pthread_cancel(3)`.
    Cancel,
    /// `pthread_once(3)`, without the callback.
    Once,
    /// `pthread_exit(3)`.
    EndThread,
    /// `exit(3)`.
    EndProcess,
    /// An allocation that fails: the library sets `errno`.
    Allocate,
    /// Standard input and output.
    Stdio,
}

impl Does {
    /// Whether it operates on a read-write lock.
    #[must_use]
    pub fn is_of_both(self) -> bool {
        matches!(self, Self::ReadLock | Self::WriteLock | Self::UnlockBoth)
    }

    /// Whether it acquires a lock that programs acquire by an instruction of their own where it is free: nothing says who holds
    /// it.
    #[must_use]
    pub fn is_of_inline_locks(self) -> bool {
        matches!(self, Self::RustLock | Self::ParkingLock)
    }

    /// Whether it operates on a lock that can be held exclusively.
    #[must_use]
    pub fn is_of_locks(self) -> bool {
        let is_of_mutexes = matches!(self, Self::Lock | Self::Unlock | Self::DestroyMutex | Self::Wait);
        is_of_mutexes || self.is_of_both() || matches!(self, Self::SpinLock | Self::SpinUnlock)
    }
}

impl Function {
    fn synchronising(self) -> Option<Synchronising> {
        match self {
            Self::Synchronising(function) => Some(function),
            _ => None,
        }
    }

    /// Whether it is summarised as a synchronising operation, which may block.
    #[must_use]
    pub fn synchronises(self) -> bool {
        self.synchronising().is_some()
    }

    /// What it does, if it synchronises.
    #[must_use]
    pub fn does(self) -> Option<Does> {
        self.synchronising().map(|function| function.does)
    }

    /// When it gives up.
    #[must_use]
    pub fn limit(self) -> Limit {
        self.synchronising().map_or(Limit::Never, |function| function.limit)
    }

    /// What it returns instead of waiting, if it only tries.
    #[must_use]
    pub fn tries(self) -> Option<u64> {
        match self.limit() {
            Limit::Tries(busy) => Some(busy),
            Limit::Never | Limit::Until(..) => None,
        }
    }

    /// Whether it gives up at a certain time.
    #[must_use]
    pub fn has_time_limit(self) -> bool {
        matches!(self.limit(), Limit::Until(..))
    }

    /// Whether it joins a thread.
    #[must_use]
    pub fn joins(self) -> bool {
        self.does() == Some(Does::Join)
    }

    /// Whether it is a cancellation point in which threads wait (`pthreads(7)`).
    #[must_use]
    pub fn is_cancellation_point(self) -> bool {
        self.synchronising().is_some_and(|function| function.is_cancellation_point)
    }
}

impl Whole {
    /// The phase of a thread after it, if it does not return.
    #[must_use]
    pub fn last_phase(self) -> Option<Phase> {
        match self {
            Self::EndThread => Some(Phase::Ending),
            Self::EndProcess => Some(Phase::Exiting),
            _ => None,
        }
    }
}
