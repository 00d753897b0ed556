//! A few vectors of a system, from which a store chooses how to cut vectors into leaves.

/// Vectors of a few random walks.
#[derive(Clone, Default, Debug)]
pub struct Sample {
    /// Length of the longest vector, in bytes.
    bytes: usize,
    vectors: Vec<Vec<u64>>,
}

impl Sample {
    /// No vectors yet, only the length that they will have.
    #[must_use]
    pub fn of_length(bytes: usize) -> Self {
        Self { bytes, vectors: Vec::new() }
    }

    /// Adds a vector.
    pub fn add(&mut self, vector: &[u8]) {
        self.see_length(vector.len());
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("a word has eight bytes"));
        self.vectors.push(vector.chunks_exact(8).map(word).collect());
    }

    /// Notes that a vector is this long.
    pub fn see_length(&mut self, bytes: usize) {
        self.bytes = self.bytes.max(bytes);
    }

    /// Whether there is no vector in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Words of the longest vector.
    #[must_use]
    pub fn words(&self) -> usize {
        self.bytes.div_ceil(8)
    }

    /// Estimate of how many different values the words from `start` to `end` have in all states, from the number of pairs of
    /// samples that agree there.
    ///
    /// The birthday estimate: of k samples drawn from n values, about k^2/2n pairs agree. One is
    /// added so that no agreement is a large number and not infinity.
    pub(super) fn variety(&self, start: usize, end: usize) -> f64 {
        let mut mixes: Vec<u64> = self.vectors.iter().map(|vector| mix(vector, start, end)).collect();
        mixes.sort_unstable();
        let equal_pairs: usize = mixes.chunk_by(u64::eq).map(|equal| equal.len() * (equal.len() - 1) / 2).sum();
        (mixes.len() as f64).powi(2) / (1.0 + equal_pairs as f64)
    }
}

/// Hash of a range of words; zeros at the end do not count.
fn mix(vector: &[u64], start: usize, end: usize) -> u64 {
    let range = &vector[start.min(vector.len())..end.min(vector.len())];
    let used = range.len() - range.iter().rev().take_while(|word| **word == 0).count();
    range[..used].iter().fold(0, |mixed: u64, word| {
        let mixed = (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    })
}
