//! What the kernel keeps of timers.

use super::alarm::{Alarm, TimeBase};
use crate::id::{Pid, Tid};
use crate::map::Map;
use std::collections::BTreeMap;

/// Armed timers, by process.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Timers {
    pub(super) by_process: Map<Pid, Own>,
}

/// The timers of one process.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Own {
    /// `ITIMER_REAL`, `ITIMER_VIRTUAL`, `ITIMER_PROF`.
    pub(super) interval: [Alarm; 3],
    /// Timers of `timer_create(2)`, by number.
    pub(super) posix: BTreeMap<i32, Timer>,
    /// The number of the next one.
    pub(super) next: i32,
}

/// A timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timer {
    pub(super) base: TimeBase,
    pub(super) alarm: Alarm,
    pub(super) notify: Notify,
    /// How often it fired while its last signal was pending.
    pub(super) overrun: i32,
}

/// What a timer does when it fires (`sigevent(7)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Notify {
    Nothing,
    Signal { number: u8, value: u64, thread: Option<Tid> },
}
