//! Explored futures: interned sets of shared accesses. They only grow, which makes the fixpoint terminate.
//!
//! Bitsets over shared accesses, hash-consed: most states of a search have one of a few hundred
//! futures. Unions are memoized by pair.

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// A set of shared accesses, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FutureId(pub u32);

/// The empty set.
pub const EMPTY: FutureId = FutureId(0);

/// All sets.
///
/// **Invariant:** equal sets have equal numbers, so that a future has changed if and only if its number has.
pub struct Futures {
    /// The words of one set after those of another.
    words: Vec<u64>,
    /// Where each ends; it begins where the one before ends.
    ends: Vec<usize>,
    /// Numbers by hash.
    ids: FxHashMap<u64, SmallVec<[FutureId; 2]>>,
    /// Memoized unions.
    unions: FxHashMap<(FutureId, FutureId), FutureId>,
    /// Buffer of a union.
    buffer: Vec<u64>,
}

impl Default for Futures {
    fn default() -> Self {
        let mut futures = Self {
            words: Vec::new(),
            ends: Vec::new(),
            ids: FxHashMap::default(),
            unions: FxHashMap::default(),
            buffer: Vec::new(),
        };
        assert_eq!(futures.intern(&[]), EMPTY, "the first set is the empty one");
        futures
    }
}

impl Futures {
    fn set(&self, id: FutureId) -> &[u64] {
        let index = id.0 as usize;
        let first = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[first..self.ends[index]]
    }

    /// The union of two sets.
    ///
    /// The order of the checks is the order of their likelihood in a search: same, empty, subset,
    /// known union.
    pub fn union(&mut self, one: FutureId, other: FutureId) -> FutureId {
        if one == other || other == EMPTY {
            return one;
        }
        if one == EMPTY {
            return other;
        }
        // Most often one contains the other.
        if self.is_subset(other, one) {
            return one;
        }
        if self.is_subset(one, other) {
            return other;
        }
        let key = (one.min(other), one.max(other));
        if let Some(id) = self.unions.get(&key) {
            return *id;
        }
        let id = self.union_of([one, other].into_iter());
        self.unions.insert(key, id);
        id
    }

    fn is_subset(&self, small: FutureId, large: FutureId) -> bool {
        let (small, large) = (self.set(small), self.set(large));
        small.len() <= large.len() && small.iter().zip(large.iter()).all(|(small, large)| small & !large == 0)
    }

    /// The union of several sets; not memoized.
    pub fn union_of(&mut self, all: impl Iterator<Item = FutureId>) -> FutureId {
        let mut union = std::mem::take(&mut self.buffer);
        union.clear();
        for id in all {
            let words = self.set(id);
            union.resize(union.len().max(words.len()), 0);
            union.iter_mut().zip(words.iter()).for_each(|(word, more)| *word |= more);
        }
        let id = self.intern(&union);
        self.buffer = union;
        id
    }

    /// A set with more accesses.
    pub fn with(&mut self, set: FutureId, accesses: &[u32]) -> FutureId {
        let mut words = self.set(set).to_vec();
        for access in accesses {
            let word = *access as usize / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (access % 64);
        }
        self.intern(&words)
    }

    /// The number of a set. Its last word is not zero: words are added to hold an access, and never cleared.
    fn intern(&mut self, words: &[u64]) -> FutureId {
        assert!(words.last() != Some(&0), "a set has one form");
        let hash = FxBuildHasher.hash_one(words);
        let known = self.ids.get(&hash).and_then(|ids| ids.iter().find(|id| self.set(**id) == words));
        if let Some(id) = known {
            return *id;
        }
        let id = FutureId(u32::try_from(self.ends.len()).expect("fewer than 2^32 sets"));
        self.words.extend_from_slice(words);
        self.ends.push(self.words.len());
        self.ids.entry(hash).or_default().push(id);
        id
    }

    /// Whether an access is in a set.
    pub fn contains(&self, set: FutureId, access: u32) -> bool {
        self.set(set).get(access as usize / 64).is_some_and(|word| word >> (access % 64) & 1 == 1)
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8 + self.ends.len() as u64 * 48 + self.unions.len() as u64 * 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_have_equal_numbers() {
        let mut futures = Futures::default();
        let one = futures.with(EMPTY, &[1, 70]);
        let two = futures.with(EMPTY, &[70]);
        let three = futures.with(two, &[1]);
        assert_eq!(one, three);
        assert_eq!(futures.union(two, one), one);
        let inside = |access: &u32| futures.contains(one, *access);
        assert_eq!((0..200).filter(inside).collect::<Vec<_>>(), [1, 70]);
    }
}
