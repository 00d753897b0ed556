//! A concurrent set of fixed-size values that gives each value a small dense number.

mod grow;
mod kept;
#[cfg(test)]
mod tests;

use super::pages::{Pages, ends};
use grow::{index_bytes, values_for};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Slots in one line of the index: what the processor fetches at once.
const LINE: usize = 8;
/// References that one worker takes at a time, so that the shared counter stays cold. Divides every arena chunk.
const BLOCK: u32 = 256;
/// How many references ahead of its use the room for a value is prefetched.
const AHEAD: u32 = 16;
/// Lines of a new index.
const LINES_FIRST: u64 = 128;
/// Load of the index at which it must grow, in eighths of its slots.
const LOAD: u64 = 6;
/// Largest number of references; the last block stays unused so that counting never overflows.
const REFERENCES_MAX: u64 = u32::MAX as u64 - 2 * BLOCK as u64;

/// A set of values of `W` words with a reference for each: pairs of references, chunks of vectors, fingerprints.
///
/// Values lie side by side; an open-addressing index of `tag | reference` entries finds them. Room for values is reserved
/// once and for all where the system allows it, since pages that were never touched cost nothing; else it grows with the
/// index, while no worker uses the table. The home
/// of an entry follows from its tag alone, and larger tags have later homes, so a larger index is written from the
/// smaller one in a single pass from front to back that reads no value.
///
/// **Invariant:** a reference, once given out, keeps its value; equal values have equal references. The value of all zeros is
/// never inserted: it marks references that are free.
pub struct Table<const W: usize> {
    values: Pages<AtomicU64>,
    index: Pages<AtomicU64>,
    lines: u64,
    /// First reference of the next block; reference 0 is never given out.
    next: AtomicU32,
    /// Whether several workers insert: a single one needs no atomic exchange, which takes as long as dozens of other
    /// instructions.
    shared: bool,
}

/// How far a search for a tag has come without comparing values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// For [`Table::insert_from`]: one more than the first slot that is free or has the tag.
    pub next: u64,
    /// The reference in that slot; 0 if it is free.
    pub reference: u32,
}

/// The set of 64-bit values.
pub type PairTable = Table<1>;

/// References that a worker has taken and not used yet.
#[derive(Default, Debug)]
pub struct Block {
    next: u32,
    end: u32,
}

/// The table must grow before it can take another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl<const W: usize> Table<W> {
    /// An empty table into which so many workers will insert; `None` if the system has no memory.
    #[must_use]
    pub fn new(workers: usize) -> Option<Self> {
        let (values, index) = (values_for::<W>(LINES_FIRST)?, Pages::zeroed(LINES_FIRST as usize * LINE)?);
        Some(Self { values, index, lines: LINES_FIRST, next: AtomicU32::new(0), shared: workers > 1 })
    }

    /// The reference of a value, and whether the value is new.
    #[inline]
    pub fn insert(&self, block: &mut Block, value: [u64; W]) -> Result<(u32, bool), Full> {
        self.insert_tagged(block, value, tag(value))
    }

    /// The same for a value whose tag is known.
    #[inline]
    pub fn insert_tagged(&self, block: &mut Block, value: [u64; W], tag: u32) -> Result<(u32, bool), Full> {
        self.insert_from(0, block, value, tag)
    }

    /// The same from where [`Table::probe`] has come; 0 for the beginning. The table must not have grown since.
    #[inline]
    pub fn insert_from(&self, probe: u64, block: &mut Block, value: [u64; W], tag: u32) -> Result<(u32, bool), Full> {
        // Slots that the probe passed are taken for ever, by other values.
        let mut slot = if probe == 0 { self.home(tag) * LINE } else { probe as usize - 1 };
        loop {
            let mut entry = self.index[slot].load(Acquire);
            if entry == 0 {
                match self.publish(block, &self.index[slot], tag, value)? {
                    Ok(reference) => return Ok((reference, true)),
                    Err(other) => entry = other,
                }
            }
            if (entry >> 32) as u32 == tag && self.is(entry as u32, &value) {
                return Ok((entry as u32, false));
            }
            slot = if slot + 1 == self.index.len() { 0 } else { slot + 1 };
        }
    }

    /// The reference of a value that is in.
    #[must_use]
    pub fn find(&self, value: [u64; W]) -> Option<u32> {
        let tag = tag(value);
        let mut line = self.home(tag);
        loop {
            for slot in &self.index[line * LINE..(line + 1) * LINE] {
                let entry = slot.load(Acquire);
                if entry == 0 {
                    return None;
                }
                if (entry >> 32) as u32 == tag && self.get(entry as u32) == value {
                    return Some(entry as u32);
                }
            }
            line = if line + 1 == self.lines as usize { 0 } else { line + 1 };
        }
    }

    /// Writes the value under a fresh reference and offers it to `slot`; gives the other entry if another came first.
    #[inline]
    fn publish(
        &self,
        block: &mut Block,
        slot: &AtomicU64,
        tag: u32,
        value: [u64; W],
    ) -> Result<Result<u32, u64>, Full> {
        if block.next == block.end {
            *block = self.take_block()?;
        }
        let reference = block.next;
        self.set(reference, value);
        // Blocks are short, so the processor does not find out by itself where the next values go.
        self.prefetch_value(reference + AHEAD);
        let entry = u64::from(tag) << 32 | u64::from(reference);
        match self.take_slot(slot, entry) {
            Ok(_) => {
                block.next += 1;
                Ok(Ok(reference))
            }
            Err(other) => {
                self.set(reference, [0; W]);
                Ok(Err(other))
            }
        }
    }

    /// Puts an entry into a slot that was free a moment ago.
    #[inline]
    fn take_slot(&self, slot: &AtomicU64, entry: u64) -> Result<u64, u64> {
        if self.shared {
            return slot.compare_exchange(0, entry, AcqRel, Acquire);
        }
        slot.store(entry, Release);
        Ok(0)
    }

    #[cold]
    fn take_block(&self) -> Result<Block, Full> {
        let mut start = self.next.load(Relaxed);
        loop {
            let end = start + BLOCK;
            if u64::from(end) > self.capacity() {
                return Err(Full);
            }
            match self.next.compare_exchange_weak(start, end, Relaxed, Relaxed) {
                Ok(_) => return Ok(Block { next: start.max(1), end }),
                Err(now) => start = now,
            }
        }
    }

    /// The value of a reference that was given out.
    #[inline]
    #[must_use]
    pub fn get(&self, reference: u32) -> [u64; W] {
        let words = self.words(reference);
        std::array::from_fn(|word| words[word].load(Relaxed))
    }

    /// Whether a reference has this value: word by word, since a wide load could not be forwarded from narrow stores.
    #[inline]
    fn is(&self, reference: u32, value: &[u64; W]) -> bool {
        let words = self.words(reference);
        (0..W).fold(0, |differ, word| differ | (words[word].load(Relaxed) ^ value[word])) == 0
    }

    #[inline]
    fn words(&self, reference: u32) -> &[AtomicU64; W] {
        let start = reference as usize * W;
        self.values[start..start + W].try_into().expect("values are W words")
    }

    #[inline]
    fn set(&self, reference: u32, value: [u64; W]) {
        for (word, bits) in self.words(reference).iter().zip(value) {
            word.store(bits, Relaxed);
        }
    }

    /// Prefetches the line in which the search for a value with this tag begins.
    #[inline]
    pub fn prefetch(&self, tag: u32) {
        self.index.prefetch(self.home(tag) * LINE);
    }

    /// Prefetches the value of a reference that was given out.
    #[inline]
    pub fn prefetch_value(&self, reference: u32) {
        self.values.prefetch(reference as usize * W);
    }

    /// Searches for a tag as far as that goes without comparing values, and prefetches the value to compare next. Call it when
    /// the line has arrived.
    #[inline]
    pub fn probe(&self, tag: u32) -> Probe {
        let mut start = self.home(tag) * LINE;
        loop {
            let line: &[AtomicU64; LINE] = self.index[start..start + LINE].try_into().expect("lines are whole");
            // No branch depends on the slot: it would be mispredicted.
            let ends = ends(line, tag);
            if ends != 0 {
                let slot = ends.trailing_zeros() as usize;
                let reference = line[slot % LINE].load(Acquire) as u32;
                self.prefetch_value(reference);
                return Probe { next: (start + slot + 1) as u64, reference };
            }
            start = if start + LINE == self.index.len() { 0 } else { start + LINE };
        }
    }

    /// The reference to which a probe for this tag has come; `None` if the slot is free, or taken by something else.
    #[inline]
    pub fn probed(&self, probe: u64, tag: u32) -> Option<u32> {
        let entry = self.index[probe as usize - 1].load(Acquire);
        ((entry >> 32) as u32 == tag && entry != 0).then_some(entry as u32)
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.lines) >> 32) as usize
    }

    /// References that can be given out before the index must grow.
    fn capacity(&self) -> u64 {
        (self.lines * LOAD).min(REFERENCES_MAX)
    }

    /// One more than the largest reference that may have been given out.
    #[must_use]
    pub fn references_end(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Memory in use, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        index_bytes(self.lines) + u64::from(self.references_end()) * 8 * W as u64
    }
}

/// 32 well-mixed bits of a value: they decide where the search for it begins.
#[inline]
#[must_use]
pub fn tag<const W: usize>(value: [u64; W]) -> u32 {
    let mut mixed = 0x9e37_79b9_7f4a_7c15_u64;
    // Two words at a time, independent of each other, so that the multiplications overlap.
    for (position, words) in value.chunks(2).enumerate() {
        let second = words.get(1).map_or(0, |word| *word);
        let salt = 0x8ebc_6af0_9c88_c6e3_u64.rotate_left(17 * position as u32);
        mixed ^= fold(words[0] ^ salt, second ^ 0xd6e8_feb8_6659_fd93).wrapping_add(salt);
    }
    (fold(mixed, 0xa076_1d64_78bd_642f) >> 32) as u32
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
