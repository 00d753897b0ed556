//! 128 bits that stand for a whole world.

use crate::world::World;
use std::hash::{Hash, Hasher};
use twox_hash::XxHash3_128;

/// Feeds `Hash` implementations to a hash of 128 bits.
struct Wide(XxHash3_128);

impl Hasher for Wide {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish_128() as u64
    }
}

impl World {
    /// 128 bits that stand for everything that the future depends on: memory, kernel and registers.
    #[must_use]
    pub fn fingerprint(&mut self) -> u128 {
        let mut wide = Wide(XxHash3_128::new());
        self.kernel.hash(&mut wide);
        self.cpus.hash(&mut wide);
        wide.0.finish_128().wrapping_add(self.memory.fingerprint())
    }
}
