//! Functions in which threads sleep until they are woken: condition variables and barriers.
//!
//! A wait at a condition variable is two steps: release and sleep, then acquire and return; others
//! may move in between, which is where lost wake-ups are. A signal wakes one sleeper, any of them
//! (`woken` is a choice of the search), because POSIX promises no order; real libraries have one,
//! and programs that rely on it are wrong. With nobody asleep a signal is lost.

use super::act::Act;
use super::layout::Flavour;
use super::operation::{Done, Mutex};
use crate::footprint::access::Kind;
use crate::system::overlay::Asleep;
use kernel::Tid;

const EPERM: u64 = 1;
const EINVAL: u64 = 22;
/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL_THREAD: u64 = 0xffff_ffff;

impl Act<'_> {
    fn sleep(&mut self, object: u64) -> Done {
        let stack_pointer = self.operation.stack_pointer;
        let overlay = self.overlay.thread_mut(self.operation.tid);
        overlay.asleep = Some(Asleep { object, woken: false, stack_pointer });
        Done::Sleeps
    }

    /// At first the thread releases the mutex and sleeps. Once woken, timed out or cancelled it acquires the mutex and
    /// returns.
    pub(super) fn wait(&mut self) -> Done {
        let condition = self.operation.object(self.seen(), self.operation.args[0], Kind::Condition);
        match (self.operation.asleep(self.seen()), self.operation.mutex(self.seen())) {
            (_, Mutex::Special) => Done::Unsummarised,
            (None, _) if self.operation.has_no_time(self.seen()) => Done::Returned(EINVAL),
            (None, Mutex::Mine { .. }) => {
                self.give_up();
                self.sleep(condition)
            }
            (None, _) => Done::Misused(EPERM, "a thread waits at a condition without holding its mutex"),
            (Some(asleep), _) => {
                let is_cancelled = self.operation.is_cancelled(self.seen());
                let late = self.operation.too_late(self.seen());
                self.overlay.thread_mut(self.operation.tid).asleep = None;
                self.acquire();
                match asleep.woken {
                    true => Done::Acquired(0),
                    // Clean-up handlers run with the mutex held (`pthread_cond_wait(3)`).
                    false if is_cancelled => Done::Cancelled,
                    false if !self.operation.is_late(self.seen()) => Done::Acquired(0),
                    false => Done::Acquired(late),
                }
            }
        }
    }

    fn wake(&mut self, tid: Tid) {
        if let Some(asleep) = &mut self.overlay.thread_mut(tid).asleep {
            asleep.woken = true;
        }
    }

    /// Whether threads sleep, or slept, in the library's own code: with a mutex that is not summarised.
    ///
    /// glibc and musl keep counts in the condition variable once their own code has waited there; a
    /// summarised signal would not change them and wake nobody.
    fn is_used_for_real(&self) -> bool {
        let (seen, at) = (self.seen(), self.operation.args[0]);
        let is_used = match self.operation.flavour {
            Flavour::Glibc | Flavour::Rust => self.operation.u64(seen, at),
            Flavour::Musl => self.operation.u64(seen, at.wrapping_add(8)),
        };
        is_used != 0 && self.operation.sleepers(seen).is_empty()
    }

    pub(super) fn signal(&mut self, woken: Option<Tid>) -> Done {
        if self.is_used_for_real() {
            return Done::Unsummarised;
        }
        let sleepers = self.operation.sleepers(self.seen());
        if let Some(tid) = woken.or(sleepers.first().copied()) {
            self.wake(tid);
        }
        Done::Returned(0)
    }

    pub(super) fn broadcast(&mut self) -> Done {
        if self.is_used_for_real() {
            return Done::Unsummarised;
        }
        for tid in self.operation.sleepers(self.seen()) {
            self.wake(tid);
        }
        Done::Returned(0)
    }

    pub(super) fn destroy_condition(&mut self) -> Done {
        match self.operation.sleepers(self.seen()).is_empty() {
            true if self.is_used_for_real() => Done::Unsummarised,
            true => Done::Returned(0),
            false => Done::Misused(0, "a condition variable is destroyed while threads wait at it"),
        }
    }

    /// The last to come does not sleep and is told that it is the serial thread; POSIX leaves open
    /// which one is.
    pub(super) fn barrier(&mut self) -> Done {
        let object = self.operation.object(self.seen(), self.operation.args[0], Kind::Condition);
        if self.operation.asleep(self.seen()).is_some() {
            self.overlay.thread_mut(self.operation.tid).asleep = None;
            return Done::Returned(0);
        }
        let sleepers = self.overlay.sleepers(object);
        let size = self.operation.flavour.barrier_size(self.load(self.operation.args[0].wrapping_add(8)));
        if (sleepers.len() as u32) + 1 < size {
            return self.sleep(object);
        }
        for tid in sleepers {
            self.wake(tid);
        }
        Done::Returned(SERIAL_THREAD)
    }
}
