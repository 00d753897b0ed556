//! Which leaf of a perfect tree each chunk of a vector goes to.

/// Which leaf each chunk of a vector goes to.
///
/// The tree is perfect, vectors are not: five chunks at the first five of eight leaves would put four of them, and with
/// them nearly all distinct combinations, under the left half, which would then be as large as the set of states. So a
/// block of `chunks` chunks is spread evenly over a power of two of leaves. Longer vectors take several blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Chunks of a block.
    pub chunks: usize,
    /// Leaves of a block.
    pub leaves: usize,
}

impl Layout {
    /// A layout at its best for vectors of this many chunks.
    pub fn new(chunks: usize) -> Self {
        let chunks = chunks.max(2);
        Self { chunks, leaves: chunks.next_power_of_two() }
    }

    /// The leaf of a chunk.
    pub fn leaf(self, chunk: usize) -> usize {
        let (block, offset) = (chunk / self.chunks, chunk % self.chunks);
        block * self.leaves + offset * self.leaves / self.chunks
    }

    /// Leaves that a vector of this many chunks needs.
    pub fn leaves_for(self, chunks: usize) -> usize {
        chunks.div_ceil(self.chunks) * self.leaves
    }

    /// Chunks that fit on this many leaves.
    pub fn chunks_on(self, leaves: usize) -> usize {
        leaves / self.leaves * self.chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_spread_over_the_leaves_of_their_block() {
        let layout = Layout::new(5);
        let leaves: Vec<usize> = (0..7).map(|chunk| layout.leaf(chunk)).collect();
        assert_eq!(leaves, [0, 1, 3, 4, 6, 8, 9]);
        assert_eq!((layout.leaves_for(5), layout.leaves_for(6), layout.chunks_on(16)), (8, 16, 10));
    }
}
