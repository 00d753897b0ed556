//! When to cut a step that takes long.
#![allow(clippy::disallowed_methods, reason = "limits are of the host's time")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// When the computation of a step is cut: most steps take a microsecond, but some run through a long atomic sequence. Without
/// limits by default.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    deadline: Option<Instant>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Patience {
    /// Ends when so much time has passed, or when the flag is true.
    #[must_use]
    pub fn new(time: Option<Duration>, interrupt: Option<&Arc<AtomicBool>>) -> Self {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Self { deadline, interrupt: interrupt.cloned() }
    }

    /// Whether it is over. Reads the clock.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
