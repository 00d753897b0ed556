//! What a check may use: time, memory and the user's patience. One value, shared by all workers and all phases.
//!
//! Long computations ask [`Budget::spent`] every few microseconds to milliseconds, and end when it has an answer.
//!
//! **Invariant:** once a budget is spent it stays spent, for the same reason, in every clone.
#![allow(clippy::disallowed_methods, reason = "limits are of the host's time")]

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Why a budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spent {
    /// The user wants to stop.
    Interrupted,
    /// The time is over.
    Time,
    /// Too much memory is in use.
    Memory,
}

impl Spent {
    const ALL: [Self; 3] = [Self::Interrupted, Self::Time, Self::Memory];
}

/// What there is to spend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// Wall-clock time from now on.
    pub time: Option<Duration>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Measures the memory in use.
    pub meter: Option<fn() -> Option<u64>>,
}

/// What a check may use.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    interrupt: Arc<AtomicBool>,
    /// When an interruption was first noticed.
    interrupted: Arc<OnceLock<Instant>>,
    /// How long to go on after it.
    patience: Duration,
    allowance: Allowance,
    started: Instant,
    deadline: Option<Instant>,
    /// When memory is measured next, in microseconds after the start.
    memory_due: AtomicU64,
    /// One more than the place in [`Spent::ALL`]; 0 as long as there is something left.
    spent: AtomicU8,
}

/// Time between two measurements of the memory in use: no guest can take more than a few megabytes meanwhile.
const MEMORY_EVERY: Duration = Duration::from_millis(1);
/// How long a report may take after an interruption. A second is promised; what is left of it is for printing.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long a report may take after the time is over: so long, or this part of the time, and as long again to say why a
/// search may never end. Two seconds or a twentieth are promised.
const GRACE: Duration = Duration::from_millis(600);
const GRACE_PART: u32 = 60;

impl Default for Budget {
    fn default() -> Self {
        Self::new(Arc::default(), Allowance::default())
    }
}

/// Not part of any state, nor of any option that a result depends on: all budgets are equal.
impl PartialEq for Budget {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Budget {}

impl Budget {
    /// A budget that is also spent when the flag becomes true.
    #[must_use]
    pub fn new(interrupt: Arc<AtomicBool>, allowance: Allowance) -> Self {
        let started = Instant::now();
        let deadline = allowance.time.and_then(|time| started.checked_add(time));
        Self::shared(interrupt, Arc::default(), Duration::ZERO, allowance, deadline)
    }

    fn shared(
        interrupt: Arc<AtomicBool>,
        interrupted: Arc<OnceLock<Instant>>,
        patience: Duration,
        allowance: Allowance,
        deadline: Option<Instant>,
    ) -> Self {
        let (started, memory_due, spent) = (Instant::now(), AtomicU64::new(0), AtomicU8::new(0));
        let shared = Shared { interrupt, interrupted, patience, allowance, started, deadline, memory_due, spent };
        Self(Arc::new(shared))
    }

    /// The budget of the report: a little more of everything, however the search has ended.
    #[must_use]
    pub fn closing(&self) -> Self {
        let Shared { interrupt, interrupted, allowance, deadline, .. } = &*self.0;
        let grace = allowance.time.map_or(GRACE, |time| GRACE.max(time / GRACE_PART));
        let memory = allowance.memory.map(|bytes| bytes.saturating_add(bytes / 10).saturating_add(32 << 20));
        let allowance = Allowance { memory, ..*allowance };
        let deadline = deadline.and_then(|deadline| deadline.checked_add(grace));
        Self::shared(Arc::clone(interrupt), Arc::clone(interrupted), PATIENCE, allowance, deadline)
    }

    /// The flag of the user who wants to stop.
    #[must_use]
    pub fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.0.interrupt
    }

    /// The time and the memory that are left, where they are limited.
    #[must_use]
    pub fn left(&self) -> (Option<Duration>, Option<u64>) {
        let Shared { allowance, deadline, .. } = &*self.0;
        let time = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let used = allowance.meter.and_then(|meter| meter()).unwrap_or(0);
        (time, allowance.memory.map(|most| most.saturating_sub(used)))
    }

    /// Why it is spent, if it is. Cheap.
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        let known = self.0.spent.load(Relaxed);
        if known > 0 {
            return Some(Spent::ALL[usize::from(known - 1)]);
        }
        let why = self.look()?;
        let number = Spent::ALL.iter().position(|other| *other == why).expect("all are listed") as u8 + 1;
        match self.0.spent.compare_exchange(0, number, Relaxed, Relaxed) {
            Ok(_) => Some(why),
            Err(earlier) => Some(Spent::ALL[usize::from(earlier - 1)]),
        }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.spent().is_some()
    }

    /// The bytes of memory that may be used.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.0.allowance.memory
    }

    fn look(&self) -> Option<Spent> {
        let shared = &*self.0;
        let now = Instant::now();
        if shared.interrupt.load(Relaxed) {
            let since = *shared.interrupted.get_or_init(|| now);
            if now.saturating_duration_since(since) >= shared.patience {
                return Some(Spent::Interrupted);
            }
        }
        if shared.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Spent::Time);
        }
        self.is_too_large(now).then_some(Spent::Memory)
    }

    fn is_too_large(&self, now: Instant) -> bool {
        let shared = &*self.0;
        let (Some(most), Some(meter)) = (shared.allowance.memory, shared.allowance.meter) else { return false };
        let passed = now.saturating_duration_since(shared.started).as_micros() as u64;
        if passed < shared.memory_due.load(Relaxed) {
            return false;
        }
        shared.memory_due.store(passed + MEMORY_EVERY.as_micros() as u64, Relaxed);
        meter().is_some_and(|bytes| bytes > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(allowance: Allowance) -> (Arc<AtomicBool>, Budget) {
        let flag = Arc::new(AtomicBool::new(false));
        (Arc::clone(&flag), Budget::new(flag, allowance))
    }

    #[test]
    fn a_budget_without_limits_is_never_spent() {
        assert_eq!(Budget::default().spent(), None);
    }

    #[test]
    fn all_clones_give_the_first_reason() {
        let time = Some(Duration::ZERO);
        let (flag, budget) = with(Allowance { time, ..Allowance::default() });
        assert_eq!(budget.clone().spent(), Some(Spent::Time));
        flag.store(true, Relaxed);
        assert_eq!(budget.spent(), Some(Spent::Time));
    }

    #[test]
    fn a_report_may_take_a_little_longer_than_the_search() {
        let (flag, budget) = with(Allowance { time: Some(Duration::ZERO), ..Allowance::default() });
        assert_eq!((budget.spent(), budget.closing().spent()), (Some(Spent::Time), None));
        let (other_flag, other) = with(Allowance::default());
        other_flag.store(true, Relaxed);
        assert_eq!((other.spent(), other.closing().spent()), (Some(Spent::Interrupted), None));
        drop(flag);
    }

    #[test]
    fn what_is_left_is_what_was_not_used() {
        let meter: fn() -> Option<u64> = || Some(100);
        let hour = Duration::from_secs(3600);
        let (_, budget) = with(Allowance { time: Some(hour), memory: Some(150), meter: Some(meter) });
        let (time, memory) = budget.left();
        assert_eq!((time.is_some_and(|time| time <= hour && time > hour / 2), memory), (true, Some(50)));
        assert_eq!(Budget::default().left(), (None, None));
    }

    #[test]
    fn memory_is_what_the_meter_says() {
        let meter: fn() -> Option<u64> = || Some(100);
        let of = |memory| with(Allowance { memory: Some(memory), meter: Some(meter), ..Allowance::default() }).1;
        assert_eq!((of(100).spent(), of(99).spent()), (None, Some(Spent::Memory)));
        let tight = of(99);
        assert_eq!((tight.spent(), tight.closing().spent()), (Some(Spent::Memory), None), "a report needs some, too");
    }
}
