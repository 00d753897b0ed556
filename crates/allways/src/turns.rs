//! A search that stands still when it has had its share of the time, so that others have theirs, and then goes on.
//!
//! Without it the searches would run one after the other, and with `--time` the last properties
//! would get nothing, or each would get a fixed part and a search that could have used the rest
//! would be cut off. Here the first stands still, keeps its states, and goes on with whatever time
//! the others left.
//!
//! ```text
//! safety   ====share====|....paused....|=====until the end=====
//! others                |==============|
//! ```
//! **Invariant:** phases only go forward, `Searching` to `Paused` to `Free`, or straight to `Free`.
//! `Free` is set by a guard, so a panic in the search cannot leave somebody waiting.

use crate::safety::Watch;
use report::Progress;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The share of one search, watched by those who wait for it.
pub struct Turns {
    share: Duration,
    started: Instant,
    phase: Mutex<Phase>,
    changed: Condvar,
    bytes: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It has not used up its share.
    Searching,
    /// It has, and stands still.
    Paused,
    /// It goes on until it ends, or has ended.
    Free,
}

/// Lets the others go on when a search ends, also by a panic.
pub struct Ends<'t>(&'t Turns);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}

impl Turns {
    /// A search that may take so long before others get their turn.
    pub fn new(share: Duration) -> Self {
        let (phase, changed) = (Mutex::new(Phase::Searching), Condvar::new());
        Self { share, started: Instant::now(), phase, changed, bytes: AtomicU64::new(0) }
    }

    /// Searches, standing still as long as others have their turn.
    pub fn search<T>(&self, watch: Watch<'_>, search: impl FnOnce(Watch<'_>) -> T) -> T {
        let _ends = Ends(self);
        let progress = |progress: &Progress| {
            self.bytes.store(progress.memory_bytes, Ordering::Relaxed);
            (watch.progress)(progress);
        };
        search(Watch { progress: &progress, pause: Some(&|| self.pause()), ..watch })
    }

    /// Waits until the search has had its share or has ended; whether it stands still.
    pub fn wait(&self) -> bool {
        let searching = |phase: &mut Phase| *phase == Phase::Searching;
        let phase = self.changed.wait_while(self.lock(), searching).unwrap_or_else(PoisonError::into_inner);
        *phase == Phase::Paused
    }

    /// Lets the search go on.
    pub fn resume(&self) {
        *self.lock() = Phase::Free;
        self.changed.notify_all();
    }

    /// Memory of the search while it stands still, about.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Called by every worker of the search, often.
    ///
    /// Until the share is over it costs a look at the clock.
    fn pause(&self) {
        if self.started.elapsed() < self.share {
            return;
        }
        let mut phase = self.lock();
        if *phase == Phase::Searching {
            *phase = Phase::Paused;
            self.changed.notify_all();
        }
        drop(self.changed.wait_while(phase, |phase| *phase == Phase::Paused));
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_search_stands_still_after_its_share_and_goes_on_when_it_may() {
        let turns = Turns::new(Duration::ZERO);
        let (stop, done) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
        let watch = Watch { stop: &stop, progress: &|_| {}, pause: None, journal: None };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                turns.search(watch, |watch| (watch.pause.expect("a hook"))());
                done.store(true, Ordering::Relaxed);
            });
            assert!(turns.wait());
            assert!(!done.load(Ordering::Relaxed));
            turns.resume();
        });
        assert!(done.load(Ordering::Relaxed));
    }

    #[test]
    fn nobody_waits_for_a_search_that_ended_before_its_share() {
        let turns = Turns::new(Duration::MAX);
        let stop = Arc::new(AtomicBool::new(false));
        turns.search(Watch { stop: &stop, progress: &|_| {}, pause: None, journal: None }, |_| ());
        assert!(!turns.wait());
    }
}
