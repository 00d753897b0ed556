//! Values that are cheap to clone and to hash: a snapshot shares them until one side changes its own, and what did not
//! change is not hashed again.
//!
//! **Thread-safety.** Workers share snapshots, so a hash may be worked out by several at once. They
//! compute the same number from the same value; whoever stores last changes nothing. `is_known` is
//! stored with release and loaded with acquire order behind the two halves, so nobody reads half a
//! hash.

use crate::wide::Wide;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A hash that is remembered once somebody wanted it. Whoever comes at the same time works out the same, so nobody waits.
///
/// Two relaxed words and a flag instead of a `OnceLock`: nobody ever waits, and forgetting needs
/// `&mut`, which proves that nobody else looks.
#[derive(Default, Debug)]
pub(crate) struct Memo {
    low: AtomicU64,
    high: AtomicU64,
    is_known: AtomicBool,
}

impl Memo {
    /// A hash that is known from the start.
    pub fn of(hash: u128) -> Self {
        let memo = Self::default();
        memo.get_or(|| hash);
        memo
    }

    pub fn known(&self) -> Option<u128> {
        let halves = || (self.low.load(Ordering::Relaxed), self.high.load(Ordering::Relaxed));
        let join = |(low, high)| u128::from(low) | u128::from(high) << 64;
        self.is_known.load(Ordering::Acquire).then(halves).map(join)
    }

    pub fn get_or(&self, work_out: impl FnOnce() -> u128) -> u128 {
        self.known().unwrap_or_else(|| {
            let hash = work_out();
            self.low.store(hash as u64, Ordering::Relaxed);
            self.high.store((hash >> 64) as u64, Ordering::Relaxed);
            self.is_known.store(true, Ordering::Release);
            hash
        })
    }

    /// What it stands for is about to change.
    pub fn forget(&mut self) {
        *self.is_known.get_mut() = false;
    }
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        self.known().map_or_else(Self::default, Self::of)
    }
}

/// A value whose clone is the value itself until one of them is changed.
///
/// `DerefMut` is the copy-on-write: it clones the value if others share it, and forgets the hash.
/// So `&mut *shared` without a change costs a copy; read through `Deref` first.
#[derive(Clone, Debug, Default)]
pub struct Shared<T>(Arc<Hashed<T>>);

#[derive(Clone, Debug, Default)]
struct Hashed<T> {
    value: T,
    hash: Memo,
}

impl<T> Shared<T> {
    /// A value that nobody shares yet.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Hashed { value, hash: Memo::default() }))
    }

    /// Whether neither of the two was changed since one became a clone of the other.
    ///
    /// Cheaper than `==`, and may say no for equal values.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        let own = Arc::make_mut(&mut self.0);
        own.hash.forget();
        &mut own.value
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Hash> Shared<T> {
    /// Whether somebody has worked out already what stands for the value.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.hash.known().is_some()
    }

    /// 128 bits that stand for the value, worked out once.
    #[must_use]
    pub fn identity(&self) -> u128 {
        self.0.hash.get_or(|| Wide::hash_of(&self.0.value))
    }
}

impl<T: Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.identity());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_value_leaves_its_clones_alone_and_is_hashed_again() {
        let one = Shared::new(vec![1, 2]);
        let before = Wide::hash_of(&one);
        let mut other = one.clone();
        other.push(3);
        assert!(*one == [1, 2] && *other == [1, 2, 3] && one != other);
        assert!(Wide::hash_of(&one) == before && Wide::hash_of(&other) != before);
        other.pop();
        assert!(Wide::hash_of(&other) == before && one == other);
    }
}
