//! 128 bits that stand for a whole world.

use crate::world::World;
use kernel::map::Wide;

impl World {
    /// 128 bits that stand for everything that the future depends on: memory, kernel and registers.
    #[must_use]
    pub fn fingerprint(&mut self) -> u128 {
        Wide::hash_of((&self.kernel, &self.cpus)).wrapping_add(self.memory.fingerprint())
    }
}
