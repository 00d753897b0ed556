//! The table of summarised functions: one row for each, with everything that is said of it.
//!
//! A function is added here and, if it does something new, in [`super::operation`] and [`super::act`]; no list of names is
//! kept anywhere else. `docs/libc.md` is generated from the rows.

use super::Allocation as A;
use super::functions::{ClockOf, Does, Function, Limit, Synchronising, Whole};
use trace::Verb;

const EAGAIN: u64 = 11;
const EBUSY: u64 = 16;
/// `thrd_busy` of C11.
const THREAD_BUSY: u64 = 1;

/// A summarised function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Its names in libraries; the first one is what it is called.
    pub names: &'static [&'static str],
    /// What it is.
    pub function: Function,
    /// How it is executed.
    pub manner: Manner,
    /// What narration tells of it.
    pub narration: Narration,
    /// In which files it is recognised.
    pub recognised: Recognised,
}

/// In which files a function is recognised, by parts of their symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recognised {
    /// In all that have it.
    Always,
    /// Where there is one of these, too: without it, code of the program may be a part of the function.
    With(&'static [&'static str]),
    /// Where there is none of these: what they stand for notices more than the function's meaning.
    Without(&'static [&'static str]),
}

/// How a function is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// Its specified meaning, instead of its code.
    Step,
    /// The same, but for a function of the program that it calls.
    StepAroundCallback,
    /// Its own code, in one step.
    Whole,
    /// Its own code, in the last step of a thread or a process.
    Last,
    /// Memory comes from an arena of the thread.
    Arena,
    /// Not at all: what it tells has no meaning here.
    Refused,
    /// Not at all: it only takes time.
    LeftOut,
    /// It ends the schedule.
    EndsSchedule,
    /// Its own code, instruction by instruction.
    Watched,
    /// Its own code, in the first and the last step of a thread.
    Starts,
}

/// What narration tells of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Narration {
    /// Nothing.
    Silent,
    /// What it does to the variable that its first argument points to.
    Variable(Verb),
    /// What it does to the thread that its first argument names.
    Thread(Verb),
    /// A thread is made, for the function in its third argument.
    CreateThread,
    /// The thread ends itself.
    ExitThread,
    /// The process ends itself, with its first argument as exit code.
    ExitProcess,
    /// An assertion fails.
    Assertion,
}

impl Manner {
    /// In words, for documentation.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Step => "one step with its specified meaning",
            Self::StepAroundCallback => "one step up to the function that it calls, one behind it",
            Self::Whole => "one step, in which the library's own code is executed",
            Self::Last => "the last step, but for functions that are called then",
            Self::Arena => "at once, from an arena of the thread",
            Self::Refused => "refused",
            Self::LeftOut => "left out: it only takes time",
            Self::EndsSchedule => "ends the schedule",
            Self::Watched => "executed as it stands, and watched",
            Self::Starts => "the first and the last step of a thread, but for the function that it calls",
        }
    }
}

impl Function {
    /// Its row; none for what is not a function, but an address at which threads stop.
    #[must_use]
    pub fn row(self) -> Option<&'static Row> {
        FUNCTIONS.iter().find(|row| row.function == self)
    }

    /// Its name in the library.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("?", |row| row.names[0])
    }
}

impl Row {
    const fn new(names: &'static [&'static str], function: Function, manner: Manner) -> Self {
        Self { names, function, manner, narration: Narration::Silent, recognised: Recognised::Always }
    }

    /// A synchronising function that waits as long as it takes, if it waits.
    const fn step(names: &'static [&'static str], does: Does, narration: Narration) -> Self {
        let row = Self::new(names, Function::Synchronising(Synchronising::of(does)), Manner::Step);
        row.told(narration)
    }

    const fn whole(names: &'static [&'static str], whole: Whole) -> Self {
        Self::new(names, Function::Whole(whole), Manner::Whole)
    }

    const fn allocates(names: &'static [&'static str], asked: A) -> Self {
        Self::new(names, Function::Allocate(asked), Manner::Arena)
    }

    const fn watched(names: &'static [&'static str], function: Function) -> Self {
        Self::new(names, function, Manner::Watched)
    }

    const fn told(mut self, narration: Narration) -> Self {
        self.narration = narration;
        self
    }

    const fn recognised(mut self, recognised: Recognised) -> Self {
        self.recognised = recognised;
        self
    }

    const fn by(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }

    /// The same, but for when it gives up.
    const fn limited(mut self, limit: Limit) -> Self {
        if let Function::Synchronising(function) = self.function {
            self.function = Function::Synchronising(Synchronising { limit, ..function });
        }
        self
    }

    const fn tries(self, busy: u64) -> Self {
        self.limited(Limit::Tries(busy))
    }

    const fn until(self, clock: ClockOf, time: u8) -> Self {
        self.limited(Limit::Until(clock, time))
    }

    /// A cancellation point in which threads wait.
    const fn cancellable(mut self) -> Self {
        if let Function::Synchronising(function) = self.function {
            self.function = Function::Synchronising(Synchronising { is_cancellation_point: true, ..function });
        }
        self
    }
}

impl Synchronising {
    const fn of(does: Does) -> Self {
        Self { does, limit: Limit::Never, is_cancellation_point: false }
    }
}

use ClockOf::{Argument, Condition, RealTime};
use Does as D;
use Function as F;
use Narration::{Thread, Variable};

/// All rows. The order is that of the documentation; where two names have one address, the later row counts.
pub const FUNCTIONS: &[Row] = &[
    Row::step(&["pthread_mutex_lock", "mtx_lock"], D::Lock, Variable(Verb::Lock)),
    Row::step(&["pthread_mutex_trylock"], D::Lock, Variable(Verb::TryLock)).tries(EBUSY),
    Row::step(&["mtx_trylock"], D::Lock, Variable(Verb::TryLock)).tries(THREAD_BUSY),
    Row::step(&["pthread_mutex_timedlock"], D::Lock, Variable(Verb::Lock)).until(RealTime, 1),
    Row::step(&["pthread_mutex_clocklock"], D::Lock, Variable(Verb::Lock)).until(Argument(1), 2),
    Row::step(&["pthread_mutex_unlock"], D::Unlock, Variable(Verb::Unlock)),
    Row::step(&["pthread_mutex_destroy"], D::DestroyMutex, Variable(Verb::Destroy)),
    Row::step(&["pthread_rwlock_rdlock"], D::ReadLock, Variable(Verb::ReadLock)),
    Row::step(&["pthread_rwlock_tryrdlock"], D::ReadLock, Variable(Verb::TryReadLock)).tries(EBUSY),
    Row::step(&["pthread_rwlock_timedrdlock"], D::ReadLock, Variable(Verb::ReadLock)).until(RealTime, 1),
    Row::step(&["pthread_rwlock_wrlock"], D::WriteLock, Variable(Verb::WriteLock)),
    Row::step(&["pthread_rwlock_trywrlock"], D::WriteLock, Variable(Verb::TryWriteLock)).tries(EBUSY),
    Row::step(&["pthread_rwlock_timedwrlock"], D::WriteLock, Variable(Verb::WriteLock)).until(RealTime, 1),
    Row::step(&["pthread_rwlock_clockrdlock"], D::ReadLock, Variable(Verb::ReadLock)).until(Argument(1), 2),
    Row::step(&["pthread_rwlock_clockwrlock"], D::WriteLock, Variable(Verb::WriteLock)).until(Argument(1), 2),
    Row::step(&["pthread_rwlock_unlock"], D::UnlockBoth, Variable(Verb::Unlock)),
    Row::step(&["pthread_spin_lock"], D::SpinLock, Variable(Verb::Lock)),
    Row::step(&["pthread_spin_trylock"], D::SpinLock, Variable(Verb::TryLock)).tries(EBUSY),
    Row::step(&["pthread_spin_unlock"], D::SpinUnlock, Variable(Verb::Unlock)),
    Row::step(&["std::sys::sync::mutex::futex::Mutex::lock_contended"], D::RustLock, Variable(Verb::Lock)),
    Row::step(&["parking_lot::raw_mutex::RawMutex::lock_slow"], D::ParkingLock, Variable(Verb::Lock))
        .recognised(Recognised::Without(NOTES_WAITERS)),
    Row::step(&["pthread_cond_wait"], D::Wait, Variable(Verb::Sleep)).cancellable(),
    Row::step(&["pthread_cond_timedwait"], D::Wait, Variable(Verb::Sleep)).until(Condition, 2).cancellable(),
    Row::step(&["pthread_cond_clockwait"], D::Wait, Variable(Verb::Sleep)).until(Argument(2), 3).cancellable(),
    Row::step(&["pthread_cond_signal", "cnd_signal"], D::Signal, Variable(Verb::Signal)),
    Row::step(&["pthread_cond_broadcast", "cnd_broadcast"], D::Broadcast, Variable(Verb::Broadcast)),
    Row::step(&["pthread_cond_destroy"], D::DestroyCondition, Variable(Verb::Destroy)),
    Row::step(&["pthread_barrier_wait"], D::BarrierWait, Variable(Verb::Arrive)),
    Row::step(&["sem_wait"], D::SemaphoreWait, Variable(Verb::Take)).cancellable(),
    Row::step(&["sem_trywait"], D::SemaphoreWait, Variable(Verb::TryTake)).tries(EAGAIN),
    Row::step(&["sem_timedwait"], D::SemaphoreWait, Variable(Verb::Take)).until(RealTime, 1).cancellable(),
    Row::step(&["sem_clockwait"], D::SemaphoreWait, Variable(Verb::Take)).until(Argument(1), 2).cancellable(),
    Row::step(&["sem_post"], D::SemaphorePost, Variable(Verb::Give)),
    Row::step(&["pthread_join", "thrd_join"], D::Join, Thread(Verb::Join)).cancellable(),
    Row::step(&["pthread_tryjoin_np"], D::Join, Thread(Verb::TryJoin)).tries(EBUSY),
    Row::step(&["pthread_timedjoin_np"], D::Join, Thread(Verb::Join)).until(RealTime, 2).cancellable(),
    Row::step(&["pthread_clockjoin_np"], D::Join, Thread(Verb::Join)).until(Argument(2), 3).cancellable(),
    Row::step(&["pthread_once"], D::Once, Variable(Verb::Once)).by(Manner::StepAroundCallback),
    Row::step(&["pthread_cancel"], D::Cancel, Thread(Verb::Cancel)).by(Manner::Whole),
    Row::watched(&["pthread_setcancelstate"], F::CancelState),
    Row::watched(&["pthread_testcancel"], F::TestCancel),
    Row::whole(&["pthread_detach"], Whole::Detach).told(Thread(Verb::Detach)),
    Row::watched(&["pthread_key_create", "tss_create"], F::Registers(1)),
    Row::watched(&["__cxa_thread_atexit_impl"], F::Registers(0)),
    Row::watched(&["_pthread_cleanup_push"], F::Registers(1)),
    Row::watched(&["__sigsetjmp"], F::Landing),
    Row::whole(&["pthread_create"], Whole::Create).told(Narration::CreateThread),
    Row::whole(&["pthread_exit", "__pthread_unwind_next"], Whole::EndThread)
        .by(Manner::Last)
        .told(Narration::ExitThread),
    Row::whole(&["exit"], Whole::EndProcess).by(Manner::Last).told(Narration::ExitProcess),
    Row::watched(RUST_START, F::LibraryStart).by(Manner::Starts).recognised(Recognised::With(OWN_ALLOCATOR)),
    Row::watched(&["std::sys::backtrace::__rust_begin_short_backtrace"], F::Begin),
    Row::new(RUST_DELAYS, F::Delay, Manner::LeftOut),
    Row::allocates(&["malloc"], A::Malloc),
    Row::allocates(&["calloc"], A::Calloc),
    Row::allocates(&["realloc"], A::Realloc).told(Variable(Verb::Free)),
    Row::allocates(&["free"], A::Free).told(Variable(Verb::Free)),
    Row::allocates(&["posix_memalign"], A::PosixMemalign),
    Row::allocates(&["aligned_alloc"], A::AlignedAlloc),
    Row::allocates(&["memalign"], A::Memalign),
    Row::allocates(&["valloc"], A::Valloc),
    Row::allocates(&["pvalloc"], A::Pvalloc),
    Row::allocates(&["malloc_usable_size"], A::UsableSize),
    Row::allocates(&["mallinfo", "mallinfo2", "malloc_info", "malloc_stats"], A::Statistics).by(Manner::Refused),
    Row::watched(&["abort"], F::Abort),
    Row::whole(STDIO, Whole::Stdio),
    Row::new(&["__assert_fail"], F::AssertFail, Manner::EndsSchedule).told(Narration::Assertion),
    Row::watched(&["__libc_start_main"], F::StartMain),
];

/// The allocator of Rust's standard library: a program's own one would be used where threads come and go.
const OWN_ALLOCATOR: &[&str] = &["__rdl_alloc"];

/// Parts of `parking_lot` that ask whether somebody is parked: `MutexGuard::bump`, and its search for deadlocks.
const NOTES_WAITERS: &[&str] = &["RawMutex9bump_slow", "deadlock_impl"];

/// What channels of Rust's standard library do between two attempts. Nobody asks how often they were called.
const RUST_DELAYS: &[&str] =
    &["std::sync::mpmc::utils::Backoff::spin_heavy", "std::sync::mpmc::utils::Backoff::spin_light"];

/// The function in which all threads of Rust's standard library start; it has moved.
const RUST_START: &[&str] =
    &["std::sys::thread::unix::Thread::new::thread_start", "std::sys::pal::unix::thread::Thread::new::thread_start"];

/// Standard input and output.
const STDIO: &[&str] = &[
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "__printf_chk",
    "__fprintf_chk",
    "__vprintf_chk",
    "__vfprintf_chk",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "putc",
    "fwrite",
    "fread",
    "fgets",
    "fgetc",
    "getc",
    "getchar",
    "getline",
    "fflush",
    "fopen",
    "fdopen",
    "fclose",
    "fseek",
    "perror",
    "setvbuf",
];
