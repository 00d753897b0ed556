//! How long a call may wait, in the many shapes in which calls are told.

use crate::call::{Call, Stop};
use crate::errno::EINVAL;
use crate::signal;

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeout {
    /// Not at all.
    Zero,
    /// This many nanoseconds.
    After(u64),
    /// For ever.
    Never,
}

impl Timeout {
    /// From milliseconds, negative for ever, as `poll(2)` and `epoll_wait(2)` take it.
    #[must_use]
    pub fn from_milliseconds(milliseconds: i32) -> Self {
        match u64::try_from(milliseconds) {
            Ok(0) => Self::Zero,
            Ok(milliseconds) => Self::After(milliseconds * 1_000_000),
            Err(_) => Self::Never,
        }
    }

    /// From nanoseconds.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: u64) -> Self {
        if nanoseconds == 0 { Self::Zero } else { Self::After(nanoseconds) }
    }
}

impl Call<'_> {
    /// Two 64-bit numbers, as `struct timespec` and `struct timeval` are.
    fn load_pair(&mut self, address: u64) -> Result<(i64, i64), Stop> {
        let first = self.load_u64(address)?;
        Ok((first as i64, self.load_u64(address.wrapping_add(8))? as i64))
    }

    /// A `struct timespec` in nanoseconds; `EINVAL` if it is none.
    pub fn load_timespec(&mut self, address: u64) -> Result<u64, Stop> {
        let (seconds, nanoseconds) = self.load_pair(address)?;
        if seconds < 0 || !(0..SECOND as i64).contains(&nanoseconds) {
            return Err(EINVAL.into());
        }
        Ok((seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds as u64))
    }

    /// Writes nanoseconds as a `struct timespec`.
    pub fn store_timespec(&mut self, address: u64, nanoseconds: u64) -> Result<(), Stop> {
        self.store_u64(address, nanoseconds / SECOND)?;
        self.store_u64(address.wrapping_add(8), nanoseconds % SECOND)
    }

    /// A timeout given as a `struct timespec`; for ever if the address is null.
    pub fn load_timeout(&mut self, address: u64) -> Result<Timeout, Stop> {
        match address {
            0 => Ok(Timeout::Never),
            address => self.load_timespec(address).map(Timeout::from_nanoseconds),
        }
    }

    /// A timeout given as a `struct timeval`, whose microseconds may exceed a second (`select(2)`).
    pub fn load_timeval(&mut self, address: u64) -> Result<Timeout, Stop> {
        if address == 0 {
            return Ok(Timeout::Never);
        }
        let (seconds, microseconds) = self.load_pair(address)?;
        if seconds < 0 || microseconds < 0 {
            return Err(EINVAL.into());
        }
        let nanoseconds = (microseconds as u64).saturating_mul(1000);
        Ok(Timeout::from_nanoseconds((seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds)))
    }

    /// The timeout of a call that waits until it is over: read when the call begins, never again when it is redone.
    pub fn timeout_once(&mut self, load: impl FnOnce(&mut Self) -> Result<Timeout, Stop>) -> Result<Timeout, Stop> {
        match &self.resumed {
            Some(wait) => Ok(wait.deadline.map_or(Timeout::Never, Timeout::After)),
            None => load(self),
        }
    }

    /// When a call with this timeout ends at the latest; a call that is redone keeps its first deadline.
    #[must_use]
    pub fn deadline(&self, timeout: Timeout) -> Option<u64> {
        if let Some(resumed) = &self.resumed {
            return resumed.deadline;
        }
        match timeout {
            Timeout::Never => None,
            Timeout::Zero => Some(self.kernel.clock.now()),
            Timeout::After(nanoseconds) => Some(self.kernel.clock.now().saturating_add(nanoseconds)),
        }
    }

    /// How much of a timeout is left.
    #[must_use]
    pub fn time_left(&self, timeout: Timeout) -> u64 {
        let deadline = self.deadline(timeout).unwrap_or(u64::MAX);
        deadline.saturating_sub(self.kernel.clock.now())
    }

    /// Takes a temporary signal mask for the time of the call (`ppoll(2)`, `epoll_pwait(2)`); it ends with the call.
    pub fn take_mask(&mut self, address: u64, size: u64) -> Result<(), Stop> {
        if address == 0 || self.resumed.is_some() {
            return Ok(());
        }
        if size != 8 {
            return Err(EINVAL.into());
        }
        let mask = self.load_u64(address)?;
        signal::swap_mask(self, mask);
        Ok(())
    }
}
