//! A hash of 128 bits for values of any kind.
//!
//! 64 bits are too few for fingerprints of states: among 10^9 of them two collide with a
//! probability of about 3 % (n^2 / 2^65). With 128 bits it is 10^-21.

use std::hash::{Hash, Hasher};
use twox_hash::XxHash3_128;

/// Feeds `Hash` implementations to a hash of 128 bits. They write a few bytes at a time: gathered first, they are hashed
/// in one go, and most values need no more than that.
pub struct Wide<const MOST: usize> {
    gathered: [u8; MOST],
    len: usize,
    /// What did not fit.
    more: Option<XxHash3_128>,
}

impl Wide<1024> {
    /// 128 bits that stand for a value.
    pub fn hash_of(value: impl Hash) -> u128 {
        Self::hashed(value)
    }
}

impl Wide<128> {
    /// The same 128 bits, sooner if the value is small.
    pub fn hash_of_few(value: impl Hash) -> u128 {
        Self::hashed(value)
    }
}

impl<const MOST: usize> Wide<MOST> {
    fn hashed(value: impl Hash) -> u128 {
        let mut wide = Self { gathered: [0; MOST], len: 0, more: None };
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

impl<const MOST: usize> Hasher for Wide<MOST> {
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
