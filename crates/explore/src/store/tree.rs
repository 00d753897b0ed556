//! The lossless store: vectors as binary trees with interned subtrees (Laarman, van de Pol, Weber, SPIN 2011).
//!
//! A vector is cut into a few leaves of up to 32 bytes. Leaves are interned into references of four bytes, pairs of
//! references are interned up to the root, and the pairs at the root are the visited states: their references are the
//! states' numbers.
//!
//! The pairs at the root are found by a hash of the whole vector, which follows from that of the state being expanded
//! and from the leaves that a step changed: so their line of the table is fetched before anything else is known. The
//! references of unchanged leaves are those of the state being expanded, changed ones are looked up by content. See
//! [`super::batch`] for how the waits are hidden.
//!
//! Leaves and subtrees of zeros have reference 0 and cost nothing. Vectors are padded with zeros, so two vectors that
//! differ only by zero words at the end are one state: a system must make the length follow from the content.

mod cursor;
mod grow;
mod kept;
mod known;
#[cfg(test)]
mod tests;
use super::batch::{Batch, Changed, Leaf, mix, same};
use super::memo::Memo;
use super::plan::{Node, Plan};
use super::sample::Sample;
use super::table::{Full, PairTable, Table};
use super::{Allowance, Exhausted, LeftOut, Need, Visit, Visited};
use crate::journal::{Broken, Reader, Writer};
use crate::system::Key;
pub use cursor::TreeCursor;
use cursor::{Blocks, Held};
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Represents the pair (0, 0) at the root: the vector of zeros is a state like any other.
const ZEROS: u64 = u64::MAX;
/// In a guess: the rest of it is the number of a state that has the tag.
const KNOWN: u64 = 1 << 62;
/// In a guess: an earlier ticket of the batch is for the same state, which is stored when this one is inserted.
const CLAIMED: u64 = 1 << 63;
/// The root of a tree of two leaves: they are nodes 0 and 1, the left and the right half of its pair.
const FLAT: usize = 2;
/// One half of a pair.
const HALF: u64 = u32::MAX as u64;
/// In [`Need::Room`]: the table of leaves. Tables of pairs have their own number.
const LEAVES: usize = usize::MAX;

/// The lossless visited store, with leaves of up to `L` words: the fewer, the faster, but two leaves should do.
pub struct Tree<const L: usize> {
    plan: Plan,
    leaves: Table<L>,
    /// Pairs below the root, then the roots of narrower trees.
    pairs: Vec<PairTable>,
    /// Pairs at the root: the visited states.
    top: PairTable,
    /// Length in bytes of the longest vector so far: what [`Visited::load`] gives back, padded with zeros.
    longest: AtomicU32,
}

/// An insertion that is half done.
#[derive(Clone, Copy)]
pub struct TreeTicket {
    /// Of the whole vector.
    tag: u32,
    /// Where the batch keeps the references of the vector that it came from.
    held: u32,
    /// Where the batch keeps the leaves that differ.
    begin: u32,
    /// Where they end.
    end: u32,
    /// The root of the plan that the ticket was made for: a wider tree has a later one.
    root: u32,
}

impl<const L: usize> Tree<L> {
    /// An empty store into which so many workers will insert, at its best for vectors like those of the sample; `None` if
    /// the system has no memory.
    #[must_use]
    pub fn new(sample: &Sample, workers: usize) -> Option<Self> {
        let (pairs, top) = (vec![PairTable::new(workers)?], PairTable::new(workers)?);
        Some(Self { plan: Plan::new(sample, L), leaves: Table::new(workers)?, pairs, top, longest: AtomicU32::new(0) })
    }

    /// Number of the table that holds the visited states.
    #[inline]
    fn last(&self) -> usize {
        self.pairs.len()
    }

    /// The reference of a leaf, from where a probe has come.
    #[inline]
    fn intern_leaf(&self, blocks: &mut Blocks, probe: u64, changed: &Changed<L>) -> Result<u32, Need> {
        if changed.leaf == [0; L] {
            return Ok(0);
        }
        match self.leaves.insert_from(probe, &mut blocks.leaves, changed.leaf, changed.tag) {
            Ok((reference, _)) => Ok(reference),
            Err(Full) => Err(Need::Room(LEAVES)),
        }
    }

    #[inline]
    fn intern_pair(&self, blocks: &mut Blocks, table: usize, pair: u64) -> Result<u32, Need> {
        if pair == 0 {
            return Ok(0);
        }
        match self.pairs[table].insert(&mut blocks.pairs[table], [pair]) {
            Ok((reference, _)) => Ok(reference),
            Err(Full) => Err(Need::Room(table)),
        }
    }

    /// The pair at the root of a state; of the vector of zeros for 0.
    #[inline]
    fn root_of(&self, id: u32) -> u64 {
        match self.top.get(id) {
            [ZEROS] => 0,
            [pair] => pair,
        }
    }

    /// The words of a leaf; a table has zeros for reference 0.
    #[inline]
    fn leaf_of(&self, reference: u32) -> Leaf<L> {
        self.leaves.get(reference)
    }

    #[inline]
    fn pair_of(&self, table: usize, reference: u32) -> u64 {
        self.pairs[table].get(reference)[0]
    }

    /// The pair at the root of a ticket's vector: looks up the leaves that differ and the pairs above them. Probes count
    /// only if `probed`.
    #[inline]
    fn complete(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket, probed: bool) -> Result<u64, Need> {
        let TreeCursor { blocks, memo, batch, work, .. } = cursor;
        let root = ticket.root as usize;
        if root == FLAT {
            return self.complete_flat(blocks, batch, ticket, probed);
        }
        let held = batch.held(ticket.held, root);
        work.clear();
        work.extend_from_slice(held);
        for changed in batch.changed(ticket.begin, ticket.end) {
            let probe = if probed { changed.probe } else { 0 };
            work[changed.node as usize] = self.intern_leaf(blocks, probe, changed)?;
        }
        for inner in &self.plan.inner {
            if inner.node >= root {
                break;
            }
            let (left, right) = (work[inner.left], work[inner.right]);
            if (left, right) != (held[inner.left], held[inner.right]) {
                work[inner.node] = self.recall_pair(blocks, memo, inner.table, pair(left, right))?;
            }
        }
        let (left, right) = self.plan.halves(root);
        Ok(pair(work[left], work[right]))
    }

    /// The same for the smallest of trees, which has two leaves and no other node.
    #[inline]
    fn complete_flat(
        &self,
        blocks: &mut Blocks,
        batch: &Batch<L>,
        ticket: &TreeTicket,
        probed: bool,
    ) -> Result<u64, Need> {
        let mut halves = flat_pair(batch.held_from(ticket.held));
        for changed in batch.changed(ticket.begin, ticket.end) {
            let probe = if probed { changed.probe } else { 0 };
            let (reference, shift) = (self.intern_leaf(blocks, probe, changed)?, flat_shift(changed.node));
            halves = halves & !(HALF << shift) | u64::from(reference) << shift;
        }
        Ok(halves)
    }

    /// Second half of an insertion, from the leaves up. The pair at the root goes in last: as soon as another worker can find the
    /// state, all that it refers to is there.
    #[inline(never)]
    fn insert_unknown(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket, guess: u64) -> Result<Visit, Need> {
        let mut pair = self.complete(cursor, ticket, guess > 0)?;
        if ticket.root as usize != self.plan.root() {
            // The tree was widened since: the ticket's root is a subtree now.
            self.fit(cursor);
            pair = self.widened(&mut cursor.blocks, pair, ticket.root as usize)?;
        }
        let block = &mut cursor.blocks.pairs[self.last()];
        match self.top.insert_from(guess, block, [top_value(pair)], ticket.tag) {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Full) => Err(Need::Room(self.last())),
        }
    }

    /// The reference of a pair below the root; most are in the memo.
    #[inline]
    fn recall_pair(&self, blocks: &mut Blocks, memo: &mut Memo, table: usize, pair: u64) -> Result<u32, Need> {
        if let Some(reference) = memo.pair(table, pair) {
            return Ok(reference);
        }
        let reference = self.intern_pair(blocks, table, pair)?;
        memo.put_pair(table, pair, reference);
        Ok(reference)
    }
}

impl<const L: usize> Visited for Tree<L> {
    type Cursor = TreeCursor<L>;
    type Ticket = TreeTicket;
    const RESTORES: bool = true;
    const FORMAT: u32 = 1000 + L as u32;

    #[inline]
    fn ticket(&self, cursor: &mut TreeCursor<L>, key: Key<'_>) -> Result<TreeTicket, Need> {
        let Key::Vector(vector) = key else { panic!("the tree store keeps vectors, not fingerprints") };
        let (words, rest) = vector.as_chunks();
        assert!(rest.is_empty(), "vectors are whole words of eight bytes");
        self.fit_width(cursor, words.len())?;
        let TreeCursor { references, leaves, batch, .. } = cursor;
        let (mut hash, begin) = (cursor.hash, batch.end());
        let from = batch.hold(references);
        let mut add = |held: &Held<L>, leaf: Leaf<L>| {
            let mixed = mix(leaf, held.salt);
            hash ^= mixed ^ held.hash;
            batch.add(held.node, leaf, (mixed >> 32) as u32);
        };
        for held in &*leaves {
            let leaf = held.read(words);
            if !same(leaf, &held.leaf) {
                add(held, leaf);
            }
        }
        let tag = (hash >> 32) as u32;
        self.top.prefetch(tag);
        Ok(TreeTicket { tag, held: from, begin, end: batch.end(), root: self.plan.root() as u32 })
    }

    #[inline]
    fn guess(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket) -> u64 {
        let probe = self.top.probe(ticket.tag);
        let claimed = if cursor.memo.claim(ticket.tag) { CLAIMED } else { 0 };
        if probe.reference > 0 { KNOWN | u64::from(probe.reference) } else { claimed | probe.next }
    }

    #[inline]
    fn fetch(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket, guess: u64) {
        if guess & KNOWN > 0 {
            self.foresee(guess as u32);
        } else if guess & CLAIMED == 0 {
            // Most probably a new state, whose leaves must be looked up.
            for changed in cursor.batch.changed(ticket.begin, ticket.end) {
                self.leaves.prefetch(changed.tag);
            }
        }
    }

    #[inline]
    fn approach(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket, guess: u64) {
        if guess & (KNOWN | CLAIMED) == 0 {
            for changed in cursor.batch.changed_mut(ticket.begin, ticket.end) {
                changed.probe = self.leaves.probe(changed.tag).next;
            }
        }
    }

    #[inline(always)]
    fn insert(&self, cursor: &mut TreeCursor<L>, ticket: &TreeTicket, guess: u64) -> Result<Visit, Need> {
        let (guess, id) = match guess {
            known if known & KNOWN > 0 => (0, known as u32),
            claimed if claimed & CLAIMED > 0 => {
                let guess = claimed & !CLAIMED;
                (guess, self.top.probed(guess, ticket.tag).unwrap_or(0))
            }
            guess => (guess, 0),
        };
        if id > 0 && self.is(&cursor.batch, ticket, id) {
            return Ok(Visit { id, new: false });
        }
        self.insert_unknown(cursor, ticket, guess)
    }

    fn settled(&self, cursor: &mut TreeCursor<L>) {
        cursor.batch.clear();
    }

    #[inline]
    fn foresee(&self, id: u32) {
        let ((left, right), pair) = (self.plan.halves(self.plan.root()), self.root_of(id));
        if self.plan.root() == FLAT {
            self.leaves.prefetch_value((pair >> 32) as u32);
            return self.leaves.prefetch_value(pair as u32);
        }
        for (child, reference) in [(left, (pair >> 32) as u32), (right, pair as u32)] {
            match self.plan.nodes[child] {
                _ if reference == 0 => {}
                Node::Leaf { .. } => self.leaves.prefetch_value(reference),
                Node::Pair { table, .. } => self.pairs[table].prefetch_value(reference),
            }
        }
    }

    #[inline]
    fn load<'c>(&self, cursor: &'c mut TreeCursor<L>, id: u32) -> &'c [u8] {
        self.fit(cursor);
        self.hold(cursor, id);
        &cursor.vector[..self.longest.load(Relaxed) as usize]
    }

    fn matches(&self, cursor: &mut TreeCursor<L>, id: u32, key: Key<'_>) -> bool {
        let Key::Vector(vector) = key else { return false };
        let own = self.load(cursor, id);
        let (start, rest) = own.split_at(vector.len().min(own.len()));
        vector.starts_with(start) && vector.len() == start.len() && rest.iter().all(|byte| *byte == 0)
    }

    fn grow(&mut self, need: Need, allowance: Allowance) -> Result<(), Exhausted> {
        let bytes = match need {
            Need::Room(LEAVES) => self.bytes_after_growth(&self.leaves)?,
            Need::Room(table) => self.bytes_after_growth(self.pairs.get(table).unwrap_or(&self.top))?,
            Need::Width(words) if words <= self.plan.words => return Ok(()),
            Need::Width(_) => self.bytes() + self.top.bytes(),
        };
        if bytes > allowance.bytes {
            return Err(Exhausted::Memory);
        }
        let grown = match need {
            Need::Room(LEAVES) => self.leaves.grow(allowance.threads),
            Need::Room(table) => self.pairs.get_mut(table).unwrap_or(&mut self.top).grow(allowance.threads),
            Need::Width(words) => return self.widen(words),
        };
        grown.then_some(()).ok_or(Exhausted::Memory)
    }

    fn bytes(&self) -> u64 {
        self.leaves.bytes() + self.top.bytes() + self.pairs.iter().map(PairTable::bytes).sum::<u64>()
    }

    fn ids_end(&self) -> u32 {
        self.top.references_end()
    }

    fn has(&self, id: u32) -> bool {
        self.top.has(id)
    }

    fn write(&self, to: &mut Writer<'_>, left_out: &LeftOut) -> io::Result<()> {
        self.write_all(to, left_out)
    }

    fn read(from: &mut Reader, workers: usize) -> Result<Self, Broken> {
        Self::read_all(from, workers)
    }
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The two references of a tree that is [`FLAT`], as a pair.
#[inline]
fn flat_pair(held: &[u32]) -> u64 {
    pair(held[0], held[1])
}

/// Where the pair at the root of a tree that is [`FLAT`] has the reference of a leaf.
#[inline]
fn flat_shift(node: u32) -> u32 {
    32 * (1 - node % 2)
}

#[inline]
fn top_value(pair: u64) -> u64 {
    if pair == 0 { ZEROS } else { pair }
}
