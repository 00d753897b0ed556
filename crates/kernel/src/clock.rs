//! Virtual time: it moves when the world says so, never because the host's does.

/// The clocks of a world, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Clock {
    now: u64,
    /// The real-time clock when the monotonic one was 0: nanoseconds since 1970.
    epoch: u64,
}

impl Default for Clock {
    /// Noon of 1 January 2025, UTC, ten minutes after boot: neither is near a boundary that a program may care about.
    fn default() -> Self {
        Self { now: 600_000_000_000, epoch: 1_735_732_800_000_000_000 }
    }
}

impl Clock {
    /// The monotonic clock.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The real-time clock.
    #[must_use]
    pub fn real(&self) -> u64 {
        self.epoch.saturating_add(self.now)
    }

    /// The real-time clock when the monotonic one was 0.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Lets time pass up to `then`; never backwards.
    pub fn advance_to(&mut self, then: u64) {
        self.now = self.now.max(then);
    }

    /// Sets the real-time clock (`clock_settime(2)`); the monotonic one stays.
    pub fn set_real(&mut self, real: u64) {
        self.epoch = real.saturating_sub(self.now);
    }
}
