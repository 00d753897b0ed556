//! Hash maps by address.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for addresses: one multiplication.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// A map by address.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;
