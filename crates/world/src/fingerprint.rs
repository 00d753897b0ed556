//! 128 bits that stand for a whole world.
//!
//! **A sum over parts.** A step changes few parts, so a fingerprint is updated by subtracting old
//! and adding new ones; and independent steps commute in it. Each part is multiplied by its own odd
//! factor, or a page and a register with the same hash would be interchangeable.
//!
//! Equal worlds have equal fingerprints by construction; different ones collide with probability
//! 2^-128 per pair. Searches say so in their verdicts.

use crate::world::World;

/// Parts of a fingerprint are told apart by factors: what a change of one of them is worth does not depend on the others.
pub const FACTORS: [u128; 4] = [
    0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835,
    0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9,
    0xd6e8_feb8_6659_fd93_a076_1d64_78bd_642f,
    0x8ebc_6af0_9c88_c6e3_5899_65cc_7537_4cc3,
];

impl World {
    /// 128 bits that stand for everything that the future depends on: memory, kernel and registers.
    ///
    /// O(what changed since the last call): pages and kernel objects keep their hashes until they
    /// are written.
    #[must_use]
    pub fn fingerprint(&mut self) -> u128 {
        let kernel = self.kernel.identity().wrapping_mul(FACTORS[0]);
        let registers = self.cpus.sum().wrapping_mul(FACTORS[1]);
        kernel.wrapping_add(registers).wrapping_add(self.memory.fingerprint())
    }
}
