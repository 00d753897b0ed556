//! Growth of tree stores: more states, or longer vectors.

use super::super::plan::Node;
use super::super::table::Table;
use super::cursor::Blocks;
use super::{Exhausted, Need, Tree, Visited, ZEROS};

impl<const L: usize> Tree<L> {
    /// The pair at the root of a vector whose pair at the root of a narrower tree was `pair`.
    #[cold]
    pub(super) fn widened(&self, blocks: &mut Blocks, mut pair: u64, root: usize) -> Result<u64, Need> {
        for node in &self.plan.nodes[root..self.plan.root()] {
            // What comes in between are the leaves and pairs of the words that were added.
            if let Node::Pair { table, .. } = *node
                && table > 0
            {
                pair = super::pair(self.intern_pair(blocks, table, pair)?, 0);
            }
        }
        Ok(pair)
    }

    /// Makes today's tree the left half of a wider one; numbers stay.
    ///
    /// Old vectors are new ones with zeros behind them. A subtree of zeros has reference 0, so each
    /// old root becomes the pair (root, 0), and numbers of states stay.
    pub(super) fn widen(&mut self, words: usize) -> Result<(), Exhausted> {
        let map = |id| match self.top.get(id) {
            [ZEROS] => [ZEROS],
            _ => [super::pair(id, 0)],
        };
        // Words of zeros do not change the hash of a vector, so states are found where they were.
        let wider = self.top.renamed(map).ok_or(Exhausted::Memory)?;
        // The old roots are looked up as pairs from now on.
        if !self.top.retag() {
            return Err(Exhausted::Memory);
        }
        self.pairs.push(std::mem::replace(&mut self.top, wider));
        self.plan.widen(words, self.last());
        Ok(())
    }

    /// Bytes in use once a table has grown and filled up again.
    pub(super) fn bytes_after_growth<const W: usize>(&self, table: &Table<W>) -> Result<u64, Exhausted> {
        if table.is_exhausted() {
            return Err(Exhausted::Numbers);
        }
        Ok(self.bytes() - table.bytes() + table.bytes_after_growth())
    }
}
