//! A map that is cheap to clone: a snapshot shares everything until one side changes it.

use std::collections::BTreeMap;
use std::sync::Arc;

/// An ordered map whose clone shares all entries; changing one copies that entry and the spine only.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Map<K, V>(Arc<BTreeMap<K, Arc<V>>>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Arc::new(BTreeMap::new()))
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key).map(AsRef::as_ref)
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        Arc::make_mut(&mut self.0).get_mut(key).map(Arc::make_mut)
    }

    /// Adds or replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<Arc<V>> {
        Arc::make_mut(&mut self.0).insert(key, Arc::new(value))
    }

    /// Takes out.
    pub fn remove(&mut self, key: &K) -> Option<Arc<V>> {
        if !self.0.contains_key(key) {
            return None;
        }
        Arc::make_mut(&mut self.0).remove(key)
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    /// All entries, by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value.as_ref()))
    }

    /// All keys, ascending.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.keys()
    }

    /// All values, by key.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.values().map(AsRef::as_ref)
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
