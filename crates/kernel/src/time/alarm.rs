//! When timers fire: the clocks they count by, and when the next expiration is due.

use crate::id::{Pid, Tid};

/// What a clock counts (`clock_gettime(2)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TimeBase {
    /// Time since 1970.
    Real,
    /// Time since boot.
    Monotonic,
    /// Processor time of a process.
    Process(Pid),
    /// Processor time of a thread.
    Thread(Tid),
}

/// When something fires, by whatever clock it counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Alarm {
    /// When it fires, or has fired; nothing if it is disarmed.
    pub(super) due: Option<u64>,
    /// Time between later expirations; 0 for none.
    pub(super) interval: u64,
    /// It has fired and rests until its signal is taken.
    pub(super) fired: bool,
}

impl Alarm {
    /// Fires in `after` nanoseconds, unless that is 0.
    pub(super) fn after(now: u64, after: u64, interval: u64) -> Self {
        Self { due: (after > 0).then(|| now.saturating_add(after)), interval, fired: false }
    }

    /// Whether it must fire now.
    pub(super) fn is_due(&self, now: u64) -> bool {
        !self.fired && self.due.is_some_and(|due| now >= due)
    }

    /// Time until it fires; 0 if it is disarmed, and never 0 if it is not.
    pub(super) fn left(&self, now: u64) -> u64 {
        let Some(due) = self.due else { return 0 };
        let due = if now >= due && self.interval > 0 { self.after_missed(due, now) } else { due };
        if self.fired && self.interval == 0 { 0 } else { due.saturating_sub(now).max(1) }
    }

    /// Expirations from the first that is due up to now.
    pub(super) fn missed(&self, now: u64) -> u64 {
        let due = self.due.unwrap_or(now);
        if now < due || self.interval == 0 { 0 } else { (now - due) / self.interval + 1 }
    }

    /// The first expiration after now.
    fn after_missed(&self, due: u64, now: u64) -> u64 {
        due.saturating_add(self.interval.saturating_mul(self.missed(now)))
    }

    /// Arms the next expiration after one was handled; gives back how many were skipped.
    pub(super) fn rearm(&mut self, now: u64) -> u64 {
        let missed = self.missed(now);
        self.due = self.due.filter(|_| self.interval > 0).map(|due| self.after_missed(due, now));
        self.fired = false;
        missed.saturating_sub(1)
    }
}
