//! Effects of synchronising functions, except those in which threads sleep.
//!
//! Each function carries out what POSIX says of the call, in one step, on the words that the
//! library itself would use. **Invariant:** after a summarised operation the guest's memory is a
//! state that the library could have left: code that was inlined, or a library that was not
//! recognised in another process, goes on from there. Where the format has room for only part of
//! the truth (who sleeps), the overlay has the rest, and `Done::Unsummarised` hands over to the
//! real code as soon as the two would disagree.
//!
//! The alternative, executing the real code with its atomics and futexes, is `--libc real`: right
//! as well, and several visible steps for each lock.

use super::functions::Whole;
use super::layout::{Flavour, MutexLayout};
use super::operation::{Done, MIXED, Mutex, Operation, Seen};
use crate::footprint::access::Kind;
use crate::system::read_set::LiveOverlay;
use kernel::map::Map;
use kernel::{Kernel, Tid};
use memory::Memory;
use x86::Cpu;

const EPERM: u64 = 1;
const EBUSY: u64 = 16;
const EDEADLK: u64 = 35;

/// An operation in progress.
pub(super) struct Act<'a> {
    pub operation: &'a Operation,
    pub kernel: &'a Kernel,
    pub memory: &'a mut Memory,
    pub cpus: &'a Map<Tid, Cpu>,
    pub overlay: &'a mut LiveOverlay,
}

impl Act<'_> {
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen { kernel: self.kernel, memory: self.memory, cpus: self.cpus, overlay: self.overlay }
    }

    pub(super) fn store(&mut self, address: u64, value: u32) {
        // Memory that cannot be written faults earlier: `pthread_mutex_init(3)` writes the lock.
        let _ = self.memory.write(self.operation.space, address, &value.to_le_bytes());
    }

    pub(super) fn load(&self, address: u64) -> u32 {
        self.operation.u32(self.seen(), address)
    }

    pub(super) fn lock_object(&self) -> u64 {
        self.operation.object(self.seen(), self.operation.lock_address(), Kind::Lock)
    }

    pub(super) fn hold(&mut self) {
        let object = self.lock_object();
        self.overlay.thread_mut(self.operation.tid).hold(object);
    }

    pub(super) fn release(&mut self) -> bool {
        let object = self.lock_object();
        self.overlay.thread_mut(self.operation.tid).release(object)
    }

    fn layout(&self) -> (u64, MutexLayout) {
        (self.operation.lock_address(), self.operation.flavour.mutex())
    }

    fn is_recursive(&self) -> bool {
        let (at, layout) = self.layout();
        self.load(at + layout.kind) & 3 == 1
    }

    pub(super) fn acquire(&mut self) {
        let (at, layout) = self.layout();
        let tid = self.operation.tid.0;
        self.store(at + layout.lock, 1);
        self.store(at + layout.owner, tid);
        if self.operation.flavour == Flavour::Glibc && self.is_recursive() {
            self.store(at + layout.count, 1);
        }
        self.hold();
    }

    pub(super) fn give_up(&mut self) {
        let (at, layout) = self.layout();
        self.store(at + layout.count, 0);
        self.store(at + layout.owner, 0);
        self.store(at + layout.lock, 0);
        self.release();
    }

    /// An uncontended mutex is taken without a futex, and a thread that would have to wait is
    /// disabled (`Operation::is_enabled`); so the slow path never runs here. What is left are
    /// tries, time limits and owners.
    pub(super) fn lock(&mut self) -> Done {
        let tries = self.operation.function.tries();
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
            Mutex::Mine { checked: true, .. } if tries.is_none() => Done::Returned(EDEADLK),
            _ => Done::Returned(tries.unwrap_or_else(|| self.operation.too_late(self.seen()))),
        }
    }

    pub(super) fn unlock(&mut self) -> Done {
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
            Mutex::Others if self.is_inherited() => {
                self.give_up();
                Done::Returned(0)
            }
            Mutex::Free => self.wrong_unlock("a mutex is unlocked that nobody holds"),
            Mutex::Others => self.wrong_unlock("a mutex is unlocked by a thread that does not hold it"),
        }
    }

    /// Whether `fork(2)` copied a mutex that does not check its owner, held by the thread that this one is a copy of:
    /// handlers of `pthread_atfork(3)` release it.
    ///
    /// Undefined by POSIX, and relied upon by every library with fork handlers: not a misuse.
    fn is_inherited(&self) -> bool {
        let (at, layout) = self.layout();
        let owner = Tid(self.load(at + layout.owner));
        let is_copy = self.overlay.thread(self.operation.tid).is_some_and(|overlay| overlay.copies.contains(&owner));
        let checks = matches!(self.load(at + layout.kind) & 3, 1 | 2);
        is_copy && !checks && self.overlay.holder(self.lock_object()).is_none()
    }

    /// Kinds that check the owner return an error; for others it is undefined, and the library unlocks.
    ///
    /// The result is told as misuse and the run goes on, as it would outside.
    fn wrong_unlock(&mut self, what: &'static str) -> Done {
        let (at, layout) = self.layout();
        if matches!(self.load(at + layout.kind) & 3, 1 | 2) {
            return Done::Returned(EPERM);
        }
        let object = self.lock_object();
        if let Some(holder) = self.overlay.holder(object) {
            self.overlay.thread_mut(holder).release(object);
        }
        self.give_up();
        Done::Misused(0, what)
    }

    pub(super) fn destroy_mutex(&mut self) -> Done {
        match self.operation.mutex(self.seen()) {
            Mutex::Special => Done::Unsummarised,
            Mutex::Free => Done::Returned(0),
            _ => Done::Misused(EBUSY, "a mutex is destroyed while it is held"),
        }
    }

    /// The error with which a read-write lock is not acquired. glibc validates the timeout even if the lock is free.
    fn not_both(&self, is_taken: bool) -> Option<u64> {
        let seen = self.seen();
        let is_wrong = self.operation.flavour == Flavour::Glibc && self.operation.has_no_time(seen);
        let why = || self.operation.function.tries().unwrap_or_else(|| self.operation.too_late(seen));
        match self.operation.deadlocks(seen) {
            true if is_taken && !is_wrong => Some(EDEADLK),
            _ => (is_taken || is_wrong).then(why),
        }
    }

    pub(super) fn read_lock(&mut self) -> Done {
        let at = self.operation.args[0];
        if let Some(why) = self.not_both(self.load(at.wrapping_add(4)) != 0) {
            return Done::Returned(why);
        }
        let readers = self.load(at);
        self.store(at, readers + 1);
        let object = self.lock_object();
        self.overlay.thread_mut(self.operation.tid).shares.push(object);
        Done::Returned(0)
    }

    pub(super) fn write_lock(&mut self) -> Done {
        let at = self.operation.args[0];
        if let Some(why) = self.not_both(self.operation.u64(self.seen(), at) != 0) {
            return Done::Returned(why);
        }
        self.store(at.wrapping_add(4), self.operation.tid.0);
        self.hold();
        Done::Acquired(0)
    }

    pub(super) fn unlock_both(&mut self) -> Done {
        let at = self.operation.args[0];
        let (readers, writer) = (self.load(at), self.load(at.wrapping_add(4)));
        if writer == self.operation.tid.0 {
            self.store(at.wrapping_add(4), 0);
            self.release();
            return Done::Returned(0);
        }
        if readers == 0 {
            return Done::Misused(0, "a read-write lock is unlocked by a thread that does not hold it");
        }
        self.store(at, readers - 1);
        let object = self.lock_object();
        let shares = &mut self.overlay.thread_mut(self.operation.tid).shares;
        match shares.iter().rposition(|shared| *shared == object) {
            Some(own) => drop(shares.remove(own)),
            // From now on nobody's share is its own: what a reader finds depends on all others.
            None => self.store(at.wrapping_add(MIXED), 1),
        }
        Done::Returned(0)
    }

    pub(super) fn spin_lock(&mut self) -> Done {
        let (at, free) = (self.operation.args[0], self.operation.flavour.free_spin_lock());
        if self.load(at) != free {
            return Done::Returned(EBUSY);
        }
        self.store(at, 1 - free);
        self.hold();
        Done::Acquired(0)
    }

    pub(super) fn spin_unlock(&mut self) -> Done {
        self.store(self.operation.args[0], self.operation.flavour.free_spin_lock());
        let object = self.lock_object();
        let holder = self.overlay.holder(object);
        if let Some(holder) = holder {
            self.overlay.thread_mut(holder).release(object);
        }
        // Without a holder it may be an initialisation: `pthread_spin_init(3)` is the same code in glibc.
        match holder.is_none_or(|holder| holder == self.operation.tid) {
            true => Done::Returned(0),
            false => Done::Misused(0, "a spin lock is unlocked by a thread that does not hold it"),
        }
    }

    /// The lock is free, or the operation would be disabled. That others wait is not noted in the word: they do so in the
    /// same function, and need not be woken.
    pub(super) fn rust_lock(&mut self) -> Done {
        self.store(self.operation.args[0], 1);
        Done::Returned(0)
    }

    /// The same. Threads that wait otherwise (in a condition variable's queue, for a limited time) are noted in the byte: that
    /// stays. The function returns that it has the lock.
    pub(super) fn parking_lock(&mut self) -> Done {
        const LOCKED: u8 = 1;
        let at = self.operation.args[0];
        let value = self.load(at) as u8 | LOCKED;
        let _ = self.memory.write(self.operation.space, at, &[value]);
        Done::Returned(1)
    }

    pub(super) fn take(&mut self) -> Done {
        let at = self.operation.args[0];
        let seen = self.seen();
        if self.operation.is_cancelled(seen) {
            return Done::Cancelled;
        }
        // glibc validates the timeout even if it need not wait.
        let is_wrong = self.operation.flavour == Flavour::Glibc && self.operation.has_no_time(seen);
        match self.load(at) {
            // Timed out, or only tried: the library's own code returns the error, and sets `errno`.
            0 => Done::Whole(Whole::Stdio),
            _ if is_wrong => Done::Whole(Whole::Stdio),
            value => {
                self.store(at, value - 1);
                Done::Returned(0)
            }
        }
    }

    pub(super) fn post(&mut self) -> Done {
        const MOST: u32 = i32::MAX as u32;
        let at = self.operation.args[0];
        match self.load(at) {
            MOST => Done::Whole(Whole::Stdio),
            value => {
                self.store(at, value + 1);
                Done::Returned(0)
            }
        }
    }

    /// The library's own code releases the resources of an ended thread.
    pub(super) fn join(&mut self) -> Done {
        let seen = self.seen();
        let operation = self.operation;
        if operation.joined(seen).is_some() {
            return match operation.function.tries() {
                Some(busy) => Done::Returned(busy),
                None if operation.is_cancelled(seen) => Done::Cancelled,
                None => Done::Returned(operation.too_late(seen)),
            };
        }
        self.overlay.join(operation.space);
        Done::Whole(Whole::Join)
    }

    /// The library's own code requests the cancellation; only the overlay knows the wait that the other thread sleeps
    /// in.
    pub(super) fn cancel(&mut self) -> Done {
        if let Some(tid) = self.operation.joined(self.seen()) {
            self.overlay.thread_mut(self.operation.tid).cancels = Some(tid);
        }
        Done::Whole(Whole::Cancel)
    }
}
