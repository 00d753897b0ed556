//! Bitmaps in memory that the guest cannot access: one bit for each cell of an arena.

use super::Problem;
use memory::{Memory, PAGE_SIZE, SpaceId};

/// A bitmap at an address; bits that are not mapped are clear.
#[derive(Clone, Copy)]
pub struct Bits {
    pub space: SpaceId,
    /// Its address, the beginning of a page.
    pub base: u64,
}

/// Bits of one word.
const WORD: u64 = 64;
/// Bits of one page.
const PAGE: u64 = PAGE_SIZE * 8;

impl Bits {
    fn word(&self, memory: &Memory, index: u64) -> u64 {
        let mut bytes = [0; 8];
        let _ = memory.peek(self.space, self.base + index * 8, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Whether a bit is set.
    pub fn has(&self, memory: &Memory, bit: u64) -> bool {
        self.word(memory, bit / WORD) >> (bit % WORD) & 1 != 0
    }

    /// Sets or clears consecutive bits.
    pub fn put(&self, memory: &mut Memory, from: u64, count: u64, on: bool) -> Result<(), Problem> {
        let (first, last) = (from / WORD, (from + count - 1) / WORD);
        let mut bytes = Vec::with_capacity(((last - first + 1) * 8) as usize);
        for index in first..=last {
            let low = from.saturating_sub(index * WORD);
            let high = (from + count - index * WORD).min(WORD);
            let mask = u64::MAX >> (WORD - (high - low)) << low;
            let word = self.word(memory, index);
            bytes.extend_from_slice(&(if on { word | mask } else { word & !mask }).to_le_bytes());
        }
        memory.write_forced(self.space, self.base + first * 8, &bytes).map_err(Problem::of)
    }

    /// Runs of equal bits, as `(first, count, set)`; a run may be split into several.
    fn runs(&self, memory: &Memory, from: u64, end: u64) -> impl Iterator<Item = (u64, u64, bool)> {
        let (mut page, mut at) = ((u64::MAX, [0u8; PAGE_SIZE as usize]), from);
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            if page.0 != at / PAGE {
                page = (at / PAGE, [0; PAGE_SIZE as usize]);
                let _ = memory.peek(self.space, self.base + page.0 * PAGE_SIZE, &mut page.1);
            }
            let place = (at % PAGE / WORD * 8) as usize;
            let word = u64::from_le_bytes(page.1[place..place + 8].try_into().expect("eight bytes")) >> (at % WORD);
            let set = word & 1 != 0;
            let same = if set { (!word).trailing_zeros() } else { word.trailing_zeros() };
            let count = u64::from(same).min(WORD - at % WORD);
            at += count;
            Some((at - count, count, set))
        })
    }

    /// The lowest `count` consecutive clear bits from `from` on, beginning at a multiple of `align`.
    pub fn gap(&self, memory: &Memory, (from, end): (u64, u64), count: u64, align: u64) -> Option<u64> {
        let mut start = from.next_multiple_of(align);
        for (first, length, set) in self.runs(memory, from, end) {
            if set {
                start = (first + length).next_multiple_of(align);
            } else if start + count <= first + length {
                return Some(start);
            }
        }
        None
    }

    /// How many consecutive bits equal the one at `from`, up to `most`.
    pub fn same(&self, memory: &Memory, from: u64, most: u64) -> u64 {
        let mut runs = self.runs(memory, from, from + most);
        let Some((_, mut count, set)) = runs.next() else { return 0 };
        count += runs.take_while(|run| run.2 == set).map(|run| run.1).sum::<u64>();
        count.min(most)
    }
}
