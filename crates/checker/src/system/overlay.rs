//! The overlay: what the checker keeps of threads beside the world. It is part of the state.
//!
//! Locks stay in the guest's memory, in the C library's own format. What has no place there is kept here: sleepers of
//! condition variables, holders of locks, recent reads of spinning threads, the executed parts of an instruction.
//!
//! **Invariant:** a thread has an entry exactly if the kernel has the thread (`follow_births`).
//! Entries are compared and hashed like everything else in the state; a field that two equal
//! futures could differ in would multiply states.

use super::dependency::Dependency;
use crate::libc::{Buried, Whole};
use crate::system::spin::Spin;
use explore::graph::Access;
use kernel::Tid;
use kernel::map::{Map, Wide};
use kernel::shared::Shared;
use memory::SpaceId;
use std::hash::Hash;

/// The overlay of all threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Overlay {
    pub(super) threads: Map<Tid, ThreadOverlay>,
    /// Threads that have ended and were not joined, by address space.
    unjoined: Map<SpaceId, u32>,
    /// Freed blocks that wait to be reclaimed by their owners, by the object at which they were left; sorted.
    pub(super) buried: Map<u64, Vec<Buried>>,
    /// Whether two threads have existed at once: the prefix is over.
    is_past_prefix: bool,
}

/// The overlay of one thread.
///
/// What belongs here: facts about a thread that decide its next step or who may move, and that no
/// word of the guest's memory holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ThreadOverlay {
    /// Its phase of life.
    pub phase: Phase,
    /// The wait in which it sleeps.
    pub asleep: Option<Asleep>,
    /// The function that it executes as a whole.
    pub within: Option<Within>,
    /// Exclusive locks that it holds, by object, sorted.
    ///
    /// Used by the lock filter of the reduction; a lock that was seen to be released by another is
    /// dropped from records (`is_kept`), not from here.
    pub holds: Vec<u64>,
    /// Locks that it holds as a reader, in the order of taking them.
    pub shares: Vec<u64>,
    /// Addresses of its stack, where that is known.
    pub stack: Option<(u64, u64)>,
    /// The thread that created it.
    pub creator: Option<Tid>,
    /// Threads of other processes that it is a copy of, by `fork(2)`: it may release its copies of locks that they
    /// held.
    ///
    /// `pthread_atfork(3)` handlers and C libraries release, in the child, locks that the parent's
    /// thread holds.
    pub copies: Vec<Tid>,
    /// Its recent reads, to detect spin loops.
    pub spin: Spin,
    /// The executed part of an instruction with several accesses to racing words.
    pub partial: Option<Partial>,
    /// Its stores that have not reached memory, oldest first.
    pub buffer: Vec<BufferedStore>,
    /// What it has stored at racing words since it last waited for its stores, while stores reach memory at once.
    pub unfenced: Unfenced,
    /// Blocks of other threads that it has freed and not yet left at an object; sorted.
    pub buried: Vec<Buried>,
    /// The `pthread_once(3)` calls that it is in, outermost first.
    pub onces: Vec<Once>,
    /// Where the program's clean-up function returns to that it executes while it ends.
    pub cleans_up: Option<Return>,
    /// Where the library function returns to whose instructions it executes as they stand.
    pub real: Option<Return>,
    /// The thread that it is cancelling.
    pub cancels: Option<Tid>,
    /// It was cancelled.
    pub cancelled: bool,
    /// It has disabled cancellation (`pthread_setcancelstate(3)`).
    pub is_shielded: bool,
    /// It has begun to end: it cannot be cancelled any more.
    pub ends: bool,
    /// Where signals have interrupted it whose handlers it executes, outermost first. Kept where others send signals.
    pub handlers: Vec<Interrupted>,
    /// The lowest stack pointer at which a signal has interrupted it whose handler did not return there (`siglongjmp(3)`).
    pub jumped_from: Option<u64>,
    /// It has read a clock since or with its last operation: it may poll the clock until time has passed.
    pub reads_clock: bool,
}

/// The point that a function returns to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Return {
    /// The address.
    pub address: u64,
    /// The stack pointer there.
    pub stack_pointer: u64,
}

/// Where a signal has interrupted a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interrupted {
    /// The address of the next instruction.
    pub rip: u64,
    /// The stack pointer.
    pub stack_pointer: u64,
}

/// A `pthread_once(3)` call that runs the program's function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Once {
    /// The address of its control word.
    pub control: u64,
    /// Where it returns to.
    pub end: Return,
    /// Where the program's function returns to, while that runs.
    pub inside: Option<Return>,
}

/// An instruction of which some accesses were executed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Partial {
    /// The address of the instruction.
    pub rip: u64,
    /// Its accesses to racing words so far.
    pub done: Vec<Part>,
}

/// An atomic access of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// Its address.
    pub addr: u64,
    /// Bytes, at most eight.
    pub size: u32,
    /// Whether it writes.
    pub write: bool,
    /// The value that it has read, or writes.
    pub value: u64,
}

impl Part {
    /// Whether it overlaps another access.
    #[must_use]
    pub fn overlaps(&self, addr: u64, size: u32) -> bool {
        self.addr < addr + u64::from(size.max(1)) && addr < self.addr + u64::from(self.size)
    }
}

/// A store that has not reached memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferedStore {
    /// What it writes.
    pub part: Part,
    /// The address of the instruction, for reports.
    pub rip: u64,
}

/// Stores to racing words since a thread last waited for its stores to reach memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Unfenced {
    /// There is none.
    #[default]
    Nothing,
    /// All are to these bytes.
    Bytes {
        /// The first one.
        addr: u64,
        /// How many.
        size: u32,
    },
    /// They are to several places.
    Several,
}

/// Phases in the life of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Phase {
    /// Before the program's own code: what the loader and the library do there is one step.
    #[default]
    Starting,
    /// In the program.
    Running,
    /// After the thread's own code: the library ends the thread.
    Ending,
    /// In `exit(3)`.
    Exiting,
}

/// A wait in which a thread sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asleep {
    /// The condition variable or barrier.
    pub object: u64,
    /// Whether it was woken.
    pub woken: bool,
    /// The stack pointer of the waiting call: a signal handler that runs meanwhile is not asleep.
    pub stack_pointer: u64,
}

/// A function that is executed as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Within {
    /// Where it returns to.
    pub return_to: u64,
    /// Which kind of function.
    pub whole: Whole,
}

impl Overlay {
    /// Sum of the fingerprints of all threads' entries.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.threads.sum()
    }

    /// All but the threads' entries.
    #[must_use]
    pub fn aside(&self) -> impl Hash + '_ {
        (&self.unjoined, &self.buried, self.is_past_prefix)
    }

    /// Whether a thread spins on a clock, where spin loops are blocking operations.
    #[must_use]
    pub fn is_spun(&self) -> bool {
        self.threads.values().any(|overlay| overlay.spin.waits() && overlay.reads_clock)
    }

    /// Whether a thread has read a clock.
    #[must_use]
    pub fn reads_clock(&self) -> bool {
        self.threads.values().any(|overlay| overlay.reads_clock)
    }

    /// Whether a thread has an entry, and so exists. The kernel implies it, so it is no dependency of its own.
    #[must_use]
    pub fn knows(&self, tid: Tid) -> bool {
        self.threads.contains_key(&tid)
    }

    /// All threads with an entry: those that exist.
    pub fn tids(&self) -> impl Iterator<Item = Tid> {
        self.threads.keys().copied()
    }

    /// A thread's entry, to be shared.
    #[must_use]
    pub fn shared(&self, tid: Tid) -> Option<&Shared<ThreadOverlay>> {
        self.threads.shared(&tid)
    }

    /// Threads whose entries differ.
    #[must_use]
    pub fn differing(&self, other: &Self) -> Vec<Tid> {
        self.threads.differing(&other.threads).into_iter().copied().collect()
    }

    /// Sets a thread's entry, or removes it.
    pub fn put(&mut self, tid: Tid, overlay: Option<Shared<ThreadOverlay>>) {
        match overlay {
            Some(overlay) => drop(self.threads.put(tid, overlay)),
            None => drop(self.threads.remove(&tid)),
        }
    }

    /// The same without the threads' entries.
    #[must_use]
    pub fn without_threads(&self) -> Self {
        Self { threads: Map::default(), ..self.clone() }
    }

    /// Takes over all but the threads' entries.
    pub fn know_aside(&mut self, other: &Self) {
        self.unjoined = other.unjoined.clone();
        self.buried = other.buried.clone();
        self.is_past_prefix = other.is_past_prefix;
    }

    /// Threads that may spin on an object that a step writes. A memo entry applies only where there are none.
    ///
    /// The one effect of a step on other threads' entries that is not in its own read set; memo
    /// entries are refused where there is one.
    #[must_use]
    pub fn disturbed(&self, by: Tid, accesses: &[Access]) -> Vec<Tid> {
        let is_concerned = |(tid, overlay): &(&Tid, &ThreadOverlay)| **tid != by && overlay.spin.concerns(accesses);
        self.threads.iter().filter(is_concerned).map(|(tid, _)| *tid).collect()
    }

    /// The store buffers of all threads.
    pub fn buffers(&self) -> impl Iterator<Item = (Tid, &[BufferedStore])> {
        self.threads.iter().map(|(tid, overlay)| (*tid, &overlay.buffer[..]))
    }

    /// Whether no two threads have existed at once.
    #[must_use]
    pub fn is_in_prefix(&self) -> bool {
        !self.is_past_prefix
    }

    /// Ends the prefix if there are several threads.
    pub fn end_prefix(&mut self) {
        self.is_past_prefix |= self.threads.len() > 1;
    }

    /// Removes a thread's entry.
    pub fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }

    /// A thread has ended that was not joined.
    pub fn end_unjoined(&mut self, space: SpaceId) {
        let count = self.unjoined.get(&space).map_or(1, |count| count + 1);
        self.unjoined.insert(space, count);
    }

    /// A thread was joined: all its steps happen before what follows.
    pub fn join(&mut self, space: SpaceId) {
        match self.unjoined.get(&space).copied() {
            None => {}
            Some(1) => drop(self.unjoined.remove(&space)),
            Some(count) => drop(self.unjoined.insert(space, count - 1)),
        }
    }

    /// Whether there are threads that have ended and were not joined.
    #[must_use]
    pub fn has_unjoined(&self, space: SpaceId) -> bool {
        self.unjoined.contains_key(&space)
    }

    /// Removes what belongs to address spaces that no longer exist.
    pub fn forget_spaces(&mut self, exists: impl Fn(SpaceId) -> bool) {
        self.unjoined.retain(|space| exists(*space));
        let is_gone = |(_, buried): &(&u64, &Vec<Buried>)| buried.iter().any(|buried| !exists(buried.space));
        let stale: Vec<u64> = self.buried.iter().filter(is_gone).map(|(object, _)| *object).collect();
        for object in stale {
            self.keep_buried(object, |buried| exists(buried.space));
        }
    }

    /// Takes the blocks of a thread that others have left at an object.
    pub fn collect(&mut self, object: u64, space: SpaceId, tid: Tid) -> Vec<Buried> {
        let is_own = |buried: &Buried| buried.is_of(space, tid);
        let own: Vec<Buried> = self.buried.get(&object).into_iter().flatten().copied().filter(is_own).collect();
        if !own.is_empty() {
            self.keep_buried(object, |buried| !is_own(buried));
        }
        own
    }

    fn keep_buried(&mut self, object: u64, is_kept: impl Fn(&Buried) -> bool) {
        let mut all = self.buried.get(&object).cloned().unwrap_or_default();
        all.retain(is_kept);
        match all.is_empty() {
            true => drop(self.buried.remove(&object)),
            false => drop(self.buried.insert(object, all)),
        }
    }

    /// Fingerprint of the value of a dependency.
    #[must_use]
    pub fn answer(&self, dependency: Dependency) -> u128 {
        match dependency {
            Dependency::Thread(tid) => self.threads.shared(&tid).map_or(0, Shared::identity),
            Dependency::Sleepers(object) => match self.sleeping(object) {
                sleepers if sleepers.is_empty() => 0,
                sleepers => Wide::hash_of(sleepers),
            },
            Dependency::Holder(object) => self.holding(object).map_or(0, |tid| u128::from(tid.0)),
            Dependency::StackOf(address, but) => self.on_stack(address, but).map_or(0, |tid| u128::from(tid.0)),
            Dependency::Buried => u128::from(self.is_burying()),
            Dependency::AllThreads => self.sum(),
            Dependency::Base(..) => 0,
        }
    }

    pub(super) fn sleeping(&self, object: u64) -> Vec<Tid> {
        let sleeps =
            |overlay: &ThreadOverlay| overlay.asleep.is_some_and(|asleep| asleep.object == object && !asleep.woken);
        self.threads.iter().filter(|(_, overlay)| sleeps(overlay)).map(|(tid, _)| *tid).collect()
    }

    pub(super) fn holding(&self, object: u64) -> Option<Tid> {
        let holds = |overlay: &ThreadOverlay| overlay.holds.binary_search(&object).is_ok();
        self.threads.iter().find(|(_, overlay)| holds(overlay)).map(|(tid, _)| *tid)
    }

    pub(super) fn on_stack(&self, address: u64, but: Tid) -> Option<Tid> {
        let holds = |overlay: &ThreadOverlay| overlay.stack.is_some_and(|(low, high)| (low..high).contains(&address));
        self.threads.iter().find(|(tid, overlay)| **tid != but && holds(overlay)).map(|(tid, _)| *tid)
    }

    pub(super) fn is_burying(&self) -> bool {
        !self.buried.is_empty() || self.threads.values().any(|overlay| !overlay.buried.is_empty())
    }
}

pub(super) fn insert(all: &mut Vec<Buried>, buried: Buried) {
    if let Err(at) = all.binary_search(&buried) {
        all.insert(at, buried);
    }
}

impl ThreadOverlay {
    /// Records that it holds a lock.
    pub fn hold(&mut self, object: u64) {
        if let Err(at) = self.holds.binary_search(&object) {
            self.holds.insert(at, object);
        }
    }

    /// Records that it no longer holds a lock; false if it did not.
    pub fn release(&mut self, object: u64) -> bool {
        self.holds.binary_search(&object).map(|at| self.holds.remove(at)).is_ok()
    }

    /// Whether a pending cancellation takes effect at the next cancellation point.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled && !self.is_shielded && !self.ends
    }

    /// Whether it executes code of the library, not the program's own.
    #[must_use]
    pub fn is_in_library(&self) -> bool {
        self.phase != Phase::Running || self.within.is_some()
    }
}
