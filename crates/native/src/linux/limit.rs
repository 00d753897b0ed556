//! How long a program may take, by its own time.
//!
//! A machine that has other things to do says nothing of the program. So what counts is when its threads run, and when all of them
//! are blocked; not when one could run and was given no processor. Whoever asks can stop at any time.

use crate::host::rest::Pause;
use crate::host::threads::{Thread, collect};
use crate::problem::Problem;
use crate::spec::in_words;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often the time of the threads is looked at. The kernel counts it at each tick of its clock, 10 ms at most.
const PERIOD: Duration = Duration::from_millis(20);
/// What a period counts at most: whoever looks may have been stopped, or not been given a processor.
const PERIOD_MAX: Duration = Duration::from_millis(100);

/// Whether whoever asks wants to stop.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// How long something may take.
///
/// What each state of a thread means for it: *running* uses patience up, for a program that computes for ever never answers;
/// *runnable* does not, for that is the machine's doing; *blocked* does, for what it waits for may never come. Whether all are
/// blocked and at rest is decided elsewhere (`rest.rs`), and ends the wait before.
pub(crate) struct Limit<'a> {
    patience: Duration,
    stop: Stop<'a>,
    /// The process that was started, and that has all others as descendants.
    root: u32,
    begun: Instant,
    used: OwnTime,
    pause: Pause,
}

impl<'a> Limit<'a> {
    pub fn new(patience: Duration, root: u32, stop: Stop<'a>) -> Self {
        let (begun, used, pause) = (Instant::now(), OwnTime::default(), Pause::default());
        Self { patience, stop, root, begun, used, pause }
    }

    /// Pauses, unless it has taken too long.
    pub fn wait(&mut self, too_long: impl FnOnce(String) -> Problem) -> Result<(), Problem> {
        self.check(too_long)?;
        self.pause.take();
        Ok(())
    }

    /// Goes on, unless it has taken too long.
    pub fn check(&mut self, too_long: impl FnOnce(String) -> Problem) -> Result<(), Problem> {
        if (self.stop)() {
            return Err(Problem::Stopped);
        }
        let period = self.begun.elapsed();
        if period >= PERIOD {
            self.begun = Instant::now();
            self.used.add(period, &collect(self.root).unwrap_or_default());
        }
        if self.used.total > self.patience { Err(too_long(in_words(self.patience))) } else { Ok(()) }
    }
}

/// The time in which a program ran, or was blocked.
///
/// **Invariant:** it grows by at most the time that has passed, and does not stand still for ever unless no thread is ever given a
/// processor: a program that goes on for ever is given up.
#[derive(Default)]
struct OwnTime {
    total: Duration,
    /// How long each thread had run, and could have run and did not; nothing before the first look.
    known: Option<BTreeMap<u32, (Duration, Duration)>>,
}

impl OwnTime {
    /// Adds a period of time, by what the threads say at its end. The first one is only where the others begin.
    fn add(&mut self, period: Duration, threads: &[Thread]) {
        let now = threads.iter().map(|thread| (thread.tid, (thread.ran, thread.queued))).collect();
        let Some(known) = self.known.replace(now) else { return };
        let period = period.min(PERIOD_MAX);
        let (mut ran, mut held_up) = (Duration::ZERO, Duration::ZERO);
        for thread in threads {
            let before = known.get(&thread.tid).copied().unwrap_or_default();
            let runs = thread.ran.saturating_sub(before.0);
            let queued = thread.queued.saturating_sub(before.1);
            // How long a thread waits for a processor is counted when it gets one.
            let is_held_up = thread.is_runnable() && runs.is_zero();
            ran += runs;
            held_up += if is_held_up { queued.max(period) } else { queued };
        }
        // Threads that wait for each other are held up one after the other, so their times add up.
        self.total += period.min(ran).max(period.saturating_sub(held_up));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread as it is at a look: its state, and milliseconds that it had run and been queued.
    type At = (char, u64, u64);

    fn look(threads: &[At]) -> Vec<Thread> {
        let thread = |(tid, (state, ran, queued)): (u32, &At)| {
            let (ran, queued) = (Duration::from_millis(*ran), Duration::from_millis(*queued));
            Thread { pid: 1, tid, turns: 0, ran, queued, state: *state }
        };
        (1..).zip(threads).map(thread).collect()
    }

    #[test]
    fn what_counts_is_running_and_being_blocked_but_not_being_kept_from_running() {
        let table: [(&str, u64, &[At], u64); 9] = [
            ("it runs", 20, &[('R', 120, 50)], 20),
            ("it is blocked", 20, &[('S', 100, 50)], 20),
            ("it waits for a device", 20, &[('D', 100, 50)], 20),
            ("it could run and does not, which is not counted yet", 20, &[('R', 100, 50)], 0),
            ("it ran a quarter of the time", 20, &[('R', 105, 65)], 5),
            ("it was kept from running, and is blocked now", 20, &[('S', 101, 60)], 10),
            ("two threads run, and a third one could", 20, &[('R', 120, 50), ('R', 20, 0), ('R', 0, 0)], 20),
            ("two threads were kept from running, one after the other", 20, &[('S', 101, 59), ('S', 1, 9)], 2),
            ("whoever looks was away for a while", 9_000, &[('S', 100, 50)], 100),
        ];
        for (what, period, threads, expected) in table {
            let mut used = OwnTime::default();
            used.add(Duration::from_secs(5), &look(&[('R', 100, 50)]));
            assert_eq!(used.total, Duration::ZERO, "the first look is where the others begin");
            used.add(Duration::from_millis(period), &look(threads));
            assert_eq!(used.total, Duration::from_millis(expected), "{what}");
        }
    }

    #[test]
    fn threads_that_come_and_go_unseen_count_as_blocked() {
        let mut used = OwnTime::default();
        used.add(PERIOD, &look(&[('S', 0, 0)]));
        used.add(PERIOD, &[]);
        assert_eq!(used.total, PERIOD);
    }
}
