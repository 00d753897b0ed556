//! The meaning of synchronising functions: when they can go on, what they touch, what they do.

use super::functions::{Function, Whole};
use super::layout::{Flavour, MutexLayout};
use super::{Asleep, Library, Member};
use crate::check::touch::{self, Kind};
use explore::graph::Touch;
use kernel::map::Map;
use kernel::{Kernel, Tid};
use memory::{Memory, SpaceId};
use x86::Cpu;

const EPERM: u64 = 1;
const EBUSY: u64 = 16;
const EDEADLK: u64 = 35;
const ETIMEDOUT: u64 = 110;
/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL_THREAD: u64 = 0xffff_ffff;

/// What an operation looks at.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// All memory.
    pub memory: &'a Memory,
    /// All registers.
    pub cpus: &'a Map<Tid, Cpu>,
    /// Who sleeps, who holds what.
    pub library: &'a Library,
}

/// A thread at the beginning of a synchronising function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The function.
    pub function: Function,
    /// Of which library.
    pub flavour: Flavour,
    /// Who called it.
    pub tid: Tid,
    /// In which address space.
    pub space: SpaceId,
    /// Its arguments.
    pub args: [u64; 4],
    /// Its stack pointer.
    pub stack_pointer: u64,
    /// Whether the one who is woken by a signal is a choice.
    pub any_sleeper: bool,
}

/// What came of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// The function returns this.
    Returned(u64),
    /// The function returns this, and an exclusive lock is held now.
    Acquired(u64),
    /// The thread sleeps inside.
    Sleeps,
    /// The library's own code is to be carried out as a whole.
    Whole(Whole),
    /// The library's own code is to be executed, instruction by instruction: a kind of lock that is not summarised.
    Unsummarised,
    /// The function returns this, and is not used as it may be.
    Misused(u64, &'static str),
}

/// How a mutex looks to a thread.
enum Mutex {
    Free,
    Mine { recursive: bool, checked: bool },
    Others,
    Special,
}

impl Operation {
    fn object(&self, seen: Seen<'_>, address: u64, kind: Kind) -> u64 {
        touch::word(seen.memory, self.space, address, true, kind).object
    }

    fn u32(&self, seen: Seen<'_>, address: u64) -> u32 {
        let mut bytes = [0; 4];
        let _ = seen.memory.peek(self.space, address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn u64(&self, seen: Seen<'_>, address: u64) -> u64 {
        u64::from(self.u32(seen, address)) | u64::from(self.u32(seen, address + 4)) << 32
    }

    /// The lock that the function is about.
    fn lock_address(&self) -> u64 {
        match self.function {
            Function::Wait | Function::TimedWait | Function::ClockWait => self.args[1],
            _ => self.args[0],
        }
    }

    fn mutex(&self, seen: Seen<'_>) -> Mutex {
        let (at, layout) = (self.lock_address(), self.flavour.mutex());
        let kind = self.u32(seen, at + layout.kind);
        if kind & layout.special != 0 {
            return Mutex::Special;
        }
        if self.u32(seen, at + layout.lock) == 0 {
            return Mutex::Free;
        }
        if self.u32(seen, at + layout.owner) == self.tid.0 {
            return Mutex::Mine { recursive: kind & 3 == 1, checked: kind & 3 == 2 };
        }
        Mutex::Others
    }

    fn member<'a>(&self, seen: Seen<'a>) -> Option<&'a Member> {
        seen.library.member(self.tid)
    }

    /// How the caller sleeps in this very call.
    fn asleep(&self, seen: Seen<'_>) -> Option<Asleep> {
        self.member(seen)?.asleep.filter(|asleep| asleep.stack_pointer == self.stack_pointer)
    }

    /// When the call gives up, on the monotonic clock.
    #[must_use]
    pub fn deadline(&self, seen: Seen<'_>) -> Option<u64> {
        const CLOCK_MONOTONIC: u64 = 1;
        let (clock, address) = match self.function {
            Function::TimedLock | Function::TimedReadLock | Function::TimedWriteLock | Function::SemaphoreTimedWait => {
                (0, self.args[1])
            }
            Function::ClockLock | Function::SemaphoreClockWait => (self.args[1], self.args[2]),
            Function::TimedWait => (self.condition_clock(seen), self.args[2]),
            Function::ClockWait => (self.args[2], self.args[3]),
            _ => return None,
        };
        let at = self.u64(seen, address).saturating_mul(1_000_000_000).saturating_add(self.u64(seen, address + 8));
        let clocks = &seen.kernel.clock;
        Some(if clock == CLOCK_MONOTONIC { at } else { at.saturating_sub(clocks.real() - clocks.now()) })
    }

    /// The clock that a condition variable was made for (`pthread_condattr_setclock(3)`).
    fn condition_clock(&self, seen: Seen<'_>) -> u64 {
        match self.flavour {
            Flavour::Glibc => u64::from(self.u32(seen, self.args[0] + 36) >> 1 & 1),
            Flavour::Musl => u64::from(self.u32(seen, self.args[0] + 16)),
        }
    }

    fn is_late(&self, seen: Seen<'_>) -> bool {
        self.deadline(seen).is_some_and(|deadline| seen.kernel.clock.now() >= deadline)
    }

    /// How many ways the function can go on; 0 if it waits.
    #[must_use]
    pub fn choices(&self, seen: Seen<'_>) -> u32 {
        use Function as F;
        let can = match self.function {
            F::Lock | F::TimedLock | F::ClockLock => {
                let stuck =
                    matches!(self.mutex(seen), Mutex::Others | Mutex::Mine { recursive: false, checked: false });
                !stuck || self.is_late(seen)
            }
            F::ReadLock | F::TimedReadLock => {
                self.u32(seen, self.args[0] + 4) == 0 || self.is_late(seen) || self.deadlocks(seen)
            }
            F::WriteLock | F::TimedWriteLock => {
                self.u64(seen, self.args[0]) == 0 || self.is_late(seen) || self.deadlocks(seen)
            }
            F::SpinLock => self.u32(seen, self.args[0]) == self.flavour.free_spin_lock(),
            F::Wait | F::TimedWait | F::ClockWait => match self.asleep(seen) {
                None => true,
                Some(asleep) => {
                    (asleep.woken || self.is_late(seen)) && matches!(self.mutex(seen), Mutex::Free | Mutex::Special)
                }
            },
            F::BarrierWait => self.asleep(seen).is_none_or(|asleep| asleep.woken),
            F::SemaphoreWait => self.u32(seen, self.args[0]) != 0,
            F::SemaphoreTimedWait | F::SemaphoreClockWait => self.u32(seen, self.args[0]) != 0 || self.is_late(seen),
            F::Join => self.joined(seen).is_none(),
            F::Signal if self.any_sleeper => return (self.sleepers(seen).len() as u32).max(1),
            _ => true,
        };
        u32::from(can)
    }

    /// Whether a lock for readers and writers is wanted by its own writer, who is told so by glibc.
    fn deadlocks(&self, seen: Seen<'_>) -> bool {
        let only_tries = matches!(self.function, Function::TryReadLock | Function::TryWriteLock);
        !only_tries && self.flavour == Flavour::Glibc && self.u32(seen, self.args[0] + 4) == self.tid.0
    }

    fn sleepers(&self, seen: Seen<'_>) -> Vec<Tid> {
        seen.library.sleepers(self.object(seen, self.args[0], Kind::Condition))
    }

    /// The living thread that the caller wants to join: a `pthread_t` is the base of its thread's local storage.
    #[must_use]
    pub fn joined(&self, seen: Seen<'_>) -> Option<Tid> {
        let lives = |tid: &Tid| {
            let thread = seen.kernel.threads.get(tid);
            let process = thread.and_then(|thread| seen.kernel.processes.get(&thread.pid));
            process.is_some_and(|process| process.space == self.space)
        };
        let mut named = seen.cpus.iter().filter(|(tid, cpu)| cpu.fs_base == self.args[0] && lives(tid));
        named.next().map(|(tid, _)| *tid)
    }

    /// What the function touches next.
    #[must_use]
    pub fn touches(&self, seen: Seen<'_>) -> Vec<Touch> {
        use Function as F;
        let touch = |address, kind, write| Touch { object: self.object(seen, address, kind), write, plain: false };
        let first = self.args[0];
        match self.function {
            F::TryLock => vec![touch(first, Kind::Lock, matches!(self.mutex(seen), Mutex::Free))],
            F::ReadLock
            | F::TryReadLock
            | F::TimedReadLock
            | F::UnlockBoth
            | F::WriteLock
            | F::TryWriteLock
            | F::TimedWriteLock => self.touches_of_both(seen),
            F::SpinTryLock => vec![touch(first, Kind::Lock, self.u32(seen, first) == self.flavour.free_spin_lock())],
            F::Wait | F::TimedWait | F::ClockWait => {
                let mutex = touch(self.args[1], Kind::Lock, true);
                match self.asleep(seen) {
                    Some(asleep) if asleep.woken => vec![mutex],
                    _ => vec![mutex, touch(first, Kind::Condition, true)],
                }
            }
            F::Signal | F::Broadcast | F::DestroyCondition => vec![touch(first, Kind::Condition, true)],
            F::BarrierWait => vec![touch(first, Kind::Condition, self.asleep(seen).is_none())],
            F::SemaphoreTryWait => vec![touch(first, Kind::Lock, self.u32(seen, first) != 0)],
            F::Join => vec![Touch { object: thread(self.space, first), write: false, plain: false }],
            F::Whole(_) | F::Allocate(_) | F::Abort | F::AssertFail | F::StartMain | F::Begin | F::Return => Vec::new(),
            _ => vec![touch(first, Kind::Lock, true)],
        }
    }

    /// What functions on a lock for readers and writers touch.
    ///
    /// Readers do not keep each other from anything, but they keep writers out and let them in again; so each reader has
    /// a part of its own, and writers look at all parts. Threads share a few: what a writer touches is always the same.
    fn touches_of_both(&self, seen: Seen<'_>) -> Vec<Touch> {
        use Function as F;
        const PARTS: u32 = 8;
        let lock = self.object(seen, self.args[0], Kind::Lock);
        let whole = |write| Touch { object: lock, write, plain: false };
        let part = |part: u32, write| Touch {
            object: touch::object(Kind::Lock, lock, u64::from(1 + part)),
            write,
            plain: false,
        };
        let own = part(self.tid.0 % PARTS, true);
        let everything = |write| [whole(true)].into_iter().chain((0..PARTS).map(move |number| part(number, write)));
        let shares = self.member(seen).is_some_and(|member| member.shares.contains(&lock));
        let has_writer = self.u32(seen, self.args[0] + 4) != 0;
        match self.function {
            F::TryReadLock if has_writer => vec![whole(false)],
            F::ReadLock | F::TryReadLock | F::TimedReadLock => vec![whole(false), own],
            F::UnlockBoth if has_writer => vec![whole(true)],
            F::UnlockBoth if shares => vec![own],
            F::UnlockBoth => everything(true).collect(),
            F::TryWriteLock if self.u64(seen, self.args[0]) != 0 => {
                [whole(false)].into_iter().chain(everything(false).skip(1)).collect()
            }
            _ => everything(false).collect(),
        }
    }

    /// What has to change before the function can go on.
    #[must_use]
    pub fn awaits(&self, seen: Seen<'_>) -> Vec<u64> {
        match (self.function, self.asleep(seen)) {
            (Function::Wait | Function::TimedWait | Function::ClockWait, Some(asleep))
                if !asleep.woken && !self.is_late(seen) =>
            {
                vec![asleep.object]
            }
            _ => self.touches(seen).into_iter().map(|touch| touch.object).collect(),
        }
    }

    /// The exclusive lock that the function takes, whenever it goes on. Whoever gives up in time may go on without it.
    #[must_use]
    pub fn takes(&self, seen: Seen<'_>) -> Option<u64> {
        use Function as F;
        let gives_up = matches!(self.function, F::TimedLock | F::ClockLock | F::TimedWriteLock);
        self.wants(seen).filter(|_| !gives_up)
    }

    /// The exclusive lock that the function takes if it can.
    fn wants(&self, seen: Seen<'_>) -> Option<u64> {
        use Function as F;
        let is_lock = match self.function {
            F::Lock | F::TimedLock | F::ClockLock | F::WriteLock | F::TimedWriteLock | F::SpinLock => true,
            F::Wait | F::TimedWait | F::ClockWait => self.asleep(seen).is_some(),
            _ => false,
        };
        is_lock.then(|| self.object(seen, self.lock_address(), Kind::Lock))
    }

    /// Who must move before the function can go on, if that is known.
    #[must_use]
    pub fn behind(&self, seen: Seen<'_>) -> Option<Tid> {
        if self.function == Function::Join {
            return self.joined(seen);
        }
        if self.asleep(seen).is_some_and(|asleep| !asleep.woken) {
            return None;
        }
        seen.library.holder(self.wants(seen)?)
    }

    /// Goes on, the `index`-th way.
    pub fn perform(
        &self,
        kernel: &Kernel,
        memory: &mut Memory,
        cpus: &Map<Tid, Cpu>,
        library: &mut Library,
        index: u32,
    ) -> Done {
        use Function as F;
        let mut act = Act { operation: self, kernel, memory, cpus, library };
        match self.function {
            F::Lock | F::TimedLock | F::ClockLock => act.lock(false),
            F::TryLock => act.lock(true),
            F::Unlock => act.unlock(),
            F::DestroyMutex => act.destroy_mutex(),
            F::ReadLock | F::TimedReadLock => act.read_lock(ETIMEDOUT),
            F::TryReadLock => act.read_lock(EBUSY),
            F::WriteLock | F::TimedWriteLock => act.write_lock(ETIMEDOUT),
            F::TryWriteLock => act.write_lock(EBUSY),
            F::UnlockBoth => act.unlock_both(),
            F::SpinLock | F::SpinTryLock => act.spin_lock(),
            F::SpinUnlock => act.spin_unlock(),
            F::Wait | F::TimedWait | F::ClockWait => act.wait(),
            F::Signal => act.signal(index),
            F::Broadcast => act.broadcast(),
            F::DestroyCondition => act.destroy_condition(),
            F::BarrierWait => act.barrier(),
            F::SemaphoreWait | F::SemaphoreTryWait | F::SemaphoreTimedWait | F::SemaphoreClockWait => act.take(),
            F::SemaphorePost => act.post(),
            F::Join => {
                act.library.join(self.space);
                Done::Whole(Whole::Join)
            }
            F::Whole(whole) => Done::Whole(whole),
            F::Allocate(_) | F::Abort | F::AssertFail | F::StartMain | F::Begin | F::Return => Done::Unsummarised,
        }
    }
}

/// A thread, for those who wait for its end.
#[must_use]
pub fn thread(space: SpaceId, base: u64) -> u64 {
    touch::object(Kind::Thread, space.0, base)
}

/// An operation in progress.
struct Act<'a> {
    operation: &'a Operation,
    kernel: &'a Kernel,
    memory: &'a mut Memory,
    cpus: &'a Map<Tid, Cpu>,
    library: &'a mut Library,
}

impl Act<'_> {
    fn seen(&self) -> Seen<'_> {
        Seen { kernel: self.kernel, memory: self.memory, cpus: self.cpus, library: self.library }
    }

    fn store(&mut self, address: u64, value: u32) {
        // A lock in memory that cannot be written is found out by whoever made it: `pthread_mutex_init(3)` writes it.
        let _ = self.memory.write(self.operation.space, address, &value.to_le_bytes());
    }

    fn load(&self, address: u64) -> u32 {
        self.operation.u32(self.seen(), address)
    }

    fn lock_object(&self) -> u64 {
        self.operation.object(self.seen(), self.operation.lock_address(), Kind::Lock)
    }

    fn hold(&mut self) {
        let object = self.lock_object();
        self.library.member_mut(self.operation.tid).hold(object);
    }

    fn release(&mut self) -> bool {
        let object = self.lock_object();
        self.library.member_mut(self.operation.tid).release(object)
    }

    fn layout(&self) -> (u64, MutexLayout) {
        (self.operation.lock_address(), self.operation.flavour.mutex())
    }

    fn is_recursive(&self) -> bool {
        let (at, layout) = self.layout();
        self.load(at + layout.kind) & 3 == 1
    }

    fn acquire(&mut self) {
        let (at, layout) = self.layout();
        let tid = self.operation.tid.0;
        self.store(at + layout.lock, 1);
        self.store(at + layout.owner, tid);
        if self.operation.flavour == Flavour::Glibc && self.is_recursive() {
            self.store(at + layout.count, 1);
        }
        self.hold();
    }

    fn give_up(&mut self) {
        let (at, layout) = self.layout();
        self.store(at + layout.count, 0);
        self.store(at + layout.owner, 0);
        self.store(at + layout.lock, 0);
        self.release();
    }

    fn lock(&mut self, only_tries: bool) -> Done {
        match self.operation.mutex(self.seen()) {
            Mutex::Special => Done::Unsummarised,
            Mutex::Free => {
                self.acquire();
                Done::Acquired(0)
            }
            Mutex::Mine { recursive: true, .. } => {
                let (at, layout) = self.layout();
                let count = self.load(at + layout.count);
                self.store(at + layout.count, count + 1);
                Done::Returned(0)
            }
            Mutex::Mine { checked: true, .. } if !only_tries => Done::Returned(EDEADLK),
            _ if only_tries => Done::Returned(EBUSY),
            _ => Done::Returned(ETIMEDOUT),
        }
    }

    fn unlock(&mut self) -> Done {
        let (at, layout) = self.layout();
        let first_of_recursive = if self.operation.flavour == Flavour::Glibc { 1 } else { 0 };
        match self.operation.mutex(self.seen()) {
            Mutex::Special => Done::Unsummarised,
            Mutex::Mine { recursive: true, .. } if self.load(at + layout.count) > first_of_recursive => {
                let count = self.load(at + layout.count);
                self.store(at + layout.count, count - 1);
                Done::Returned(0)
            }
            Mutex::Mine { .. } => {
                self.give_up();
                Done::Returned(0)
            }
            Mutex::Free => self.wrong_unlock("a mutex is unlocked that nobody holds"),
            Mutex::Others => self.wrong_unlock("a mutex is unlocked by a thread that does not hold it"),
        }
    }

    /// Kinds that check tell the caller; for others it is undefined, and the library unlocks.
    fn wrong_unlock(&mut self, what: &'static str) -> Done {
        let (at, layout) = self.layout();
        if matches!(self.load(at + layout.kind) & 3, 1 | 2) {
            return Done::Returned(EPERM);
        }
        let object = self.lock_object();
        if let Some(holder) = self.library.holder(object) {
            self.library.member_mut(holder).release(object);
        }
        self.give_up();
        Done::Misused(0, what)
    }

    fn destroy_mutex(&mut self) -> Done {
        match self.operation.mutex(self.seen()) {
            Mutex::Special => Done::Unsummarised,
            Mutex::Free => Done::Returned(0),
            _ => Done::Misused(EBUSY, "a mutex is destroyed while it is held"),
        }
    }

    fn read_lock(&mut self, otherwise: u64) -> Done {
        let at = self.operation.args[0];
        if self.load(at + 4) != 0 {
            return Done::Returned(if self.operation.deadlocks(self.seen()) { EDEADLK } else { otherwise });
        }
        let readers = self.load(at);
        self.store(at, readers + 1);
        let object = self.lock_object();
        self.library.member_mut(self.operation.tid).shares.push(object);
        Done::Returned(0)
    }

    fn write_lock(&mut self, otherwise: u64) -> Done {
        let at = self.operation.args[0];
        if self.operation.u64(self.seen(), at) != 0 {
            return Done::Returned(if self.operation.deadlocks(self.seen()) { EDEADLK } else { otherwise });
        }
        self.store(at + 4, self.operation.tid.0);
        self.hold();
        Done::Acquired(0)
    }

    fn unlock_both(&mut self) -> Done {
        let at = self.operation.args[0];
        let (readers, writer) = (self.load(at), self.load(at + 4));
        if writer == self.operation.tid.0 {
            self.store(at + 4, 0);
            self.release();
            return Done::Returned(0);
        }
        if readers == 0 {
            return Done::Misused(0, "a read-write lock is unlocked by a thread that does not hold it");
        }
        self.store(at, readers - 1);
        let object = self.lock_object();
        let shares = &mut self.library.member_mut(self.operation.tid).shares;
        if let Some(at) = shares.iter().rposition(|shared| *shared == object) {
            shares.remove(at);
        }
        Done::Returned(0)
    }

    fn spin_lock(&mut self) -> Done {
        let (at, free) = (self.operation.args[0], self.operation.flavour.free_spin_lock());
        if self.load(at) != free {
            return Done::Returned(EBUSY);
        }
        self.store(at, 1 - free);
        self.hold();
        Done::Acquired(0)
    }

    fn spin_unlock(&mut self) -> Done {
        self.store(self.operation.args[0], self.operation.flavour.free_spin_lock());
        let object = self.lock_object();
        let holder = self.library.holder(object);
        if let Some(holder) = holder {
            self.library.member_mut(holder).release(object);
        }
        // If nobody holds it, it may just be made: `pthread_spin_init(3)` is the same code in glibc.
        match holder.is_none_or(|holder| holder == self.operation.tid) {
            true => Done::Returned(0),
            false => Done::Misused(0, "a spin lock is unlocked by a thread that does not hold it"),
        }
    }

    fn sleep(&mut self, object: u64) -> Done {
        let stack_pointer = self.operation.stack_pointer;
        let member = self.library.member_mut(self.operation.tid);
        member.asleep = Some(Asleep { object, woken: false, stack_pointer });
        Done::Sleeps
    }

    /// The first time the mutex is given up and the thread sleeps; woken or late it takes the mutex and returns.
    fn wait(&mut self) -> Done {
        let condition = self.operation.object(self.seen(), self.operation.args[0], Kind::Condition);
        match (self.operation.asleep(self.seen()), self.operation.mutex(self.seen())) {
            (_, Mutex::Special) => Done::Unsummarised,
            (None, Mutex::Mine { .. }) => {
                self.give_up();
                self.sleep(condition)
            }
            (None, _) => Done::Misused(EPERM, "a thread waits at a condition without holding its mutex"),
            (Some(asleep), _) => {
                self.library.member_mut(self.operation.tid).asleep = None;
                self.acquire();
                Done::Acquired(if asleep.woken { 0 } else { ETIMEDOUT })
            }
        }
    }

    fn wake(&mut self, tid: Tid) {
        if let Some(asleep) = &mut self.library.member_mut(tid).asleep {
            asleep.woken = true;
        }
    }

    fn signal(&mut self, index: u32) -> Done {
        let sleepers = self.operation.sleepers(self.seen());
        if let Some(tid) = sleepers.get(index as usize) {
            self.wake(*tid);
        }
        Done::Returned(0)
    }

    fn broadcast(&mut self) -> Done {
        for tid in self.operation.sleepers(self.seen()) {
            self.wake(tid);
        }
        Done::Returned(0)
    }

    fn destroy_condition(&mut self) -> Done {
        match self.operation.sleepers(self.seen()).is_empty() {
            true => Done::Returned(0),
            false => Done::Misused(0, "a condition variable is destroyed while threads wait at it"),
        }
    }

    fn barrier(&mut self) -> Done {
        let object = self.operation.object(self.seen(), self.operation.args[0], Kind::Condition);
        if self.operation.asleep(self.seen()).is_some() {
            self.library.member_mut(self.operation.tid).asleep = None;
            return Done::Returned(0);
        }
        let sleepers = self.library.sleepers(object);
        let size = self.operation.flavour.barrier_size(self.load(self.operation.args[0] + 8));
        if (sleepers.len() as u32) + 1 < size {
            return self.sleep(object);
        }
        for tid in sleepers {
            self.wake(tid);
        }
        Done::Returned(SERIAL_THREAD)
    }

    fn take(&mut self) -> Done {
        let at = self.operation.args[0];
        match self.load(at) {
            // Too late, or only tried: the library's own code says so, and sets `errno`.
            0 => Done::Whole(Whole::Stdio),
            value => {
                self.store(at, value - 1);
                Done::Returned(0)
            }
        }
    }

    fn post(&mut self) -> Done {
        let at = self.operation.args[0];
        let value = self.load(at);
        self.store(at, value + 1);
        Done::Returned(0)
    }
}
