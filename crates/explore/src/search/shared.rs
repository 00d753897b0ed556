//! What all workers of a search share.

use super::frontier::Counts;
use super::options::Options;
use super::outcome::{Outcome, Stats};
use super::session::StoreSlot;
use super::watch::Watch;
use crate::store::{Arena, Visited};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What all workers of a search share.
pub struct Shared<'a, S, V> {
    /// The system.
    pub system: &'a S,
    /// The options.
    pub options: &'a Options,
    /// The visited states.
    pub slot: StoreSlot<V>,
    /// The parent of each state; absent if the order of the search keeps the path.
    pub parents: Option<Arena<AtomicU32>>,
    /// Bounds and progress.
    pub watch: Watch<'a>,
}

impl<S, V: Visited> Shared<'_, S, V> {
    /// Stores the parent of a state; `false` if there is no memory for that.
    #[inline]
    pub fn record_parent(&self, id: u32, parent: u32) -> bool {
        let Some(parents) = &self.parents else { return true };
        match parents.try_word(id, 0) {
            Some(word) => word.store(parent, Relaxed),
            None if !parents.provide(id) => return false,
            None => parents.word(id, 0).store(parent, Relaxed),
        }
        true
    }

    /// The parent of a state; 0 for the initial state, which is stored as its own parent.
    pub fn parent(&self, id: u32) -> u32 {
        let word = self.parents.as_ref().and_then(|parents| parents.try_word(id, 0));
        let parent = word.map_or(0, |word| word.load(Relaxed));
        if parent == id { 0 } else { parent }
    }

    /// Memory of the parent pointers, with room for those that come until the store grows again.
    pub fn parent_bytes(&self) -> u64 {
        self.parents.as_ref().map_or(0, |_| self.watch.states.load(Relaxed) * 4)
    }

    /// Memory of one frontier entry.
    pub fn entry_bytes<State>(&self) -> u64 {
        if V::RESTORES { 4 } else { 4 + size_of::<State>() as u64 }
    }

    /// Memory of store and parent pointers.
    pub fn bytes(&self, store: u64) -> u64 {
        store + self.parent_bytes()
    }

    /// Checks bounds and reports progress; whether to go on. The caller must not hold the store.
    pub fn poll(&self) -> bool {
        let bytes = self.slot.read().bytes();
        self.watch.poll(self.bytes(bytes))
    }

    /// Ends the search because a step was cut. The caller must not hold the store.
    pub fn cut(&self) {
        let bytes = self.slot.read().bytes();
        self.watch.cut(self.bytes(bytes));
    }

    /// The outcome so far, without violations.
    pub fn outcome(&self, counts: impl IntoIterator<Item = Counts>, frontier_bytes_max: u64) -> Outcome {
        let mut stats = Stats { seconds: self.watch.seconds(), ..Stats::default() };
        for count in counts {
            stats.states += count.states;
            stats.steps += count.steps;
            stats.matched += count.matched;
            stats.reduced += count.reduced;
            stats.workers += 1;
        }
        let store = self.slot.read();
        stats.bytes_store = self.bytes(store.bytes());
        stats.bytes_total = stats.bytes_store + frontier_bytes_max;
        stats.bytes_per_state = stats.bytes_store as f64 / stats.states.max(1) as f64;
        stats.fill = store.fill();
        stats.collision_probability = store.collision_probability(stats.states);
        Outcome { incomplete: self.watch.reasons(), violations: Vec::new(), stats }
    }
}
