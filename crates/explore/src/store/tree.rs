//! The lossless store: vectors as binary trees whose equal subtrees are kept once.
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

use super::batch::{Batch, Changed, Leaf, mix, read_leaf, same, write_leaf};
use super::memo::Memo;
use super::plan::{LEAF, Node, Plan};
use super::sample::Sample;
use super::table::{Block, Full, PairTable, Table};
use super::{Allowance, Exhausted, Need, Visit, Visited};
use crate::system::Key;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Stands for the pair (0, 0) at the root: the vector of zeros is a state like any other.
const ZEROS: u64 = u64::MAX;
/// In a guess: an earlier ticket of the batch is for the same state, which will be known when it is this one's turn.
const CLAIMED: u64 = 1 << 63;
/// In [`Need::Room`]: the table of leaves. Tables of pairs have their own number.
const LEAVES: usize = usize::MAX;

/// The lossless visited store.
pub struct Tree {
    plan: Plan,
    leaves: Table<LEAF>,
    /// Pairs below the root, then the roots of narrower trees.
    pairs: Vec<PairTable>,
    /// Pairs at the root: the visited states.
    top: PairTable,
    /// Length in bytes of the longest vector seen: what [`Visited::load`] gives back, padded with zeros.
    longest: AtomicU32,
}

/// A worker's view: one vector with the references of all its subtrees, and the vectors on their way into the store.
#[derive(Default)]
pub struct TreeCursor {
    /// The state whose vector is held; 0 for the vector of zeros.
    id: u32,
    vector: Vec<u8>,
    /// References of its subtrees, for each node of the plan but the root.
    references: Vec<u32>,
    /// Its leaves, in the plan's order.
    leaves: Vec<Held>,
    /// The hash of the held vector; 0 for the vector of zeros.
    hash: u64,
    blocks: Blocks,
    memo: Memo,
    batch: Batch,
    /// The references of the vector at hand.
    work: Vec<u32>,
}

/// A leaf of the held vector.
#[derive(Clone, Copy, Default)]
struct Held {
    leaf: Leaf,
    /// Its hash.
    hash: u64,
}

/// References that a worker has reserved in each table.
#[derive(Default)]
struct Blocks {
    leaves: Block,
    pairs: Vec<Block>,
}

/// A state half inserted.
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

impl Tree {
    /// An empty store, at its best for vectors like those of the sample; `None` if the system has no memory.
    #[must_use]
    pub fn new(sample: &Sample) -> Option<Self> {
        let (pairs, top) = (vec![PairTable::new()?], PairTable::new()?);
        Some(Self { plan: Plan::new(sample), leaves: Table::new()?, pairs, top, longest: AtomicU32::new(0) })
    }

    /// Number of the table that holds the visited states.
    #[inline]
    fn last(&self) -> usize {
        self.pairs.len()
    }

    /// The reference of a leaf, from where a probe has come.
    #[inline]
    fn intern_leaf(&self, blocks: &mut Blocks, probe: u64, changed: &Changed) -> Result<u32, Need> {
        if changed.leaf == [0; LEAF] {
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

    /// Lays the cursor out anew if the tree has grown wider.
    #[inline]
    fn fit(&self, cursor: &mut TreeCursor) {
        if cursor.references.len() != self.plan.root() {
            self.refit(cursor);
        }
    }

    #[cold]
    fn refit(&self, cursor: &mut TreeCursor) {
        cursor.blocks.pairs.resize_with(self.last() + 1, Block::default);
        cursor.vector = vec![0; self.plan.words * 8];
        cursor.references = vec![0; self.plan.root()];
        let zeros = self.plan.leaves.iter().map(|leaf| Held { leaf: [0; LEAF], hash: mix([0; LEAF], leaf.salt) });
        cursor.leaves = zeros.collect();
        cursor.hash = 0;
        self.hold(cursor, cursor.id);
    }

    /// Makes the cursor hold the vector of a state, touching only what differs from the one it held.
    #[inline]
    fn hold(&self, cursor: &mut TreeCursor, id: u32) {
        cursor.id = id;
        cursor.batch.forget_held();
        self.descend(cursor, self.plan.root(), self.root_of(id));
    }

    /// The pair at the root of a state; of the vector of zeros for 0.
    #[inline]
    fn root_of(&self, id: u32) -> u64 {
        match id {
            0 => 0,
            id => match self.top.get(id) {
                [ZEROS] => 0,
                [pair] => pair,
            },
        }
    }

    #[inline]
    fn leaf_of(&self, reference: u32) -> Leaf {
        if reference == 0 { [0; LEAF] } else { self.leaves.get(reference) }
    }

    #[inline]
    fn pair_of(&self, table: usize, reference: u32) -> u64 {
        if reference == 0 { 0 } else { self.pairs[table].get(reference)[0] }
    }

    /// Makes the subtrees of a node be those of `pair`.
    fn descend(&self, cursor: &mut TreeCursor, node: usize, pair: u64) {
        for (child, reference) in self.plan.children(node, pair) {
            if cursor.references[child] == reference {
                continue;
            }
            cursor.references[child] = reference;
            match self.plan.nodes[child] {
                Node::Leaf { start, end } => {
                    let ordinal = self.plan.ordinals[child];
                    let leaf = self.leaf_of(reference);
                    let hash = mix(leaf, self.plan.leaves[ordinal].salt);
                    cursor.hash ^= cursor.leaves[ordinal].hash ^ hash;
                    cursor.leaves[ordinal] = Held { leaf, hash };
                    write_leaf(&mut cursor.vector[start * 8..end * 8], leaf);
                }
                Node::Pair { table, .. } => self.descend(cursor, child, self.pair_of(table, reference)),
            }
        }
    }

    /// The pair at the root of a ticket's vector: looks up the leaves that differ and the pairs above them. Probes count
    /// only if `probed`.
    #[inline]
    fn complete(&self, cursor: &mut TreeCursor, ticket: &TreeTicket, probed: bool) -> Result<u64, Need> {
        let TreeCursor { blocks, memo, batch, work, .. } = cursor;
        let root = ticket.root as usize;
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

    /// Second half of an insertion, from the leaves up.
    #[inline(never)]
    fn insert_unknown(&self, cursor: &mut TreeCursor, ticket: TreeTicket, guess: u64) -> Result<Visit, Need> {
        let mut pair = self.complete(cursor, &ticket, guess > 0)?;
        if ticket.root as usize != self.plan.root() {
            self.fit(cursor);
            pair = self.widened(&mut cursor.blocks, pair, ticket.root as usize)?;
        }
        let block = &mut cursor.blocks.pairs[self.last()];
        match self.top.insert_from(guess, block, [top_value(pair)], ticket.tag) {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Full) => Err(Need::Room(self.last())),
        }
    }

    /// The reference of a pair below the root, most of which were met a moment ago.
    #[inline]
    fn recall_pair(&self, blocks: &mut Blocks, memo: &mut Memo, table: usize, pair: u64) -> Result<u32, Need> {
        if let Some(reference) = memo.pair(table, pair) {
            return Ok(reference);
        }
        let reference = self.intern_pair(blocks, table, pair)?;
        memo.put_pair(table, pair, reference);
        Ok(reference)
    }

    /// The pair at the root of a vector whose pair at the root of a narrower tree was `pair`.
    #[cold]
    fn widened(&self, blocks: &mut Blocks, mut pair: u64, root: usize) -> Result<u64, Need> {
        for node in &self.plan.nodes[root..self.plan.root()] {
            // What comes in between are the leaves and pairs of the words that were added.
            if let Node::Pair { table, .. } = *node
                && table > 0
            {
                pair = self::pair(self.intern_pair(blocks, table, pair)?, 0);
            }
        }
        Ok(pair)
    }

    /// Makes today's tree the left half of a wider one; numbers stay.
    fn widen(&mut self, words: usize) -> Result<(), Exhausted> {
        let map = |id| match self.top.get(id) {
            [ZEROS] => [ZEROS],
            _ => [pair(id, 0)],
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
    fn bytes_after_growth<const W: usize>(&self, table: &Table<W>) -> Result<u64, Exhausted> {
        if table.is_exhausted() {
            return Err(Exhausted::Numbers);
        }
        Ok(self.bytes() - table.bytes() + table.bytes_after_growth())
    }
}

impl Visited for Tree {
    type Cursor = TreeCursor;
    type Ticket = TreeTicket;
    const RESTORES: bool = true;

    #[inline]
    fn ticket(&self, cursor: &mut TreeCursor, key: Key<'_>) -> Result<TreeTicket, Need> {
        let Key::Vector(vector) = key else { panic!("the tree store keeps vectors, not fingerprints") };
        let (words, rest) = vector.as_chunks();
        assert!(rest.is_empty(), "vectors are whole words of eight bytes");
        self.fit(cursor);
        if words.len() > self.plan.words {
            return Err(Need::Width(words.len()));
        }
        if vector.len() as u32 > self.longest.load(Relaxed) {
            self.longest.fetch_max(vector.len() as u32, Relaxed);
        }
        let TreeCursor { references, leaves, batch, .. } = cursor;
        let (mut hash, held, begin) = (cursor.hash, batch.hold(references), batch.end());
        for (place, held) in self.plan.leaves.iter().zip(&*leaves) {
            let leaf = read_leaf(words, place.start, place.end);
            if !same(leaf, &held.leaf) {
                let mixed = mix(leaf, place.salt);
                hash ^= mixed ^ held.hash;
                batch.add(place.node, leaf, (mixed >> 32) as u32);
            }
        }
        let tag = (hash >> 32) as u32;
        self.top.prefetch(tag);
        Ok(TreeTicket { tag, held, begin, end: batch.end(), root: self.plan.root() as u32 })
    }

    #[inline]
    fn guess(&self, cursor: &mut TreeCursor, ticket: TreeTicket) -> u64 {
        let probe = self.top.probe(ticket.tag);
        if self.top.probed(probe, ticket.tag).is_some() {
            return probe;
        }
        if cursor.memo.claim(ticket.tag) {
            return probe | CLAIMED;
        }
        // Most probably a new state, whose leaves must be looked up.
        for changed in cursor.batch.changed(ticket.begin, ticket.end) {
            self.leaves.prefetch(changed.tag);
        }
        probe
    }

    #[inline]
    fn approach(&self, cursor: &mut TreeCursor, ticket: TreeTicket, guess: u64) {
        if guess & CLAIMED > 0 {
            return;
        }
        match self.top.probed(guess, ticket.tag) {
            Some(id) => self.foresee(id),
            None => {
                for changed in cursor.batch.changed_mut(ticket.begin, ticket.end) {
                    changed.probe = self.leaves.probe(changed.tag);
                }
            }
        }
    }

    #[inline(always)]
    fn insert(&self, cursor: &mut TreeCursor, ticket: TreeTicket, guess: u64) -> Result<Visit, Need> {
        let guess = guess & !CLAIMED;
        match self.known(&cursor.batch, &ticket, guess) {
            Some(id) => Ok(Visit { id, new: false }),
            None => self.insert_unknown(cursor, ticket, guess),
        }
    }

    fn settled(&self, cursor: &mut TreeCursor) {
        cursor.batch.clear();
    }

    #[inline]
    fn foresee(&self, id: u32) {
        for (child, reference) in self.plan.children(self.plan.root(), self.root_of(id)) {
            match self.plan.nodes[child] {
                _ if reference == 0 => {}
                Node::Leaf { .. } => self.leaves.prefetch_value(reference),
                Node::Pair { table, .. } => self.pairs[table].prefetch_value(reference),
            }
        }
    }

    #[inline]
    fn load<'c>(&self, cursor: &'c mut TreeCursor, id: u32) -> &'c [u8] {
        self.fit(cursor);
        self.hold(cursor, id);
        &cursor.vector[..self.longest.load(Relaxed) as usize]
    }

    fn matches(&self, cursor: &mut TreeCursor, id: u32, key: Key<'_>) -> bool {
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
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[inline]
fn top_value(pair: u64) -> u64 {
    if pair == 0 { ZEROS } else { pair }
}

mod known;
#[cfg(test)]
mod tests;
