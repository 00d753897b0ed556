//! Bitstate hashing: a few bits a state in an array of fixed size (Holzmann's supertrace).
//!
//! A state counts as visited if all its bits are set. So a new state may be taken for a visited one, never the other way round:
//! a violation that is found is one, and a search without violations is a sample, which the outcome says.
//!
//! Hashes are `start + k * stride` (Kirsch and Mitzenmacher, 2006): two independent numbers give as
//! many as are wanted, without a noticeable loss against independent ones.

use super::fingerprint::fingerprint;
use super::pages::{Pages, prefetch};
use super::{Allowance, Exhausted, LeftOut, Need, Visit, Visited};
use crate::journal::{Broken, Reader, Writer};
use crate::system::Key;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bits that a state sets in a table that was read: more than anybody asks for.
const HASHES_MAX: u32 = 64;

/// A Bloom filter of visited states: never grows, never refuses, may identify a new state with a visited one.
pub struct Bitstate {
    bits: Pages<AtomicU64>,
    hashes: u32,
    seed: u64,
}

impl Bitstate {
    /// An array of at most `bytes` bytes in which each state sets `hashes` bits; different states collide under different
    /// seeds. `None` if the system has no memory.
    ///
    /// The seed is what a swarm varies: states that collide under one seed are told apart under
    /// another (Holzmann, Joshi and Groce, *Swarm Verification*, 2008).
    #[must_use]
    pub fn new(bytes: u64, hashes: u32, seed: u64) -> Option<Self> {
        let words = usize::try_from(bytes / 8).ok()?.max(1);
        Some(Self { bits: Pages::zeroed(words)?, hashes: hashes.max(1), seed })
    }

    /// Sets the bit with this hash and gives whether it was clear.
    fn set(&self, hash: u64) -> bool {
        let bit = self.position(hash);
        let mask = 1 << (bit % 64);
        self.bits[(bit / 64) as usize].fetch_or(mask, Relaxed) & mask == 0
    }

    /// A bit of the array, each equally likely.
    fn position(&self, hash: u64) -> u64 {
        ((u128::from(hash) * (self.bits.len() as u128 * 64)) >> 64) as u64
    }
}

impl Visited for Bitstate {
    type Cursor = ();
    /// Start and stride of the sequence of hashes.
    type Ticket = (u64, u64);
    const RESTORES: bool = false;
    const NUMBERS: bool = false;
    const FORMAT: u32 = 1;

    fn ticket(&self, (): &mut (), key: Key<'_>) -> Result<(u64, u64), Need> {
        let bits = fingerprint(key);
        let start = (bits as u64 ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let stride = ((bits >> 64) as u64).wrapping_add(self.seed) | 1;
        prefetch(&self.bits[(self.position(start) / 64) as usize]);
        Ok((start, stride))
    }

    fn guess(&self, (): &mut (), _: &(u64, u64)) -> u64 {
        0
    }

    fn insert(&self, (): &mut (), &(start, stride): &(u64, u64), _: u64) -> Result<Visit, Need> {
        let mut new = false;
        for round in 0..u64::from(self.hashes) {
            new |= self.set(start.wrapping_add(stride.wrapping_mul(round)));
        }
        Ok(Visit { id: 0, new })
    }

    fn load<'c>(&self, (): &'c mut (), _: u32) -> &'c [u8] {
        unreachable!("bits do not restore states")
    }

    fn matches(&self, (): &mut (), _: u32, _: Key<'_>) -> bool {
        unreachable!("states have no numbers here")
    }

    fn grow(&mut self, _: Need, _: Allowance) -> Result<(), Exhausted> {
        Err(Exhausted::Memory)
    }

    fn bytes(&self) -> u64 {
        self.bits.len() as u64 * 8
    }

    fn ids_end(&self) -> u32 {
        0
    }

    fn has(&self, id: u32) -> bool {
        id == 0
    }

    /// Nothing can be left out: a bit belongs to many states.
    fn write(&self, to: &mut Writer<'_>, _: &LeftOut) -> io::Result<()> {
        to.u32(self.hashes)?;
        to.u64(self.seed)?;
        to.u64(self.bits.len() as u64)?;
        self.bits.iter().try_for_each(|word| to.u64(word.load(Relaxed)))
    }

    fn read(from: &mut Reader, _: usize) -> Result<Self, Broken> {
        let (hashes, seed, words) = (from.u32()?, from.u64()?, from.count(8)?);
        if words == 0 || hashes == 0 || hashes > HASHES_MAX {
            return Err(Broken::Contradictory("no table of bits"));
        }
        let bits = Pages::<AtomicU64>::zeroed(words as usize).ok_or(Broken::Memory)?;
        for word in bits.iter() {
            let value = from.u64()?;
            // Pages that nobody touches cost nothing.
            if value != 0 {
                word.store(value, Relaxed);
            }
        }
        Ok(Self { bits, hashes, seed })
    }

    /// Any omission is possible here, so the honest bound is the share of bits set, raised to the number of hashes, for
    /// each state: near 1 for anything but a nearly empty array.
    fn collision_probability(&self, states: u64) -> f64 {
        let one = self.fill().unwrap_or(1.0).powi(self.hashes as i32);
        1.0 - (1.0 - one).powf(states as f64)
    }

    fn fill(&self) -> Option<f64> {
        let set: u64 = self.bits.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
        Some(set as f64 / (self.bits.len() as f64 * 64.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_remember_states_and_report_how_full_they_are() {
        let store = Bitstate::new(1 << 16, 3, 5).unwrap();
        let visit = |state: u64| {
            let ticket = store.ticket(&mut (), Key::Vector(&state.to_le_bytes())).unwrap();
            store.insert(&mut (), &ticket, 0).unwrap().new
        };
        let new = (0..1000).filter(|state| visit(*state)).count();
        assert!(new > 990 && (0..1000).all(|state| !visit(state)));
        let fill = store.fill().unwrap();
        assert!(fill > 0.005 && fill < 0.006, "{fill}");
    }
}
