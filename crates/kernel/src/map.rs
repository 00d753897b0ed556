//! A map that is cheap to clone and to hash: a snapshot shares everything until one side changes it, and what did not
//! change is not hashed again.
//!
//! A persistent map would share more; this one copies a vector of keys and counted pointers on the
//! first change after a snapshot. Kernels have tens of entries, and a flat vector wins there.
//!
//! **Hashing.** The hash of a map is the *sum* of one number for each entry. A sum can be updated:
//! take the old entry off, add the new one. So a step that changes one process out of ten costs one
//! hash, and independent changes commute. A sum is as strong as its summands against collisions
//! that nobody constructs, and states are compared by 128 bits of it.

use crate::shared::{Memo, Shared};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use crate::wide::Wide;

/// An ordered map whose clone shares all entries; changing one copies that entry and the spine only.
///
/// **Invariant:** entries are sorted by key, keys are unique; iteration is ascending. Whoever hands
/// out `&mut V` has told `touch` before, or a stale hash would say that two different states are
/// one.
#[derive(Clone, Debug)]
pub struct Map<K, V>(Arc<Spine<K, V>>);

/// The entries by key, and what is known of their hash.
///
/// **Invariant:** if `hash` is known, it is the sum of all entries. Otherwise, with
/// `Counted::But(changed, sum)`, `sum` is that of the entries whose keys are not in `changed`.
#[derive(Clone, Debug)]
struct Spine<K, V> {
    entries: Vec<(K, Shared<V>)>,
    /// The hash of all entries, once somebody wanted it.
    hash: Memo,
    counted: Counted<K>,
}

/// Which entries the next hash has to look at.
///
/// `But` keeps the cost of a hash proportional to what changed since the last one.
#[derive(Clone, Debug)]
enum Counted<K> {
    /// All of them.
    Nothing,
    /// These; the sum of the others is known.
    But(Vec<K>, u128),
}

/// More changed entries than this, and all are looked at: finding them among the changed ones would take longer.
const CHANGED_MAX: usize = 16;

impl<K: Ord, V> Spine<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| other.cmp(key))
    }
}

impl<K: Hash + Ord + Clone, V: Hash> Spine<K, V> {
    /// The value of a key is about to change, to come or to go.
    ///
    /// O(log n), and the old entry is hashed now, while it is still there. Its own hash is memoized
    /// in [`Shared`], so this is most often a lookup.
    fn touch(&mut self, key: &K, place: Result<usize, usize>) {
        if let Some(all) = self.hash.known() {
            self.counted = Counted::But(Vec::new(), all);
            self.hash.forget();
        }
        match &mut self.counted {
            Counted::But(changed, _) if changed.contains(key) => {}
            Counted::But(changed, sum) if changed.len() < CHANGED_MAX => {
                let old = place.map_or(0, |at| hash_of_entry(&self.entries[at]));
                *sum = sum.wrapping_sub(old);
                changed.push(key.clone());
            }
            counted => *counted = Counted::Nothing,
        }
    }

    /// The value of a key is about to become one whose hash is known.
    ///
    /// A restored or memoized value brings its hash along: nothing is left to be worked out.
    fn exchange(&mut self, key: &K, value: &Shared<V>, place: Result<usize, usize>) {
        let Some(all) = self.hash.known() else { return self.touch(key, place) };
        let old = place.map_or(0, |at| hash_of_entry(&self.entries[at]));
        let new = Wide::hash_of_few((key, value));
        self.hash = Memo::of(all.wrapping_sub(old).wrapping_add(new));
        self.counted = Counted::Nothing;
    }

    /// The sum of the hashes of all entries.
    fn sum(&self) -> u128 {
        let add = |sum: u128, entry: &(K, Shared<V>)| sum.wrapping_add(hash_of_entry(entry));
        match &self.counted {
            Counted::Nothing => self.entries.iter().fold(0, add),
            Counted::But(changed, sum) => {
                let entries = changed.iter().filter_map(|key| self.find(key).ok()).map(|at| &self.entries[at]);
                entries.fold(*sum, add)
            }
        }
    }
}

fn hash_of_entry<K: Hash, V: Hash>((key, value): &(K, Shared<V>)) -> u128 {
    Wide::hash_of_few((key, value))
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let (entries, others) = (&self.0.entries, &other.0.entries);
        let mut pairs = entries.iter().zip(others);
        Arc::ptr_eq(&self.0, &other.0) || entries.len() == others.len() && pairs.all(|(one, two)| one == two)
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K: Hash + Ord + Clone, V: Hash> Hash for Map<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.sum());
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Arc::new(Spine { entries: Vec::new(), hash: Memo::default(), counted: Counted::Nothing }))
    }
}

impl<K: Ord, V> std::ops::Index<&K> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is there")
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.find(key).ok().map(|at| &*self.0.entries[at].1)
    }

    /// The value of a key, to be shared.
    #[must_use]
    pub fn shared(&self, key: &K) -> Option<&Shared<V>> {
        self.0.find(key).ok().map(|at| &self.0.entries[at].1)
    }

    /// Keys whose values differ from those of another map, or are in one of the two only.
    ///
    /// By identity first: entries that neither side has touched are the same `Arc`. What differs is
    /// compared by value.
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a K>
    where
        V: PartialEq,
    {
        let is_other = |key: &&K| self.shared(key) != other.shared(key);
        let gone = other.keys().filter(|key| !self.contains_key(key));
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Vec::new(),
            false => self.keys().filter(is_other).chain(gone).collect(),
        }
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.0.find(key).is_ok()
    }

    /// All entries, by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.entries.iter().map(|(key, value)| (key, &**value))
    }

    /// All keys, ascending.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.entries.iter().map(|(key, _)| key)
    }

    /// All values, by key.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.entries.iter().map(|(_, value)| &**value)
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

impl<K: Ord + Clone + Hash, V: Hash> Map<K, V> {
    /// A sum of one number for each entry: what an entry adds to it does not depend on the others.
    ///
    /// Memoized until the next change; clones share the memo.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.0.hash.get_or(|| self.0.sum())
    }
}

impl<K: Ord + Clone + Hash, V: Clone + Hash> Map<K, V> {
    /// The spine, to change the entry of a key, and where that is.
    fn change(&mut self, key: &K) -> (&mut Spine<K, V>, Result<usize, usize>) {
        let place = self.0.find(key);
        let spine = Arc::make_mut(&mut self.0);
        spine.touch(key, place);
        (spine, place)
    }

    /// The value of a key, to change it.
    ///
    /// Counts as a change even if the caller changes nothing: look with [`Map::get`] first where
    /// that is likely.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if !self.contains_key(key) {
            return None;
        }
        let (spine, place) = self.change(key);
        place.ok().map(|at| &mut *spine.entries[at].1)
    }

    /// Adds or replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<Shared<V>> {
        self.put(key, Shared::new(value))
    }

    /// The same for a value that others have, too.
    pub fn put(&mut self, key: K, value: Shared<V>) -> Option<Shared<V>> {
        let place = self.0.find(&key);
        let spine = Arc::make_mut(&mut self.0);
        match value.is_known() {
            true => spine.exchange(&key, &value, place),
            false => spine.touch(&key, place),
        }
        match place {
            Ok(at) => Some(std::mem::replace(&mut spine.entries[at].1, value)),
            Err(at) => {
                spine.entries.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes out.
    pub fn remove(&mut self, key: &K) -> Option<Shared<V>> {
        if !self.contains_key(key) {
            return None;
        }
        let (spine, place) = self.change(key);
        place.ok().map(|at| spine.entries.remove(at).1)
    }

    /// Keeps those that are to be kept.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K) -> bool) {
        let gone: Vec<K> = self.keys().filter(|key| !keeps(key)).cloned().collect();
        gone.iter().for_each(|key| drop(self.remove(key)));
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
    fn what_stands_for_a_value_does_not_depend_on_how_it_is_gathered() {
        for len in [0, 1, 100, 128, 129, 300, 1024, 5000] {
            let text = "x".repeat(len);
            assert_eq!(Wide::hash_of(&text), Wide::hash_of_few(&text), "{len}");
        }
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

    #[test]
    fn the_hash_depends_on_the_entries_and_not_on_how_they_came() {
        let mut random = 1u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        let mut map: Map<u32, String> = Map::default();
        let mut plain = std::collections::BTreeMap::new();
        for _ in 0..3000 {
            let key = next(40) as u32;
            match next(8) {
                0 => drop((map.remove(&key), plain.remove(&key))),
                1 => {
                    map.retain(|other| *other != key);
                    plain.remove(&key);
                }
                2 => {
                    map.get_mut(&key).into_iter().for_each(|text| text.push('!'));
                    plain.get_mut(&key).into_iter().for_each(|text: &mut String| text.push('!'));
                }
                3 => {
                    let mut fresh = Map::default();
                    plain.iter().for_each(|(key, text)| drop(fresh.insert(*key, text.clone())));
                    assert!(hash(&fresh) == hash(&map) && fresh == map && map.keys().eq(plain.keys()));
                }
                4 => drop(map.clone().insert(key, "of a clone".to_owned())),
                5 => {
                    let value = Shared::new(next(9).to_string());
                    plain.insert(key, (*value).clone());
                    if next(2) == 0 {
                        let _ = value.identity();
                        hash(&map);
                    }
                    map.put(key, value);
                }
                _ => {
                    map.insert(key, key.to_string());
                    plain.insert(key, key.to_string());
                }
            }
        }
    }
}
