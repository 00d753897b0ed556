//! Deadlines of timed waits.

use super::functions::{ClockOf, Limit};
use super::layout::Flavour;
use super::operation::{Operation, Seen};

const NANOSECONDS: u64 = 1_000_000_000;
const EINVAL: u64 = 22;
const ETIMEDOUT: u64 = 110;

impl Operation {
    /// The clock of the deadline, and the address of its time.
    fn time(&self, seen: Seen<'_>) -> Option<(u64, u64)> {
        const CLOCK_REALTIME: u64 = 0;
        let Limit::Until(clock, time) = self.function.limit() else { return None };
        let clock = match clock {
            ClockOf::RealTime => CLOCK_REALTIME,
            ClockOf::Argument(number) => self.args[usize::from(number)],
            ClockOf::Condition => self.condition_clock(seen),
        };
        let address = self.args[usize::from(time)];
        // A join without a time waits for ever.
        (address != 0).then_some((clock, address))
    }

    /// The deadline of the call, on the monotonic clock.
    #[must_use]
    pub fn deadline(&self, seen: Seen<'_>) -> Option<u64> {
        const CLOCK_MONOTONIC: u64 = 1;
        let (clock, address) = self.time(seen)?;
        // Negative times have expired.
        let seconds = u64::try_from(self.u64(seen, address).cast_signed()).unwrap_or(0);
        let at = seconds.saturating_mul(NANOSECONDS).saturating_add(self.u64(seen, address.wrapping_add(8)));
        let clocks = &seen.kernel.clock;
        Some(if clock == CLOCK_MONOTONIC { at } else { at.saturating_sub(clocks.real() - clocks.now()) })
    }

    /// The clock of a condition variable (`pthread_condattr_setclock(3)`).
    fn condition_clock(&self, seen: Seen<'_>) -> u64 {
        match self.flavour {
            Flavour::Glibc | Flavour::Rust => u64::from(self.u32(seen, self.args[0].wrapping_add(36)) >> 1 & 1),
            Flavour::Musl => u64::from(self.u32(seen, self.args[0].wrapping_add(16))),
        }
    }

    /// Whether the deadline is invalid: too many nanoseconds, or an unknown clock.
    pub(super) fn has_no_time(&self, seen: Seen<'_>) -> bool {
        let is_wrong =
            |(clock, address): (u64, u64)| clock > 1 || self.u64(seen, address.wrapping_add(8)) >= NANOSECONDS;
        self.time(seen).is_some_and(is_wrong)
    }

    /// Whether the deadline has expired, or is invalid.
    pub(super) fn is_late(&self, seen: Seen<'_>) -> bool {
        let is_over = |deadline| seen.kernel.clock.now() >= deadline;
        self.has_no_time(seen) || self.deadline(seen).is_some_and(is_over)
    }

    /// The error that it returns then.
    pub(super) fn too_late(&self, seen: Seen<'_>) -> u64 {
        if self.has_no_time(seen) { EINVAL } else { ETIMEDOUT }
    }
}
