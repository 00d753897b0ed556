//! What the checker keeps of threads beside the world: part of the state.
//!
//! Locks stay in the guest's memory, in the C library's own format. What has no place there is kept here: who sleeps at a
//! condition variable, who holds a lock, how far a thread that spins has looked, which part of an instruction was executed.

use super::dependency::Dependency;
use crate::libc::{Buried, Whole};
use crate::system::spin::Spin;
use explore::graph::Access;
use kernel::Tid;
use kernel::map::{Map, Wide};
use kernel::shared::Shared;
use memory::SpaceId;
use std::hash::Hash;

/// What the checker keeps of all threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Overlay {
    pub(super) threads: Map<Tid, ThreadOverlay>,
    /// Threads that have ended and were not joined, by address space.
    unjoined: Map<SpaceId, u32>,
    /// Blocks on their way back to their owners, by the object at which they wait; sorted.
    pub(super) buried: Map<u64, Vec<Buried>>,
}

/// What the checker keeps of one thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ThreadOverlay {
    /// Where in its life it is.
    pub phase: Phase,
    /// It sleeps in a function that it called.
    pub asleep: Option<Asleep>,
    /// It is inside a function that is carried out as a whole.
    pub within: Option<Within>,
    /// Exclusive locks that it holds, by object, sorted.
    pub holds: Vec<u64>,
    /// Locks that it holds as a reader, in the order of taking them.
    pub shares: Vec<u64>,
    /// Addresses of its stack, where that is known.
    pub stack: Option<(u64, u64)>,
    /// Who made it.
    pub creator: Option<Tid>,
    /// Threads of other processes that it is a copy of, by `fork(2)`: what they held then, its copy holds.
    pub copies: Vec<Tid>,
    /// What it has read lately: for loops that wait.
    pub spin: Spin,
    /// What an instruction with several accesses to words that others may change in between has done so far.
    pub partial: Option<Partial>,
    /// Blocks of others that it has freed, and has told nobody of; sorted.
    pub buried: Vec<Buried>,
    /// Calls of `pthread_once(3)` that it is in, outermost first.
    pub onces: Vec<Once>,
    /// It ends, and is in a function of the program that is called then; where that returns to.
    pub cleans_up: Option<Return>,
    /// It is in a function whose instructions are executed as they stand; where that returns to.
    pub real: Option<Return>,
    /// Whom it is cancelling.
    pub cancels: Option<Tid>,
    /// Somebody has cancelled it.
    pub cancelled: bool,
    /// It does not want to be cancelled now.
    pub is_shielded: bool,
    /// It has begun to end: it cannot be cancelled any more.
    pub ends: bool,
    /// Its last step has read a clock: it may go round until that shows another time.
    pub reads_clock: bool,
}

/// Where a function returns to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Return {
    /// The address.
    pub address: u64,
    /// The stack pointer there.
    pub stack_pointer: u64,
}

/// A call of `pthread_once(3)` that is the first one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Once {
    /// What it is about.
    pub control: u64,
    /// Where it returns to.
    pub end: Return,
    /// The program's function is at work; where that returns to.
    pub inside: Option<Return>,
}

/// An instruction that is not over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Partial {
    /// The instruction.
    pub rip: u64,
    /// Its accesses so far to words that race.
    pub done: Vec<Part>,
}

/// An access of an instruction that is atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// Where.
    pub addr: u64,
    /// Bytes, at most eight.
    pub size: u32,
    /// Whether it writes.
    pub write: bool,
    /// What it has read, or writes.
    pub value: u64,
}

impl Part {
    /// Whether it has a byte in common with another access.
    #[must_use]
    pub fn overlaps(&self, addr: u64, size: u32) -> bool {
        self.addr < addr + u64::from(size.max(1)) && addr < self.addr + u64::from(self.size)
    }
}

/// Where in its life a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Phase {
    /// Before the program's own code: what the loader and the library do there is one step.
    #[default]
    Starting,
    /// In the program.
    Running,
    /// Behind the thread's own code, on the way out.
    Ending,
    /// In `exit(3)`.
    Exiting,
}

/// Why a thread sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asleep {
    /// The condition variable or barrier.
    pub object: u64,
    /// Whether somebody has woken it.
    pub woken: bool,
    /// The function's stack pointer: a handler that runs meanwhile is not asleep.
    pub stack_pointer: u64,
}

/// A function that is carried out as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Within {
    /// Where it returns to.
    pub return_to: u64,
    /// Which kind of function.
    pub whole: Whole,
}

impl Overlay {
    /// A sum of what stands for each thread's entry.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.threads.sum()
    }

    /// All that is known beside the threads' entries.
    #[must_use]
    pub fn aside(&self) -> impl Hash + '_ {
        (&self.unjoined, &self.buried)
    }

    /// Whether anybody waits for a clock in a loop, where loops that wait are operations.
    #[must_use]
    pub fn is_spun(&self) -> bool {
        self.threads.values().any(|overlay| overlay.spin.waits() && overlay.reads_clock)
    }

    /// Whether anybody has read a clock.
    #[must_use]
    pub fn reads_clock(&self) -> bool {
        self.threads.values().any(|overlay| overlay.reads_clock)
    }

    /// Whether a thread has an entry, and so exists: the kernel tells that, too, so it is no question about others.
    #[must_use]
    pub fn knows(&self, tid: Tid) -> bool {
        self.threads.contains_key(&tid)
    }

    /// Everybody with an entry: whoever exists.
    pub fn tids(&self) -> impl Iterator<Item = Tid> {
        self.threads.keys().copied()
    }

    /// A thread's entry, to be shared.
    #[must_use]
    pub fn shared(&self, tid: Tid) -> Option<&Shared<ThreadOverlay>> {
        self.threads.shared(&tid)
    }

    /// Whose entries differ.
    #[must_use]
    pub fn differing(&self, other: &Self) -> Vec<Tid> {
        self.threads.differing(&other.threads).into_iter().copied().collect()
    }

    /// Puts a thread's entry in its place, or takes it away.
    pub fn put(&mut self, tid: Tid, overlay: Option<Shared<ThreadOverlay>>) {
        match overlay {
            Some(overlay) => drop(self.threads.put(tid, overlay)),
            None => drop(self.threads.remove(&tid)),
        }
    }

    /// The same without threads.
    #[must_use]
    pub fn without_threads(&self) -> Self {
        Self { threads: Map::default(), ..self.clone() }
    }

    /// Takes over all that is known beside the threads' entries.
    pub fn know_aside(&mut self, other: &Self) {
        self.unjoined = other.unjoined.clone();
        self.buried = other.buried.clone();
    }

    /// Who has looked at what a step writes, in a loop that may wait for it. A memoized step asks that once more.
    #[must_use]
    pub fn disturbed(&self, by: Tid, accesses: &[Access]) -> Vec<Tid> {
        let is_concerned = |(tid, overlay): &(&Tid, &ThreadOverlay)| **tid != by && overlay.spin.concerns(accesses);
        self.threads.iter().filter(is_concerned).map(|(tid, _)| *tid).collect()
    }

    /// Forgets a thread.
    pub fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }

    /// A thread has ended; nobody has waited for that so far.
    pub fn end_unjoined(&mut self, space: SpaceId) {
        let count = self.unjoined.get(&space).map_or(1, |count| count + 1);
        self.unjoined.insert(space, count);
    }

    /// Somebody has waited for the end of a thread: whatever that did has happened before.
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

    /// Forgets address spaces that are gone.
    pub fn forget_spaces(&mut self, exists: impl Fn(SpaceId) -> bool) {
        self.unjoined.retain(|space| exists(*space));
        let is_gone = |(_, buried): &(&u64, &Vec<Buried>)| buried.iter().any(|buried| !exists(buried.space));
        let stale: Vec<u64> = self.buried.iter().filter(is_gone).map(|(object, _)| *object).collect();
        for object in stale {
            self.keep_buried(object, |buried| exists(buried.space));
        }
    }

    /// Blocks of a thread that others have left at an object.
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

    /// What stands for the answer to a question.
    #[must_use]
    pub fn answer(&self, question: Dependency) -> u128 {
        match question {
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
    /// Notes that a lock is held from now on.
    pub fn hold(&mut self, object: u64) {
        if let Err(at) = self.holds.binary_search(&object) {
            self.holds.insert(at, object);
        }
    }

    /// Notes that a lock is no longer held; false if it was not.
    pub fn release(&mut self, object: u64) -> bool {
        self.holds.binary_search(&object).map(|at| self.holds.remove(at)).is_ok()
    }

    /// Whether it ends where it may be cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled && !self.is_shielded && !self.ends
    }

    /// Whether what it executes now is not the program's own code.
    #[must_use]
    pub fn is_in_library(&self) -> bool {
        self.phase != Phase::Running || self.within.is_some()
    }
}
