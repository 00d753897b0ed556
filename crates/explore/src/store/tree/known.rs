//! Whether a vector is visited, decided from above: most steps lead to a state that is known.
//!
//! The state to which the hash of the whole vector leads is compared with the vector part by part. What a step did not
//! change must have the reference that it has in the state being expanded; what it did change is compared word by word.
//! So no leaf and no pair of a known state is looked up, which saves the waits for their tables.

use super::super::batch::{Batch, Changed, same};
use super::super::plan::Node;
use super::{Tree, TreeTicket};

impl Tree {
    /// The number of a ticket's state if it is visited, found where a guess has come; `None` if that is not known.
    #[inline]
    pub(super) fn known(&self, batch: &Batch, ticket: &TreeTicket, guess: u64) -> Option<u32> {
        let root = self.plan.root();
        if guess == 0 || ticket.root as usize != root {
            return None;
        }
        let id = self.top.probed(guess, ticket.tag)?;
        let mut look =
            Look { tree: self, held: batch.held(ticket.held, root), changed: batch.changed(ticket.begin, ticket.end) };
        look.is_below(root, self.root_of(id)).then_some(id)
    }
}

/// A vector on the way into the store, compared with a state from left to right.
struct Look<'a> {
    tree: &'a Tree,
    /// References of the state that the vector came from.
    held: &'a [u32],
    /// Leaves that differ from there and were not compared yet.
    changed: &'a [Changed],
}

impl Look<'_> {
    /// Whether the subtrees of a node are those of `pair`.
    #[inline(always)]
    fn is_below(&mut self, node: usize, pair: u64) -> bool {
        let [left, right] = self.tree.plan.children(node, pair);
        self.is(left) && self.is(right)
    }

    /// Whether a subtree is that of a reference.
    #[inline(always)]
    fn is(&mut self, (node, reference): (usize, u32)) -> bool {
        match self.changed {
            // Children come before their parents, so this leaf is the next one in or below the node.
            [next, rest @ ..] if next.node as usize <= node => match self.tree.plan.nodes[node] {
                Node::Leaf { .. } => {
                    self.changed = rest;
                    same(next.leaf, &self.tree.leaf_of(reference))
                }
                Node::Pair { table, .. } => self.is_pair(node, self.tree.pair_of(table, reference)),
            },
            _ => self.held[node] == reference,
        }
    }

    /// The same for a pair below the root, which small vectors do not have.
    #[inline(never)]
    fn is_pair(&mut self, node: usize, pair: u64) -> bool {
        self.is_below(node, pair)
    }
}
