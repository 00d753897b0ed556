//! One worker's view of the tree store.

use super::super::batch::{Batch, Leaf, mix, read_leaf, write_leaf};
use super::super::memo::Memo;
use super::super::plan::Node;
use super::super::table::Block;
use super::{Need, Tree};
use std::sync::atomic::Ordering::Relaxed;

/// A worker's view: one vector with the references of all its subtrees, and the vectors that are being inserted.
///
/// **Invariant:** `leaves`, `references` and `vector` are those of the state `id` in today's plan;
/// `hash` is the exclusive or over the leaves.
#[derive(Default)]
pub struct TreeCursor<const L: usize> {
    /// The root of the plan that the rest is laid out for.
    root: usize,
    /// Words of the vectors that come in.
    width: usize,
    /// The hash of the held vector; 0 for the vector of zeros.
    pub(super) hash: u64,
    /// Its leaves, in the plan's order.
    pub(super) leaves: Vec<Held<L>>,
    /// References of its subtrees, for each node of the plan but the root.
    pub(super) references: Vec<u32>,
    /// The state whose vector is held; 0 for the vector of zeros.
    id: u32,
    pub(super) vector: Vec<u8>,
    pub(super) blocks: Blocks,
    pub(super) memo: Memo,
    pub(super) batch: Batch<L>,
    /// The references of the vector at hand.
    pub(super) work: Vec<u32>,
}

/// A leaf of the held vector.
#[derive(Clone, Copy)]
pub(super) struct Held<const L: usize> {
    /// Its words.
    pub leaf: Leaf<L>,
    /// Their hash.
    pub hash: u64,
    /// See [`mix`].
    pub salt: u64,
    /// The first of its words in the vectors that come in, which may be shorter than the tree is wide.
    pub start: u32,
    /// One after the last.
    pub end: u32,
    /// Its node.
    pub node: u32,
}

impl<const L: usize> Held<L> {
    /// What a vector has in its place.
    #[inline]
    pub fn read(&self, words: &[[u8; 8]]) -> Leaf<L> {
        read_leaf(&words[self.start as usize..self.end as usize])
    }
}

/// References that a worker has reserved in each table.
#[derive(Default)]
pub(super) struct Blocks {
    pub leaves: Block,
    pub pairs: Vec<Block>,
}

impl<const L: usize> Tree<L> {
    /// Lays the cursor out anew if the tree has grown wider.
    #[inline]
    pub(super) fn fit(&self, cursor: &mut TreeCursor<L>) {
        if cursor.root != self.plan.root() {
            self.refit(cursor);
        }
    }

    /// The same for vectors of so many words.
    #[inline]
    pub(super) fn fit_width(&self, cursor: &mut TreeCursor<L>, words: usize) -> Result<(), Need> {
        if cursor.root == self.plan.root() && cursor.width == words { Ok(()) } else { self.refit_width(cursor, words) }
    }

    #[cold]
    fn refit_width(&self, cursor: &mut TreeCursor<L>, words: usize) -> Result<(), Need> {
        self.fit(cursor);
        if words > self.plan.words {
            return Err(Need::Width(words));
        }
        self.longest.fetch_max(words as u32 * 8, Relaxed);
        cursor.width = words;
        for (held, place) in cursor.leaves.iter_mut().zip(&self.plan.leaves) {
            (held.start, held.end) = (place.start.min(words) as u32, place.end.min(words) as u32);
        }
        Ok(())
    }

    #[cold]
    fn refit(&self, cursor: &mut TreeCursor<L>) {
        cursor.root = self.plan.root();
        cursor.width = 0;
        cursor.blocks.pairs.resize_with(self.last() + 1, Block::default);
        cursor.vector = vec![0; self.plan.words * 8];
        cursor.references = vec![0; self.plan.root()];
        cursor.leaves.clear();
        cursor.leaves.extend(self.plan.leaves.iter().map(|leaf| Held {
            leaf: [0; L],
            hash: mix([0; L], leaf.salt),
            salt: leaf.salt,
            start: 0,
            end: 0,
            node: leaf.node as u32,
        }));
        cursor.hash = 0;
        self.hold(cursor, cursor.id);
    }

    /// Makes the cursor hold the vector of a state, touching only what differs from the one it held.
    ///
    /// O(changed subtrees): neighbouring states of a search share most of theirs.
    #[inline]
    pub(super) fn hold(&self, cursor: &mut TreeCursor<L>, id: u32) {
        cursor.id = id;
        cursor.batch.forget_held();
        self.descend(cursor, self.plan.halves(self.plan.root()), self.root_of(id));
    }

    /// Makes two subtrees be those of `pair`.
    #[inline]
    fn descend(&self, cursor: &mut TreeCursor<L>, (left, right): (usize, usize), pair: u64) {
        self.replace(cursor, left, (pair >> 32) as u32);
        self.replace(cursor, right, pair as u32);
    }

    /// Makes a subtree be that of a reference.
    fn replace(&self, cursor: &mut TreeCursor<L>, node: usize, reference: u32) {
        if std::mem::replace(&mut cursor.references[node], reference) == reference {
            return;
        }
        match self.plan.nodes[node] {
            Node::Leaf { start, end } => {
                let leaf = self.leaf_of(reference);
                let held = &mut cursor.leaves[self.plan.ordinals[node]];
                let hash = mix(leaf, held.salt);
                cursor.hash ^= held.hash ^ hash;
                (held.leaf, held.hash) = (leaf, hash);
                write_leaf(&mut cursor.vector[start * 8..end * 8], leaf);
            }
            Node::Pair { table, left, right } => {
                self.descend(cursor, (left, right), self.pair_of(table, reference));
            }
        }
    }
}
