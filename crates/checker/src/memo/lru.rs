//! Entries of one memo key, the most recently used first.

use std::sync::Arc;

/// Entries of one key at most: to compare more takes as long as to execute the step.
///
/// A loop counter makes a new read set in every round: without a bound, one place in the program
/// would fill the memo.
const ENTRIES_MAX: usize = 24;

/// The entries of one key, the most recently used first.
pub(crate) struct LruList<T>(Vec<Arc<T>>);

impl<T> Default for LruList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> LruList<T> {
    /// An entry that fits.
    pub fn find(&mut self, fits: impl Fn(&T) -> bool) -> Option<&Arc<T>> {
        let at = self.0.iter().position(|entry| fits(entry))?;
        self.0[..=at].rotate_right(1);
        self.0.first()
    }

    /// Whether the next entry displaces another.
    pub fn is_full(&self) -> bool {
        self.0.len() >= ENTRIES_MAX
    }

    /// Adds an entry, and drops the least recently used one if it is full; by how many the list has grown.
    pub fn add(&mut self, entry: T) -> usize {
        let dropped = if self.is_full() { self.0.pop() } else { None };
        self.0.insert(0, Arc::new(entry));
        usize::from(dropped.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_met_longest_ago_is_forgotten_first() {
        let mut list = LruList::default();
        let added: usize = (0..ENTRIES_MAX).map(|entry| list.add(entry)).sum();
        assert!(added == ENTRIES_MAX && list.is_full());
        assert_eq!(list.find(|entry| *entry == 0).map(|entry| **entry), Some(0));
        assert_eq!(list.add(ENTRIES_MAX), 0);
        assert!(list.find(|entry| *entry == 1).is_none());
        assert!(list.find(|entry| *entry == 0).is_some() && list.find(|entry| *entry == ENTRIES_MAX).is_some());
    }
}
