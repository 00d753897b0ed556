//! The semantics of synchronising functions: when they are enabled, and their footprints.

use super::act::Act;
use super::functions::{Does, Function, Whole};
use super::layout::{Flavour, MutexLayout};
use crate::footprint::access::{self, Kind};
use crate::system::dependency::Dependency;
use crate::system::overlay::{Asleep, ThreadOverlay};
use crate::system::read_set::LiveOverlay;
use explore::graph::Access;
use kernel::map::Map;
use kernel::{Kernel, Tid};
use memory::{Memory, SpaceId};
use x86::Cpu;

/// The parts of a state that an operation reads.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// All memory.
    pub memory: &'a Memory,
    /// All registers.
    pub cpus: &'a Map<Tid, Cpu>,
    /// Sleepers, and holders of locks.
    pub overlay: &'a LiveOverlay,
}

/// Where a read-write lock notes that somebody who had no share of it gave one back: padding, in glibc and in musl.
pub(super) const MIXED: u64 = 16;

/// A pending call of a synchronising function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The function.
    pub function: Function,
    /// Of which library.
    pub flavour: Flavour,
    /// The caller.
    pub tid: Tid,
    /// Its address space.
    pub space: SpaceId,
    /// Its arguments.
    pub args: [u64; 4],
    /// Its stack pointer.
    pub stack_pointer: u64,
    /// Whether a signal may wake any sleeper.
    pub any_sleeper: bool,
    /// Whether a wait at a condition variable may end spuriously (`pthread_cond_wait(3)`).
    pub spurious: bool,
    /// Whether read-write locks may prefer writers; false only in mutation tests.
    pub has_kinds: bool,
}

/// The result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// The function returns this.
    Returned(u64),
    /// The function returns this, and an exclusive lock is held now.
    Acquired(u64),
    /// The thread sleeps inside.
    Sleeps,
    /// The library's own code is to be executed as a whole.
    Whole(Whole),
    /// The library's own code is to be executed instruction by instruction: a kind of lock that is not summarised.
    Unsummarised,
    /// The function returns this, and was misused.
    Misused(u64, &'static str),
    /// The function does not return: the thread was cancelled.
    Cancelled,
}

/// The state of a mutex, for the caller.
pub(super) enum Mutex {
    Free,
    Mine { recursive: bool, checked: bool },
    Others,
    Special,
}

impl Operation {
    pub(super) fn object(&self, seen: Seen<'_>, address: u64, kind: Kind) -> u64 {
        access::word(seen.memory, self.space, address, true, kind).object
    }

    pub(super) fn u32(&self, seen: Seen<'_>, address: u64) -> u32 {
        let mut bytes = [0; 4];
        let _ = seen.memory.peek(self.space, address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    pub(super) fn u64(&self, seen: Seen<'_>, address: u64) -> u64 {
        let mut bytes = [0; 8];
        let _ = seen.memory.peek(self.space, address, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// The address of the lock that the function operates on.
    pub(super) fn lock_address(&self) -> u64 {
        match self.function.does() {
            Some(Does::Wait) => self.args[1],
            _ => self.args[0],
        }
    }

    pub(super) fn mutex(&self, seen: Seen<'_>) -> Mutex {
        let layout = self.flavour.mutex();
        let mut bytes = [0; MutexLayout::BYTES];
        let _ = seen.memory.peek(self.space, self.lock_address(), &mut bytes);
        let word = |at: u64| u32::from_le_bytes(bytes[at as usize..][..4].try_into().expect("four bytes"));
        let kind = word(layout.kind);
        if kind & layout.special != 0 {
            return Mutex::Special;
        }
        if word(layout.lock) == 0 {
            return Mutex::Free;
        }
        if word(layout.owner) == self.tid.0 {
            return Mutex::Mine { recursive: kind & 3 == 1, checked: kind & 3 == 2 };
        }
        Mutex::Others
    }

    fn overlay<'a>(&self, seen: Seen<'a>) -> Option<&'a ThreadOverlay> {
        seen.overlay.thread(self.tid)
    }

    /// The wait in which the caller sleeps in this call.
    pub(super) fn asleep(&self, seen: Seen<'_>) -> Option<Asleep> {
        self.overlay(seen)?.asleep.filter(|asleep| asleep.stack_pointer == self.stack_pointer)
    }

    /// The sleepers of which it wakes one, if that is a choice.
    #[must_use]
    pub fn wakes(&self, seen: Seen<'_>) -> Vec<Tid> {
        match self.function.does() {
            Some(Does::Signal) if self.any_sleeper => self.sleepers(seen),
            _ => Vec::new(),
        }
    }

    /// Whether the function is enabled.
    #[must_use]
    pub fn is_enabled(&self, seen: Seen<'_>) -> bool {
        let Some(does) = self.function.does().filter(|_| self.function.tries().is_none()) else { return true };
        match does {
            Does::Lock => {
                let stuck =
                    matches!(self.mutex(seen), Mutex::Others | Mutex::Mine { recursive: false, checked: false });
                !stuck || self.is_late(seen)
            }
            does if does.is_of_both() && self.prefers_writers(seen) => true,
            Does::ReadLock => {
                self.u32(seen, self.args[0].wrapping_add(4)) == 0 || self.is_late(seen) || self.deadlocks(seen)
            }
            Does::WriteLock => self.u64(seen, self.args[0]) == 0 || self.is_late(seen) || self.deadlocks(seen),
            Does::ParkingLock => self.gives_up() || !self.is_held_inline(seen),
            Does::SpinLock | Does::RustLock => self.u32(seen, self.args[0]) == self.flavour.free_spin_lock(),
            Does::Wait => match self.asleep(seen) {
                None => true,
                Some(asleep) => {
                    let is_over = asleep.woken || self.spurious || self.is_late(seen) || self.is_cancelled(seen);
                    is_over && matches!(self.mutex(seen), Mutex::Free | Mutex::Special)
                }
            },
            Does::BarrierWait => self.asleep(seen).is_none_or(|asleep| asleep.woken),
            Does::SemaphoreWait => self.u32(seen, self.args[0]) != 0 || self.is_late(seen) || self.is_cancelled(seen),
            Does::Join => self.joined(seen).is_none() || self.is_late(seen) || self.is_cancelled(seen),
            Does::Once => !self.is_under_way(seen),
            _ => true,
        }
    }

    /// Whether the caller was cancelled, and has not disabled cancellation.
    pub(super) fn is_cancelled(&self, seen: Seen<'_>) -> bool {
        self.function.is_cancellation_point() && self.overlay(seen).is_some_and(ThreadOverlay::is_cancelled)
    }

    /// Whether `pthread_once(3)` is done: the low bits of its control word are 0, then 1 while the callback runs, then
    /// 2.
    fn is_done(&self, seen: Seen<'_>) -> bool {
        self.u32(seen, self.args[0]) & 3 == 2
    }

    /// Whether a thread of this space runs the callback of `pthread_once(3)`. In a child of `fork(2)` it may not exist.
    fn is_under_way(&self, seen: Seen<'_>) -> bool {
        let calls = |overlay: &ThreadOverlay| overlay.onces.iter().any(|once| once.control == self.args[0]);
        let is_begun = self.u32(seen, self.args[0]) & 1 != 0;
        is_begun && seen.overlay.threads().any(|(tid, overlay)| calls(overlay) && is_in(seen.kernel, tid, self.space))
    }

    /// Whether a read-write lock admits no reader while a writer waits
    /// (`PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`): then the order of arrival matters, and the library's own code
    /// decides.
    pub(super) fn prefers_writers(&self, seen: Seen<'_>) -> bool {
        const KIND: u64 = 48;
        const NONRECURSIVE: u32 = 2;
        self.has_kinds
            && self.flavour == Flavour::Glibc
            && self.u32(seen, self.args[0].wrapping_add(KIND)) == NONRECURSIVE
    }

    /// Whether the caller holds the read-write lock as its writer: glibc returns `EDEADLK`.
    pub(super) fn deadlocks(&self, seen: Seen<'_>) -> bool {
        self.function.tries().is_none()
            && self.flavour == Flavour::Glibc
            && self.u32(seen, self.args[0].wrapping_add(4)) == self.tid.0
    }

    /// The sleepers that a signal may wake at a condition variable. A cancelled thread consumes no signal
    /// (`pthread_cond_wait(3)`).
    pub(super) fn sleepers(&self, seen: Seen<'_>) -> Vec<Tid> {
        let mut sleepers = seen.overlay.sleepers(self.object(seen, self.args[0], Kind::Condition));
        sleepers.retain(|tid| !seen.overlay.thread(*tid).is_some_and(ThreadOverlay::is_cancelled));
        sleepers
    }

    /// The thread that the caller joins, if it lives: a `pthread_t` is the base of its thread's local storage.
    #[must_use]
    pub fn joined(&self, seen: Seen<'_>) -> Option<Tid> {
        seen.overlay.note(Dependency::Base(self.args[0], self.space));
        living(seen.kernel, seen.cpus, self.space, self.args[0])
    }

    /// The footprint of the function in this state.
    #[must_use]
    pub fn accesses(&self, seen: Seen<'_>) -> Vec<Access> {
        let Some(does) = self.function.does() else { return Vec::new() };
        let only_tries = self.function.tries().is_some();
        let access = |address, kind, write| Access { object: self.object(seen, address, kind), write, plain: false };
        let first = self.args[0];
        match does {
            Does::Lock if only_tries => vec![access(first, Kind::Lock, matches!(self.mutex(seen), Mutex::Free))],
            does if does.is_of_both() && self.prefers_writers(seen) => Vec::new(),
            does if does.is_of_both() => self.accesses_of_both(seen, does),
            Does::SpinLock if only_tries => {
                vec![access(first, Kind::Lock, self.u32(seen, first) == self.flavour.free_spin_lock())]
            }
            Does::Wait => {
                let mutex = access(self.args[1], Kind::Lock, true);
                match self.asleep(seen) {
                    Some(asleep) if asleep.woken => vec![mutex],
                    _ => vec![mutex, access(first, Kind::Condition, true)],
                }
            }
            Does::Signal | Does::Broadcast | Does::DestroyCondition => vec![access(first, Kind::Condition, true)],
            Does::BarrierWait => vec![access(first, Kind::Condition, self.asleep(seen).is_none())],
            Does::SemaphoreWait if only_tries => vec![access(first, Kind::Lock, self.u32(seen, first) != 0)],
            Does::Join => vec![Access { object: thread(self.space, first), write: false, plain: false }],
            Does::Once => vec![access(first, Kind::Lock, !self.is_done(seen))],
            // It may end any wait of the other thread.
            Does::Cancel => access::everything(),
            // What it shares with the instructions that acquire and release such a lock is the word.
            Does::RustLock | Does::ParkingLock => Vec::new(),
            _ => vec![access(first, Kind::Lock, true)],
        }
    }

    /// The footprints of functions on read-write locks.
    ///
    /// Operations of readers are independent of each other, and dependent on those of writers. So each reader writes a
    /// part of its own, and writers read all parts. The number of parts is fixed, so that the footprint of a writer
    /// does not depend on the readers. That ends when a thread that holds nothing unlocks: it takes the share of another one.
    fn accesses_of_both(&self, seen: Seen<'_>, does: Does) -> Vec<Access> {
        const PARTS: u32 = 8;
        let lock = self.object(seen, self.args[0], Kind::Lock);
        let whole = |write| Access { object: lock, write, plain: false };
        let part = |part: u32, write| Access {
            object: access::object(Kind::Lock, lock, u64::from(1 + part)),
            write,
            plain: false,
        };
        let own = part(self.tid.0 % PARTS, true);
        let everything = |write| [whole(true)].into_iter().chain((0..PARTS).map(move |number| part(number, write)));
        let shares = self.overlay(seen).is_some_and(|overlay| overlay.shares.contains(&lock));
        let has_writer = self.u32(seen, self.args[0].wrapping_add(4)) != 0;
        let only_tries = self.function.tries().is_some();
        let is_mixed = self.u32(seen, self.args[0].wrapping_add(MIXED)) != 0;
        match does {
            _ if is_mixed => everything(true).collect(),
            Does::ReadLock if only_tries && has_writer => vec![whole(false)],
            Does::ReadLock => vec![whole(false), own],
            Does::UnlockBoth if has_writer => vec![whole(true)],
            Does::UnlockBoth if shares => vec![own],
            Does::UnlockBoth => everything(true).collect(),
            Does::WriteLock if only_tries && self.u64(seen, self.args[0]) != 0 => {
                [whole(false)].into_iter().chain(everything(false).skip(1)).collect()
            }
            _ => everything(false).collect(),
        }
    }

    /// The words in which the lock is kept, and whether the function writes them. Other writes of them (initialisation,
    /// `memset(3)`, a copy) change the lock, too.
    #[must_use]
    pub fn words(&self, seen: Seen<'_>) -> Vec<(u64, bool)> {
        let Some(does) = self.function.does() else { return Vec::new() };
        let first = self.args[0];
        let writes = |object: u64| self.accesses(seen).iter().any(|access| access.object == object && access.write);
        let is_written = || writes(self.object(seen, first, Kind::Lock));
        match does {
            Does::Lock if self.function.tries().is_some() => self.mutex_words(is_written()),
            Does::Lock | Does::Unlock | Does::DestroyMutex | Does::Wait => self.mutex_words(true),
            does if does.is_of_both() && self.prefers_writers(seen) => Vec::new(),
            does if does.is_of_both() => [0, 4, MIXED].map(|word| (first.wrapping_add(word), is_written())).to_vec(),
            Does::SpinLock | Does::SpinUnlock | Does::Once | Does::SemaphoreWait => vec![(first, is_written())],
            Does::ParkingLock if self.gives_up() => Vec::new(),
            Does::SemaphorePost | Does::RustLock | Does::ParkingLock => vec![(first, true)],
            Does::BarrierWait => vec![(first.wrapping_add(8), false)],
            _ => Vec::new(),
        }
    }

    /// The bytes of each of them that it accesses.
    #[must_use]
    pub fn word_size(&self) -> u32 {
        if self.function.does() == Some(Does::ParkingLock) { 1 } else { 4 }
    }

    /// Whether a lock is held that programs acquire by an instruction of their own. The other bits say that somebody waits.
    #[must_use]
    pub fn is_held_inline(&self, seen: Seen<'_>) -> bool {
        const LOCKED: u32 = 1;
        match self.function.does() {
            Some(Does::ParkingLock) => self.u32(seen, self.args[0]) & LOCKED != 0,
            _ => self.u32(seen, self.args[0]) != 0,
        }
    }

    /// Whether `RawMutex::lock_slow` waits for a limited time: then its own code decides. Its second argument is an
    /// `Option<Instant>`, in two registers; the nanoseconds of `None` are too many.
    pub(super) fn gives_up(&self) -> bool {
        const NONE: u32 = 1_000_000_000;
        self.args[2] as u32 != NONE
    }

    /// The words of a mutex that decide the result of an operation: its owner and its kind.
    fn mutex_words(&self, writes: bool) -> Vec<(u64, bool)> {
        let (at, layout) = (self.lock_address(), self.flavour.mutex());
        let mut words = vec![(at + layout.lock, writes), (at + layout.kind, false)];
        if layout.owner != layout.lock {
            words.push((at + layout.owner, writes));
        }
        words
    }

    /// The exclusive lock that the function operates on.
    #[must_use]
    pub fn lock(&self, seen: Seen<'_>) -> Option<u64> {
        let is_lock = self.function.does().is_some_and(Does::is_of_locks);
        is_lock.then(|| self.object(seen, self.lock_address(), Kind::Lock))
    }

    /// The lock that the function acquires, if programs acquire it by an instruction of their own where it is free.
    #[must_use]
    pub fn inline_lock(&self, seen: Seen<'_>) -> Option<u64> {
        let is_inline = self.function.does().is_some_and(Does::is_of_inline_locks);
        is_inline.then(|| self.object(seen, self.lock_address(), Kind::Lock))
    }

    /// The condition variable at which the caller sleeps, if it was not woken and nothing else ends the wait.
    fn sleeps_at(&self, seen: Seen<'_>) -> Option<u64> {
        let may_sleep = self.function.does() == Some(Does::Wait);
        let asleep = self.asleep(seen).filter(|asleep| may_sleep && !asleep.woken)?;
        (!self.spurious && !self.is_late(seen) && !self.is_cancelled(seen)).then_some(asleep.object)
    }

    /// The objects of which one must be written before the function is enabled.
    #[must_use]
    pub fn awaits(&self, seen: Seen<'_>) -> Vec<u64> {
        match self.sleeps_at(seen) {
            Some(condition) => vec![condition],
            None => self.accesses(seen).into_iter().map(|access| access.object).collect(),
        }
    }

    /// Words of memory whose write may enable the function.
    #[must_use]
    pub fn awaited_words(&self, seen: Seen<'_>) -> Vec<u64> {
        match self.sleeps_at(seen) {
            Some(_) => Vec::new(),
            None => self.words(seen).into_iter().map(|(address, _)| address).collect(),
        }
    }

    /// The exclusive lock that the function acquires in every state in which it is enabled. A timed one may return
    /// without it.
    #[must_use]
    pub fn takes(&self, seen: Seen<'_>) -> Option<u64> {
        // A timed wait at a condition variable gives up the wait, not the lock.
        let gives_up = self.function.has_time_limit() && self.function.does() != Some(Does::Wait);
        self.wants(seen).filter(|_| !gives_up)
    }

    /// The exclusive lock that the function acquires if it is free.
    #[must_use]
    pub fn wants(&self, seen: Seen<'_>) -> Option<u64> {
        let waits = self.function.does().filter(|_| self.function.tries().is_none());
        let is_lock = match waits {
            Some(Does::Lock | Does::SpinLock) => true,
            Some(Does::WriteLock) => !self.prefers_writers(seen),
            Some(Does::Wait) => self.asleep(seen).is_some(),
            _ => false,
        };
        is_lock.then(|| self.object(seen, self.lock_address(), Kind::Lock))
    }

    /// The thread that must move before the function is enabled, if it is known.
    #[must_use]
    pub fn behind(&self, seen: Seen<'_>) -> Option<Tid> {
        if self.function.joins() {
            return self.joined(seen);
        }
        if self.asleep(seen).is_some_and(|asleep| !asleep.woken) {
            return None;
        }
        seen.overlay.holder(self.wants(seen)?)
    }

    /// Performs the operation. A signal wakes the given thread, or the first sleeper.
    pub fn perform(
        &self,
        kernel: &Kernel,
        memory: &mut Memory,
        cpus: &Map<Tid, Cpu>,
        overlay: &mut LiveOverlay,
        woken: Option<Tid>,
    ) -> Done {
        let mut act = Act { operation: self, kernel, memory, cpus, overlay };
        let does = match self.function {
            Function::Synchronising(function) => function.does,
            Function::Whole(whole) => return Done::Whole(whole),
            _ => return Done::Unsummarised,
        };
        match does {
            Does::Lock => act.lock(),
            Does::Unlock => act.unlock(),
            Does::DestroyMutex => act.destroy_mutex(),
            does if does.is_of_both() && self.prefers_writers(act.seen()) => Done::Unsummarised,
            Does::ReadLock => act.read_lock(),
            Does::WriteLock => act.write_lock(),
            Does::UnlockBoth => act.unlock_both(),
            Does::SpinLock => act.spin_lock(),
            Does::SpinUnlock => act.spin_unlock(),
            Does::RustLock => act.rust_lock(),
            Does::ParkingLock if self.gives_up() => Done::Unsummarised,
            Does::ParkingLock => act.parking_lock(),
            Does::Wait => act.wait(),
            Does::Signal => act.signal(woken),
            Does::Broadcast => act.broadcast(),
            Does::DestroyCondition => act.destroy_condition(),
            Does::BarrierWait => act.barrier(),
            Does::SemaphoreWait => act.take(),
            Does::SemaphorePost => act.post(),
            Does::Join => act.join(),
            Does::Once if self.is_done(act.seen()) => Done::Returned(0),
            Does::Once => Done::Whole(Whole::Once),
            Does::Cancel => act.cancel(),
        }
    }
}

/// The living thread of a space whose local storage begins at an address.
#[must_use]
pub fn living(kernel: &Kernel, cpus: &Map<Tid, Cpu>, space: SpaceId, base: u64) -> Option<Tid> {
    let mut named = cpus.iter().filter(|(_, cpu)| cpu.fs_base == base).map(|(tid, _)| *tid);
    named.find(|tid| is_in(kernel, *tid, space))
}

/// Whether a living thread is in a space.
fn is_in(kernel: &Kernel, tid: Tid, space: SpaceId) -> bool {
    let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
    process.is_some_and(|process| process.space == space)
}

/// The object that the end of a thread writes, and that a join reads.
#[must_use]
pub fn thread(space: SpaceId, base: u64) -> u64 {
    access::object(Kind::Thread, space.0, base)
}
