//! Stores of fingerprints: for states too large to store, or when memory is short.
//!
//! Hash compaction (Wolper and Leroy, 1993; Stern and Dill, 1995): the state is not kept, so a
//! search by breadth has to keep its frontier elsewhere, and a collision makes it miss states. The
//! probability is part of every outcome.

use super::table::{Block, Full, Table, tag};
use super::{Allowance, Exhausted, LeftOut, Need, Visit, Visited};
use crate::journal::{Broken, Reader, Writer};
use crate::system::Key;
use std::io;
use twox_hash::XxHash3_128;

/// 64-bit fingerprints.
pub type Fingerprints64 = Fingerprints<1>;
/// 128-bit fingerprints.
pub type Fingerprints128 = Fingerprints<2>;

/// A set of fingerprints of `W` words.
pub struct Fingerprints<const W: usize> {
    table: Table<W>,
}

impl<const W: usize> Fingerprints<W> {
    /// An empty store into which so many workers will insert; `None` if the system has no memory.
    #[must_use]
    pub fn new(workers: usize) -> Option<Self> {
        Some(Self { table: Table::new(workers)? })
    }
}

/// Fingerprint of a key.
#[must_use]
pub fn fingerprint(key: Key<'_>) -> u128 {
    match key {
        Key::Vector(vector) => XxHash3_128::oneshot(vector),
        Key::Fingerprint(bits) => bits,
    }
}

/// The low words of a fingerprint; never all zero, which the table reserves.
fn words<const W: usize>(bits: u128) -> [u64; W] {
    let words = std::array::from_fn(|word| (bits >> (64 * word)) as u64);
    if words == [0; W] { [1; W] } else { words }
}

impl<const W: usize> Visited for Fingerprints<W> {
    type Cursor = Block;
    type Ticket = [u64; W];
    const RESTORES: bool = false;
    const FORMAT: u32 = 64 * W as u32;

    fn ticket(&self, _: &mut Block, key: Key<'_>) -> Result<[u64; W], Need> {
        let words = words(fingerprint(key));
        self.table.prefetch(tag(words));
        Ok(words)
    }

    fn guess(&self, _: &mut Block, ticket: &[u64; W]) -> u64 {
        self.table.probe(tag(*ticket)).next
    }

    fn insert(&self, block: &mut Block, ticket: &[u64; W], guess: u64) -> Result<Visit, Need> {
        match self.table.insert_from(guess, block, *ticket, tag(*ticket)) {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Full) => Err(Need::Room(0)),
        }
    }

    fn load<'c>(&self, _: &'c mut Block, _: u32) -> &'c [u8] {
        unreachable!("a fingerprint does not restore its state")
    }

    fn matches(&self, _: &mut Block, id: u32, key: Key<'_>) -> bool {
        self.table.get(id) == words(fingerprint(key))
    }

    fn grow(&mut self, _: Need, allowance: Allowance) -> Result<(), Exhausted> {
        if self.table.is_exhausted() {
            return Err(Exhausted::Numbers);
        }
        if self.table.bytes_after_growth() > allowance.bytes {
            return Err(Exhausted::Memory);
        }
        self.table.grow(allowance.threads).then_some(()).ok_or(Exhausted::Memory)
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn ids_end(&self) -> u32 {
        self.table.references_end()
    }

    fn has(&self, id: u32) -> bool {
        self.table.has(id)
    }

    fn write(&self, to: &mut Writer<'_>, left_out: &LeftOut) -> io::Result<()> {
        self.table.write(to, left_out)
    }

    fn read(from: &mut Reader, workers: usize) -> Result<Self, Broken> {
        Ok(Self { table: Table::read(from, workers)? })
    }

    /// The birthday bound n²/2^(b+1).
    fn collision_probability(&self, states: u64) -> f64 {
        let bits = 64 * W as i32;
        ((states as f64).powi(2) / 2_f64.powi(bits + 1)).min(1.0)
    }
}
