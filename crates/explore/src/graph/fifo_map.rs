//! A bounded map that drops its oldest entries.
//!
//! First in, first out instead of least recently used: hits move nothing, and for snapshots of a
//! depth-first search age is a good enough guess.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A bounded map that drops its oldest entries.
pub struct FifoMap<K, V> {
    values: FxHashMap<K, V>,
    order: VecDeque<K>,
    max: usize,
}

impl<K: Copy + Eq + Hash, V> FifoMap<K, V> {
    /// An empty map with room for `max` entries.
    pub fn new(max: usize) -> Self {
        Self { values: FxHashMap::default(), order: VecDeque::new(), max }
    }

    /// Adds an entry.
    pub fn insert(&mut self, key: K, value: V) {
        self.values.insert(key, value);
        self.order.push_back(key);
        while self.values.len() > self.max {
            let Some(old) = self.order.pop_front() else { break };
            self.values.remove(&old);
        }
        // A removed entry leaves its key behind.
        if self.order.len() > 2 * self.max.max(1024) {
            let values = &self.values;
            self.order.retain(|key| values.contains_key(key));
        }
    }

    /// An entry.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.values.remove(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_dropped_first_and_removed_entries_do_not_count() {
        let mut map = FifoMap::new(2);
        map.insert(1, 'a');
        map.insert(2, 'b');
        map.remove(&1);
        map.insert(3, 'c');
        assert_eq!(map.get(&2), Some(&'b'));
        map.insert(4, 'd');
        assert_eq!(map.get(&2), None);
        assert_eq!((map.get(&3), map.get(&4)), (Some(&'c'), Some(&'d')));
    }
}
