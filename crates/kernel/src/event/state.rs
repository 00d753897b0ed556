//! What the kernel keeps of event descriptors.

use super::counter::Counter;
use super::epoll::{Epoll, Watcher};
use super::timer::Timer;
use crate::descriptor::File;
use crate::id::Id;
use crate::map::Map;

/// Event counters, epoll sets and their kin.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Events {
    /// `eventfd(2)`.
    pub counters: Map<Id, Counter>,
    /// `timerfd_create(2)`.
    pub timers: Map<Id, Timer>,
    /// `signalfd(2)`: the sets of signals, bit `n - 1` for signal `n`.
    pub signals: Map<Id, u64>,
    /// `epoll(7)`.
    pub epolls: Map<Id, Epoll>,
    /// Which epoll sets watch a file, in the order in which they began to.
    pub watchers: Map<File, Vec<Watcher>>,
}
