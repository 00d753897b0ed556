//! The functions that are recognised, by name.

/// How the checker treats a recognised function or address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// `pthread_mutex_lock(3)`.
    Lock,
    /// `pthread_mutex_trylock(3)`.
    TryLock,
    /// `mtx_trylock(3)`.
    TryMtx,
    /// `pthread_mutex_timedlock(3)`, by the real-time clock.
    TimedLock,
    /// `pthread_mutex_clocklock(3)`.
    ClockLock,
    /// `pthread_mutex_unlock(3)`.
    Unlock,
    /// `pthread_mutex_destroy(3)`.
    DestroyMutex,
    /// `pthread_rwlock_rdlock(3)`.
    ReadLock,
    /// `pthread_rwlock_tryrdlock(3)`.
    TryReadLock,
    /// `pthread_rwlock_timedrdlock(3)`.
    TimedReadLock,
    /// `pthread_rwlock_wrlock(3)`.
    WriteLock,
    /// `pthread_rwlock_trywrlock(3)`.
    TryWriteLock,
    /// `pthread_rwlock_timedwrlock(3)`.
    TimedWriteLock,
    /// `pthread_rwlock_clockrdlock(3)`.
    ClockReadLock,
    /// `pthread_rwlock_clockwrlock(3)`.
    ClockWriteLock,
    /// `pthread_rwlock_unlock(3)`.
    UnlockBoth,
    /// `pthread_spin_lock(3)`.
    SpinLock,
    /// `pthread_spin_trylock(3)`.
    SpinTryLock,
    /// `pthread_spin_unlock(3)`.
    SpinUnlock,
    /// `pthread_cond_wait(3)`.
    Wait,
    /// `pthread_cond_timedwait(3)`.
    TimedWait,
    /// `pthread_cond_clockwait(3)`.
    ClockWait,
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
    /// `sem_trywait(3)`.
    SemaphoreTryWait,
    /// `sem_timedwait(3)`.
    SemaphoreTimedWait,
    /// `sem_clockwait(3)`.
    SemaphoreClockWait,
    /// `sem_post(3)`.
    SemaphorePost,
    /// `pthread_join(3)`: executed as a whole once the other thread has ended.
    Join,
    /// `pthread_tryjoin_np(3)`.
    TryJoin,
    /// `pthread_timedjoin_np(3)`.
    TimedJoin,
    /// `pthread_clockjoin_np(3)`.
    ClockJoin,
    /// `pthread_once(3)`.
    Once,
    /// `pthread_cancel(3)`.
    Cancel,
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
    /// Where the start routine of a thread returns to.
    Return,
    /// A function that registers a callback for the end of a thread, in its argument of this number.
    Registers(u8),
    /// `__sigsetjmp`: it marks where an ending thread returns to the program, to clean up.
    Landing,
    /// Where such a thread returns to.
    Landed,
    /// A callback: a function of the program that the library calls.
    Callback,
    /// Where a callback returns to, or the library function that called it.
    Back,
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

impl Function {
    /// Whether it is summarised as a synchronising operation, which may block.
    #[must_use]
    pub fn synchronises(self) -> bool {
        !matches!(
            self,
            Self::CancelState
                | Self::TestCancel
                | Self::Whole(_)
                | Self::Allocate(_)
                | Self::Abort
                | Self::AssertFail
                | Self::StartMain
                | Self::Begin
                | Self::Return
                | Self::Registers(_)
                | Self::Landing
                | Self::Landed
                | Self::Callback
                | Self::Back
        )
    }

    /// Whether it operates on a read-write lock.
    #[must_use]
    pub fn is_of_both(self) -> bool {
        use Function as F;
        let reads = matches!(self, F::ReadLock | F::TryReadLock | F::TimedReadLock | F::ClockReadLock);
        let writes = matches!(self, F::WriteLock | F::TryWriteLock | F::TimedWriteLock | F::ClockWriteLock);
        reads || writes || self == F::UnlockBoth
    }

    /// Whether it operates on a lock that can be held exclusively.
    #[must_use]
    pub fn is_of_locks(self) -> bool {
        use Function as F;
        let takes = matches!(self, F::Lock | F::TryLock | F::TryMtx | F::TimedLock | F::ClockLock);
        let spins = matches!(self, F::SpinLock | F::SpinTryLock | F::SpinUnlock);
        let waits = matches!(self, F::Wait | F::TimedWait | F::ClockWait);
        takes || spins || waits || self.is_of_both() || matches!(self, F::Unlock | F::DestroyMutex)
    }

    /// How it is executed, for documentation.
    #[must_use]
    pub fn manner(self) -> &'static str {
        match self {
            Self::Allocate(Allocation::Statistics) => "refused",
            Self::Allocate(_) => "at once, from an arena of the thread",
            Self::Once => "one step up to the function that it calls, one behind it",
            Self::Whole(Whole::EndThread | Whole::EndProcess) => {
                "the last step, but for functions that are called then"
            }
            Self::Whole(_) | Self::Cancel => "one step, in which the library's own code is executed",
            Self::AssertFail => "ends the schedule",
            function if function.synchronises() => "one step with its specified meaning",
            _ => "executed as it stands, and watched",
        }
    }

    /// Whether it joins a thread.
    #[must_use]
    pub fn joins(self) -> bool {
        matches!(self, Self::Join | Self::TryJoin | Self::TimedJoin | Self::ClockJoin)
    }

    /// Whether it is a cancellation point in which threads wait (`pthreads(7)`).
    #[must_use]
    pub fn is_cancellation_point(self) -> bool {
        use Function as F;
        matches!(
            self,
            F::Wait
                | F::TimedWait
                | F::ClockWait
                | F::SemaphoreWait
                | F::SemaphoreTimedWait
                | F::SemaphoreClockWait
                | F::Join
                | F::TimedJoin
                | F::ClockJoin
        )
    }

    /// Its name in the library.
    #[must_use]
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("?", |(name, _)| name)
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

use super::Allocation;
use crate::system::overlay::Phase;
use Allocation as A;
use Function as F;

/// Names and meanings.
pub const FUNCTIONS: &[(&str, Function)] = &[
    ("pthread_mutex_lock", F::Lock),
    ("mtx_lock", F::Lock),
    ("pthread_mutex_trylock", F::TryLock),
    ("mtx_trylock", F::TryMtx),
    ("pthread_mutex_timedlock", F::TimedLock),
    ("pthread_mutex_clocklock", F::ClockLock),
    ("pthread_mutex_unlock", F::Unlock),
    ("pthread_mutex_destroy", F::DestroyMutex),
    ("pthread_rwlock_rdlock", F::ReadLock),
    ("pthread_rwlock_tryrdlock", F::TryReadLock),
    ("pthread_rwlock_timedrdlock", F::TimedReadLock),
    ("pthread_rwlock_wrlock", F::WriteLock),
    ("pthread_rwlock_trywrlock", F::TryWriteLock),
    ("pthread_rwlock_timedwrlock", F::TimedWriteLock),
    ("pthread_rwlock_clockrdlock", F::ClockReadLock),
    ("pthread_rwlock_clockwrlock", F::ClockWriteLock),
    ("pthread_rwlock_unlock", F::UnlockBoth),
    ("pthread_spin_lock", F::SpinLock),
    ("pthread_spin_trylock", F::SpinTryLock),
    ("pthread_spin_unlock", F::SpinUnlock),
    ("pthread_cond_wait", F::Wait),
    ("pthread_cond_timedwait", F::TimedWait),
    ("pthread_cond_clockwait", F::ClockWait),
    ("pthread_cond_signal", F::Signal),
    ("cnd_signal", F::Signal),
    ("pthread_cond_broadcast", F::Broadcast),
    ("cnd_broadcast", F::Broadcast),
    ("pthread_cond_destroy", F::DestroyCondition),
    ("pthread_barrier_wait", F::BarrierWait),
    ("sem_wait", F::SemaphoreWait),
    ("sem_trywait", F::SemaphoreTryWait),
    ("sem_timedwait", F::SemaphoreTimedWait),
    ("sem_clockwait", F::SemaphoreClockWait),
    ("sem_post", F::SemaphorePost),
    ("pthread_join", F::Join),
    ("thrd_join", F::Join),
    ("pthread_tryjoin_np", F::TryJoin),
    ("pthread_timedjoin_np", F::TimedJoin),
    ("pthread_clockjoin_np", F::ClockJoin),
    ("pthread_once", F::Once),
    ("pthread_cancel", F::Cancel),
    ("pthread_setcancelstate", F::CancelState),
    ("pthread_testcancel", F::TestCancel),
    ("pthread_detach", F::Whole(Whole::Detach)),
    ("pthread_key_create", F::Registers(1)),
    ("tss_create", F::Registers(1)),
    ("__cxa_thread_atexit_impl", F::Registers(0)),
    ("_pthread_cleanup_push", F::Registers(1)),
    ("__sigsetjmp", F::Landing),
    ("pthread_create", F::Whole(Whole::Create)),
    ("pthread_exit", F::Whole(Whole::EndThread)),
    ("__pthread_unwind_next", F::Whole(Whole::EndThread)),
    ("exit", F::Whole(Whole::EndProcess)),
    ("malloc", F::Allocate(A::Malloc)),
    ("calloc", F::Allocate(A::Calloc)),
    ("realloc", F::Allocate(A::Realloc)),
    ("free", F::Allocate(A::Free)),
    ("posix_memalign", F::Allocate(A::PosixMemalign)),
    ("aligned_alloc", F::Allocate(A::AlignedAlloc)),
    ("memalign", F::Allocate(A::Memalign)),
    ("valloc", F::Allocate(A::Valloc)),
    ("pvalloc", F::Allocate(A::Pvalloc)),
    ("malloc_usable_size", F::Allocate(A::UsableSize)),
    ("mallinfo", F::Allocate(A::Statistics)),
    ("mallinfo2", F::Allocate(A::Statistics)),
    ("malloc_info", F::Allocate(A::Statistics)),
    ("malloc_stats", F::Allocate(A::Statistics)),
    ("abort", F::Abort),
    ("printf", F::Whole(Whole::Stdio)),
    ("fprintf", F::Whole(Whole::Stdio)),
    ("vprintf", F::Whole(Whole::Stdio)),
    ("vfprintf", F::Whole(Whole::Stdio)),
    ("__printf_chk", F::Whole(Whole::Stdio)),
    ("__fprintf_chk", F::Whole(Whole::Stdio)),
    ("__vprintf_chk", F::Whole(Whole::Stdio)),
    ("__vfprintf_chk", F::Whole(Whole::Stdio)),
    ("puts", F::Whole(Whole::Stdio)),
    ("putchar", F::Whole(Whole::Stdio)),
    ("fputs", F::Whole(Whole::Stdio)),
    ("fputc", F::Whole(Whole::Stdio)),
    ("putc", F::Whole(Whole::Stdio)),
    ("fwrite", F::Whole(Whole::Stdio)),
    ("fread", F::Whole(Whole::Stdio)),
    ("fgets", F::Whole(Whole::Stdio)),
    ("fgetc", F::Whole(Whole::Stdio)),
    ("getc", F::Whole(Whole::Stdio)),
    ("getchar", F::Whole(Whole::Stdio)),
    ("getline", F::Whole(Whole::Stdio)),
    ("fflush", F::Whole(Whole::Stdio)),
    ("fopen", F::Whole(Whole::Stdio)),
    ("fdopen", F::Whole(Whole::Stdio)),
    ("fclose", F::Whole(Whole::Stdio)),
    ("fseek", F::Whole(Whole::Stdio)),
    ("perror", F::Whole(Whole::Stdio)),
    ("setvbuf", F::Whole(Whole::Stdio)),
    ("__assert_fail", F::AssertFail),
    ("__libc_start_main", F::StartMain),
];
