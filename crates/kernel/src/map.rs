//! A map that is cheap to clone and to hash: a snapshot shares everything until one side changes it, and what did not
//! change is not hashed again.

use crate::shared::Memo;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// An ordered map whose clone shares all entries; changing one copies that entry and the spine only.
#[derive(Clone, Debug)]
pub struct Map<K, V>(Arc<Spine<K, V>>);

/// The entries, and the hash of all of them once somebody wanted it.
#[derive(Clone, Debug)]
struct Spine<K, V> {
    entries: BTreeMap<K, Slot<V>>,
    hash: Memo,
}

/// A value, and its hash once somebody wanted it.
#[derive(Clone, Debug)]
struct Slot<V> {
    value: Arc<V>,
    hash: Memo,
}

impl<V> Slot<V> {
    fn new(value: V) -> Self {
        Self { value: Arc::new(value), hash: Memo::default() }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let same_value = |one: &Slot<V>, two: &Slot<V>| Arc::ptr_eq(&one.value, &two.value) || one.value == two.value;
        let (entries, others) = (&self.0.entries, &other.0.entries);
        let mut pairs = entries.iter().zip(others.iter());
        let mut same = || pairs.all(|((key, slot), (other_key, other))| key == other_key && same_value(slot, other));
        Arc::ptr_eq(&self.0, &other.0) || entries.len() == others.len() && same()
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

/// Feeds `Hash` implementations to a hash of 128 bits. They write a few bytes at a time: gathered first, they are hashed
/// in one go, and most values need no more than that.
pub struct Wide {
    gathered: [u8; Self::MOST],
    len: usize,
    /// What did not fit.
    more: Option<XxHash3_128>,
}

impl Wide {
    const MOST: usize = 1024;

    /// 128 bits that stand for a value.
    pub fn hash_of(value: impl Hash) -> u128 {
        let mut wide = Self { gathered: [0; Self::MOST], len: 0, more: None };
        value.hash(&mut wide);
        wide.finish_wide()
    }

    fn finish_wide(&self) -> u128 {
        let gathered = &self.gathered[..self.len];
        let Some(mut all) = self.more.clone() else { return XxHash3_128::oneshot(gathered) };
        all.write(gathered);
        all.finish_128()
    }

    #[cold]
    fn overflow(&mut self, bytes: &[u8]) {
        let more = self.more.get_or_insert_default();
        more.write(&self.gathered[..self.len]);
        more.write(bytes);
        self.len = 0;
    }
}

impl Hasher for Wide {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        match self.gathered.get_mut(self.len..self.len + bytes.len()) {
            Some(free) => {
                free.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.overflow(bytes),
        }
    }

    fn finish(&self) -> u64 {
        self.finish_wide() as u64
    }
}

impl<K: Hash, V: Hash> Hash for Map<K, V> {
    /// The sum of the hashes of all entries.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let one = |(key, slot): (&K, &Slot<V>)| slot.hash.get_or(|| Wide::hash_of((key, &slot.value)));
        let entries = &self.0.entries;
        let all = || entries.iter().map(one).fold(entries.len() as u128, u128::wrapping_add);
        state.write_u128(self.0.hash.get_or(all));
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Arc::new(Spine { entries: BTreeMap::new(), hash: Memo::default() }))
    }
}

impl<K: Ord, V> std::ops::Index<&K> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        &self.0.entries[key].value
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// The entries, to change them.
    fn entries(&mut self) -> &mut BTreeMap<K, Slot<V>> {
        let spine = Arc::make_mut(&mut self.0);
        spine.hash.forget();
        &mut spine.entries
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.entries.get(key).map(|slot| &*slot.value)
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries().get_mut(key).map(|slot| {
            slot.hash.forget();
            Arc::make_mut(&mut slot.value)
        })
    }

    /// Adds or replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<Arc<V>> {
        self.entries().insert(key, Slot::new(value)).map(|slot| slot.value)
    }

    /// Takes out.
    pub fn remove(&mut self, key: &K) -> Option<Arc<V>> {
        if !self.0.entries.contains_key(key) {
            return None;
        }
        self.entries().remove(key).map(|slot| slot.value)
    }

    /// Keeps those that are to be kept.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K) -> bool) {
        if self.0.entries.keys().any(|key| !keeps(key)) {
            self.entries().retain(|key, _| keeps(key));
        }
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.0.entries.contains_key(key)
    }

    /// All entries, by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.entries.iter().map(|(key, slot)| (key, &*slot.value))
    }

    /// All keys, ascending.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.entries.keys()
    }

    /// All values, by key.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.entries.values().map(|slot| &*slot.value)
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    fn hash(map: &Map<u32, String>) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(map)
    }

    #[test]
    fn a_changed_entry_changes_the_hash_and_changing_it_back_brings_it_back() {
        let mut map = Map::default();
        map.insert(1, "one".to_owned());
        map.insert(2, "two".to_owned());
        let before = (hash(&map), map.clone());
        map.get_mut(&1).unwrap().push('!');
        assert!(hash(&map) != before.0 && map != before.1);
        map.get_mut(&1).unwrap().pop();
        assert!(hash(&map) == before.0 && map == before.1);
    }
}
