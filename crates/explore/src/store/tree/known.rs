//! Whether a vector is visited, decided from above: most steps lead to a state that is known.
//!
//! The state to which the hash of the whole vector leads is compared with the vector part by part. What a step did not
//! change must have the reference that it has in the state being expanded; what it did change is compared word by word.
//! So no leaf and no pair of a known state is looked up, which saves the waits for their tables.

use super::super::batch::{Batch, Changed, same};
use super::super::plan::Node;
use super::{FLAT, HALF, Tree, TreeTicket, flat_pair, flat_shift};

impl<const L: usize> Tree<L> {
    /// Whether a ticket's vector, which is laid out for today's tree, is that of a state.
    ///
    /// The comparison is exact: a tag that agrees by chance is found out here, which makes the
    /// store lossless.
    #[inline]
    pub(super) fn is(&self, batch: &Batch<L>, ticket: &TreeTicket, id: u32) -> bool {
        let (held, changed) = (batch.held_from(ticket.held), batch.changed(ticket.begin, ticket.end));
        let (root, pair) = (self.plan.root(), self.root_of(id));
        if root == FLAT {
            return self.is_flat(held, changed, pair);
        }
        Comparison { tree: self, held, changed }.is_below(self.plan.halves(root), pair)
    }

    /// The same for a tree of two leaves, without a branch that depends on which of them changed.
    #[inline(always)]
    fn is_flat(&self, held: &[u32], changed: &[Changed<L>], pair: u64) -> bool {
        let mut differ = flat_pair(held) ^ pair;
        let mut equal = true;
        for changed in changed {
            let shift = flat_shift(changed.node);
            differ &= !(HALF << shift);
            equal &= same(changed.leaf, &self.leaf_of((pair >> shift) as u32));
        }
        equal && differ == 0
    }
}

/// A vector that is being inserted, compared with a state from left to right.
struct Comparison<'a, const L: usize> {
    tree: &'a Tree<L>,
    /// References of the state that the vector came from, and others.
    held: &'a [u32],
    /// Leaves that differ from there and were not compared yet.
    changed: &'a [Changed<L>],
}

impl<const L: usize> Comparison<'_, L> {
    /// Whether two subtrees are those of `pair`.
    #[inline(always)]
    fn is_below(&mut self, (left, right): (usize, usize), pair: u64) -> bool {
        self.is(left, (pair >> 32) as u32) && self.is(right, pair as u32)
    }

    /// Whether a subtree is that of a reference.
    #[inline(always)]
    fn is(&mut self, node: usize, reference: u32) -> bool {
        match self.changed {
            // Children come before their parents, so this leaf is the next one in or below the node.
            [next, rest @ ..] if next.node as usize <= node => match self.tree.plan.nodes[node] {
                Node::Leaf { .. } => {
                    self.changed = rest;
                    same(next.leaf, &self.tree.leaf_of(reference))
                }
                Node::Pair { table, left, right } => self.is_pair((left, right), self.tree.pair_of(table, reference)),
            },
            _ => self.held[node] == reference,
        }
    }

    /// The same for a pair below the root, which small vectors do not have.
    #[inline(never)]
    fn is_pair(&mut self, halves: (usize, usize), pair: u64) -> bool {
        self.is_below(halves, pair)
    }
}
