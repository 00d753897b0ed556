//! Bounds, interruption and progress: everything that ends a search from outside the state space.
#![allow(clippy::disallowed_methods, reason = "limits are of the host's time")]

use super::options::{Control, Options, Progress};
use super::outcome::Incomplete;
use crate::patience::Patience;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time between two calls of the progress callback.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// How many states to expand between two polls of the clock: a poll costs a little, and states may take long.
pub struct Rhythm {
    every: u32,
    left: u32,
    looked: Instant,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self { every: 1, left: 1, looked: Instant::now() }
    }
}

impl Rhythm {
    /// Most states between two polls. At a poll the shared counts are updated, too, and the store is released, which takes a
    /// microsecond if several workers do so.
    const MOST: u32 = 512;
    /// If so much has passed since the last poll, polls were too few.
    const LONG: Duration = Duration::from_millis(10);

    /// Counts a state; whether to poll.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look(Instant::now())
    }

    fn look(&mut self, now: Instant) -> bool {
        let late = now.duration_since(self.looked) >= Self::LONG;
        self.every = if late { self.every.div_ceil(8) } else { (2 * self.every).min(Self::MOST) };
        (self.left, self.looked) = (self.every, now);
        true
    }
}

/// Shared by all workers of a search; each reports to it every few dozen states.
pub struct Watch<'a> {
    control: Control<'a>,
    patience: Patience,
    started: Instant,
    /// Seconds that an earlier part of the search took.
    earlier: OnceLock<f64>,
    time_max: Option<Duration>,
    states_max: u64,
    bytes_max: u64,
    reported: Mutex<Instant>,
    stopped: AtomicBool,
    reasons: Mutex<Vec<Incomplete>>,
    /// Distinct states so far.
    pub states: AtomicU64,
    /// Steps so far.
    pub steps: AtomicU64,
    /// States to expand in the current level.
    pub frontier: AtomicU64,
    /// Depth of the current level.
    pub depth: AtomicU32,
    /// Bytes of the frontier.
    pub bytes_frontier: AtomicU64,
    /// Estimated total number of states; 0 if there is no estimate.
    pub estimate: AtomicU64,
}

impl<'a> Watch<'a> {
    /// The control of another search that is part of this one.
    pub fn control(&self) -> Control<'a> {
        self.control
    }

    /// What is left of the time.
    pub fn time_left(&self) -> Option<Duration> {
        self.time_max.map(|most| most.saturating_sub(self.started.elapsed()))
    }

    /// Starts the clock.
    pub fn new(options: &Options, control: Control<'a>) -> Self {
        let now = Instant::now();
        Self {
            control,
            patience: Patience::new(options.bounds.time, control.interrupt),
            started: now,
            earlier: OnceLock::new(),
            time_max: options.bounds.time,
            states_max: options.bounds.states.unwrap_or(u64::MAX),
            bytes_max: options.bounds.bytes.unwrap_or(u64::MAX),
            reported: Mutex::new(now),
            stopped: AtomicBool::new(false),
            reasons: Mutex::new(Vec::new()),
            states: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            frontier: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            bytes_frontier: AtomicU64::new(0),
            estimate: AtomicU64::new(0),
        }
    }

    /// When a worker cuts a step that takes long.
    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Ends the search because a step was cut.
    pub fn cut(&self, bytes_store: u64) {
        if self.poll(bytes_store) {
            self.stop(Incomplete::Time);
        }
    }

    /// Ends the search for this reason.
    pub fn stop(&self, reason: Incomplete) {
        self.note(reason);
        self.stopped.store(true, Relaxed);
    }

    /// Notes that the search is incomplete without ending it.
    pub fn note(&self, reason: Incomplete) {
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    /// Whether the search is to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Checks every bound against `bytes_store` and the counts, and reports progress; whether to go on.
    pub fn poll(&self, bytes_store: u64) -> bool {
        if self.is_stopped() {
            return false;
        }
        if let Some(pause) = self.control.pause {
            pause();
        }
        let elapsed = self.started.elapsed();
        if self.control.interrupt.is_some_and(|flag| flag.load(Relaxed)) {
            self.stop(Incomplete::Interrupted);
        }
        if self.time_max.is_some_and(|most| elapsed >= most) {
            self.stop(Incomplete::Time);
        }
        if self.states.load(Relaxed) >= self.states_max {
            self.stop(Incomplete::StateBound);
        }
        if bytes_store.saturating_add(self.bytes_frontier.load(Relaxed)) > self.bytes_max {
            self.stop(Incomplete::Memory);
        }
        self.report(bytes_store, elapsed);
        !self.is_stopped()
    }

    fn report(&self, bytes_store: u64, elapsed: Duration) {
        let Some(progress) = self.control.progress else { return };
        let Ok(mut reported) = self.reported.try_lock() else { return };
        if reported.elapsed() < PROGRESS_EVERY {
            return;
        }
        *reported = Instant::now();
        let states = self.states.load(Relaxed);
        progress(&Progress {
            states,
            steps: self.steps.load(Relaxed),
            frontier: self.frontier.load(Relaxed),
            depth: self.depth.load(Relaxed),
            rate: states as f64 / self.seconds().max(1e-9),
            bytes: bytes_store + self.bytes_frontier.load(Relaxed),
            states_estimate: Some(self.estimate.load(Relaxed)).filter(|states| *states > 0),
            elapsed,
        });
    }

    /// Notes that the search goes on after so many seconds.
    pub fn begin_after(&self, seconds: f64) {
        let _ = self.earlier.set(seconds.max(0.0));
    }

    /// Time since the start, with that of the earlier part of a search that goes on.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() + self.earlier.get().unwrap_or(&0.0)
    }

    /// Whether the search has been ended although it could go on.
    pub fn may_go_on(&self) -> bool {
        self.is_stopped() && self.reasons().iter().any(|reason| reason.may_go_on())
    }

    /// Why the search is not complete, in a fixed order.
    pub fn reasons(&self) -> Vec<Incomplete> {
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reasons.sort();
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_polled_more_often_where_states_take_long() {
        let mut rhythm = Rhythm::default();
        let mut now = rhythm.looked;
        for _ in 0..12 {
            rhythm.look(now);
        }
        assert_eq!(rhythm.left, Rhythm::MOST);
        for expected in [64, 8, 1, 1] {
            now += Rhythm::LONG;
            assert!(rhythm.look(now));
            assert_eq!(rhythm.left, expected);
        }
    }
}
