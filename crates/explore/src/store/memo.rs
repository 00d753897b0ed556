//! Memo of one worker's recent interning.

/// Memoized pairs: more would not fit the caches.
const PAIRS: usize = 1 << 14;
/// Memoized claims: several times as many as there are states in a batch.
const CLAIMS: usize = 512;

/// References of pairs, direct-mapped by hash.
///
/// **Invariant:** every entry is right. One of zeros is the pair of zeros, whose reference is 0 in every table.
///
/// Per worker, without synchronisation: references never change, so what was right once stays
/// right.
pub struct Memo {
    /// The pair, then table and reference.
    pairs: Box<[[u64; 2]; PAIRS]>,
    /// Tags of states that are being inserted.
    claims: Box<[u32; CLAIMS]>,
}

impl Default for Memo {
    fn default() -> Self {
        let pairs = vec![[0; 2]; PAIRS].into_boxed_slice().try_into().expect("just so many");
        Self { pairs, claims: Box::new([0; CLAIMS]) }
    }
}

impl Memo {
    /// The reference of a pair in a table, if it is memoized.
    #[inline]
    pub fn pair(&self, table: usize, pair: u64) -> Option<u32> {
        let [key, last] = self.pairs[place(pair)];
        (key == pair && last >> 32 == table as u64).then_some(last as u32)
    }

    /// Notes that a state with this tag is being inserted; whether one was noted before: most probably the same state, twice
    /// in one batch. A wrong answer costs time only.
    #[inline]
    pub fn claim(&mut self, tag: u32) -> bool {
        std::mem::replace(&mut self.claims[tag as usize % CLAIMS], tag) == tag
    }

    /// Memoizes a pair.
    #[inline]
    pub fn put_pair(&mut self, table: usize, pair: u64, reference: u32) {
        self.pairs[place(pair)] = [pair, (table as u64) << 32 | u64::from(reference)];
    }
}

#[inline]
fn place(pair: u64) -> usize {
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_of_different_tables_are_different_entries() {
        let mut memo = Memo::default();
        memo.put_pair(2, 77, 5);
        assert_eq!((memo.pair(2, 77), memo.pair(0, 77)), (Some(5), None));
    }

    #[test]
    fn a_state_is_claimed_once() {
        let mut memo = Memo::default();
        assert_eq!([7, 8, 7, 8, 9].map(|tag| memo.claim(tag)), [false, false, true, true, false]);
    }

    #[test]
    fn an_empty_memo_has_no_pairs() {
        assert_eq!(Memo::default().pair(0, 1), None);
    }
}
