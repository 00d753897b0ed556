//! `epoll(7)`: sets of watched files.
//!
//! A set keeps a list of the items that may be ready, in the order in which they became so, as Linux does: it decides the
//! order of the events and makes edges exact. Whether an item is ready is asked of its file when the list is looked at.

use crate::descriptor::Fd;
use crate::id::Id;
use std::collections::BTreeMap;

/// One of several sets is enough.
pub const EPOLLEXCLUSIVE: u32 = 1 << 28;
/// Keep the system awake: no effect without a system that sleeps.
pub(super) const EPOLLWAKEUP: u32 = 1 << 29;
/// Once, then not until asked again.
pub const EPOLLONESHOT: u32 = 1 << 30;
/// Only when something new happens.
pub const EPOLLET: u32 = 1 << 31;
/// The bits that are not events.
pub(super) const PRIVATE: u32 = EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET;

/// A set of watched files.
///
/// **Invariant:** `listed` has no key twice and no key that is not in `items`. Its order is part of
/// the state: Linux reports events in the order in which files became ready, and programs that take
/// one event at a time depend on it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Epoll {
    /// What is watched.
    pub items: BTreeMap<Key, Item>,
    /// Items that may be ready, oldest first.
    pub listed: Vec<Key>,
}

/// What names an item: the number and what it referred to then (`epoll(7)`, question 1).
///
/// A descriptor that is closed while a duplicate of it is open stays watched: the item belongs to
/// the description (`epoll(7)`, question 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The descriptor.
    pub fd: Fd,
    /// Its description.
    pub description: Id,
}

/// One watched file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Item {
    /// `struct epoll_event`: what is asked for.
    pub events: u32,
    /// What the guest gets back.
    pub data: u64,
}

/// One item of one set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Watcher {
    /// The set.
    pub epoll: Id,
    /// The item.
    pub key: Key,
}

impl Epoll {
    /// Whether an item asks for any of these events; 0 stands for all.
    #[must_use]
    pub fn cares(&self, key: Key, events: u16) -> bool {
        let asked = self.items.get(&key).map_or(0, |item| item.events & !PRIVATE);
        asked != 0 && (events == 0 || asked & u32::from(events) != 0)
    }

    /// Whether an item is on the list.
    #[must_use]
    pub fn is_listed(&self, key: Key) -> bool {
        self.listed.contains(&key)
    }

    /// Puts an item on the list.
    pub fn list(&mut self, key: Key) {
        self.listed.push(key);
    }
}

/// Level-triggered items that are not on the list: files whose state changes without a word, such as the pending signals
/// behind `signalfd(2)`, are asked as well.
#[must_use]
pub fn unlisted(epoll: &Epoll) -> Vec<Key> {
    let level = epoll.items.iter().filter(|(_, item)| item.events & EPOLLET == 0);
    level.map(|(key, _)| *key).filter(|key| !epoll.is_listed(*key)).collect()
}
