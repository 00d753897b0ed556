//! A timer that can be read and waited for (`timerfd_create(2)`).

use crate::clock::Clock;

/// A timer that can be read.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Timer {
    /// It counts by the real-time clock.
    pub(super) real: bool,
    /// `due` is a time of the real-time clock, which may be set.
    pub(super) due_real: bool,
    /// When it fires, or has fired; nothing if it is disarmed.
    pub(super) due: Option<u64>,
    /// Nanoseconds between later expirations; 0 for none.
    pub(super) interval: u64,
    /// It has fired and was not read since. A periodic timer rests until then, as in Linux; missed turns are counted when
    /// it is read, so a timer that nobody reads keeps nothing moving.
    pub(super) fired: bool,
    /// Expirations that were not read.
    pub(super) ticks: u64,
}

impl Timer {
    /// When it fires next, on the monotonic clock.
    #[must_use]
    pub fn deadline(&self, clock: &Clock) -> Option<u64> {
        let due = self.due.filter(|_| !self.fired)?;
        Some(if self.due_real { due.saturating_sub(clock.real() - clock.now()) } else { due })
    }

    /// The time by the clock that `due` refers to.
    fn now(&self, clock: &Clock) -> u64 {
        if self.due_real { clock.real() } else { clock.now() }
    }

    /// Counts the turns that a periodic timer has missed since it fired, and arms it again.
    pub(super) fn catch_up(&mut self, clock: &Clock) {
        let (true, Some(due)) = (self.fired && self.interval > 0, self.due) else { return };
        let missed = self.now(clock).saturating_sub(due) / self.interval;
        self.ticks += missed;
        self.due = Some(due + self.interval * (missed + 1));
        self.fired = false;
    }

    /// Time to the next expiration; 0 if it is disarmed.
    pub(super) fn left(&self, clock: &Clock) -> u64 {
        // A timer that is due this very moment but has not fired must not look disarmed (`timerfd_create(2)`).
        let left = |due: u64| due.saturating_sub(self.now(clock)).max(1);
        self.due.filter(|_| !self.fired).map_or(0, left)
    }
}
