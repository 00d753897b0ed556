//! Snapshots of states; a state without one is reached again by executing steps from its nearest ancestor that has one.

use super::fifo_map::FifoMap;
use rustc_hash::FxHashMap;

/// States at multiples of this depth keep their snapshots.
const PINNED_EVERY: u32 = 64;

/// Snapshots by state.
///
/// Pinned ones are never dropped: they bound how much must be executed again. A snapshot is a base
/// and the pages that differ, so most of it is shared.
pub struct SnapshotCache<S> {
    recent: FifoMap<u32, S>,
    pinned: FxHashMap<u32, S>,
}

impl<S: Clone> SnapshotCache<S> {
    /// Room for `max` snapshots beside the pinned ones.
    pub fn new(max: usize) -> Self {
        Self { recent: FifoMap::new(max), pinned: FxHashMap::default() }
    }

    /// Adds a snapshot.
    pub fn insert(&mut self, id: u32, depth: u32, state: S) {
        if depth.is_multiple_of(PINNED_EVERY) {
            self.pinned.insert(id, state);
        } else {
            self.recent.insert(id, state);
        }
    }

    /// A snapshot.
    pub fn get(&self, id: u32) -> Option<&S> {
        self.recent.get(&id).or_else(|| self.pinned.get(&id))
    }

    /// Drops a snapshot unless it is pinned: all steps of the state are explored.
    pub fn remove(&mut self, id: u32) {
        self.recent.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_snapshots_stay() {
        let mut snapshots = SnapshotCache::new(1);
        snapshots.insert(0, 0, 'a');
        snapshots.insert(1, 1, 'b');
        snapshots.insert(2, 2, 'c');
        assert_eq!((snapshots.get(0), snapshots.get(1), snapshots.get(2)), (Some(&'a'), None, Some(&'c')));
    }
}
