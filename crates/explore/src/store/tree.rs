//! The lossless store: vectors as binary trees whose equal subtrees are kept once.
//!
//! A vector is cut into a few leaves of up to 32 bytes. Leaves are interned into references of four bytes, pairs of
//! references are interned up to the root, and the pairs at the root are the visited states: their references are the
//! states' numbers.
//!
//! The pairs at the root are found by a hash of the whole vector, which follows from that of the state being expanded
//! and from the leaves that a step changed. Most steps lead to a state that is known already: then its root says which
//! leaves it has, those that did not change are compared by reference and the others by their bytes, and nothing is
//! looked up by content. Only the leaves of new states are. See [`super::batch`] for how the waits are hidden.
//!
//! Leaves and subtrees of zeros have reference 0 and cost nothing. Vectors are padded with zeros, so two vectors that
//! differ only by zero words at the end are one state: a system must make the length follow from the content.

use super::batch::{Batch, Hashed, Leaf, mix, read_leaf, same, write_leaf};
use super::plan::{LEAF, Node, Plan};
use super::sample::Sample;
use super::table::{Block, Full, PairTable, Table};
use super::{Exhausted, Need, Visit, Visited};
use crate::system::Key;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Stands for the pair (0, 0) at the root: the vector of zeros is a state like any other.
const ZEROS: u64 = u64::MAX;
/// In [`Need::Room`]: the table of leaves. Tables of pairs have their own number.
const LEAVES: usize = usize::MAX;

/// The lossless visited store.
pub struct Tree {
    plan: Plan,
    leaves: Table<LEAF>,
    /// Pairs below the root, then the roots of ever wider trees; the last one holds the visited states.
    pairs: Vec<PairTable>,
    /// Length in bytes of the longest vector seen: what [`Visited::load`] gives back, padded with zeros.
    longest: AtomicU32,
}

/// A worker's view: one vector with the references of all its subtrees, and the vectors on their way into the store.
#[derive(Default)]
pub struct TreeCursor {
    /// The state whose vector is held; 0 for the vector of zeros.
    id: u32,
    vector: Vec<u8>,
    /// For each node of the plan.
    nodes: Vec<Held>,
    /// The hash of the held vector; 0 for the vector of zeros.
    hash: u64,
    blocks: Blocks,
    batch: Batch,
    /// The references of the vector being interned.
    work: Vec<u32>,
}

/// One subtree of the held vector.
#[derive(Clone, Copy, Default)]
struct Held {
    /// The words, if it is a leaf.
    leaf: Leaf,
    /// Their hash.
    hash: u64,
    reference: u32,
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
    /// Subtrees that differ from those of the vector that was held then, by the number of their node.
    changed: u64,
    /// Of the whole vector.
    tag: u32,
    /// Where the batch keeps its leaves.
    leaves: u32,
    /// Where the batch keeps the references of the vector that was held then.
    held: u32,
    /// How many leaves it has: a wider tree has more.
    count: u32,
}

impl Tree {
    /// An empty store, at its best for vectors like those of the sample; `None` if the system has no memory.
    #[must_use]
    pub fn new(sample: &Sample) -> Option<Self> {
        let pairs = vec![PairTable::new()?, PairTable::new()?];
        Some(Self { plan: Plan::new(sample), leaves: Table::new()?, pairs, longest: AtomicU32::new(0) })
    }

    /// Number of the table that holds the visited states.
    #[inline]
    fn last(&self) -> usize {
        self.pairs.len() - 1
    }

    #[inline]
    fn top(&self) -> &PairTable {
        &self.pairs[self.last()]
    }

    #[inline]
    fn intern_leaf(&self, blocks: &mut Blocks, Hashed { leaf, tag }: Hashed) -> Result<u32, Need> {
        if leaf == [0; LEAF] {
            return Ok(0);
        }
        match self.leaves.insert_tagged(&mut blocks.leaves, leaf, tag) {
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
        if cursor.nodes.len() != self.plan.nodes.len() {
            self.refit(cursor);
        }
    }

    #[cold]
    fn refit(&self, cursor: &mut TreeCursor) {
        cursor.blocks.pairs.resize_with(self.pairs.len(), Block::default);
        cursor.vector = vec![0; self.plan.words * 8];
        cursor.nodes = vec![Held::default(); self.plan.nodes.len()];
        for leaf in &self.plan.leaves {
            cursor.nodes[leaf.node].hash = mix([0; LEAF], leaf.start);
        }
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
            id => match self.top().get(id) {
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
            let held = &mut cursor.nodes[child];
            if held.reference == reference {
                continue;
            }
            held.reference = reference;
            match self.plan.nodes[child] {
                Node::Leaf { start, end } => {
                    held.leaf = self.leaf_of(reference);
                    let hash = mix(held.leaf, start);
                    cursor.hash ^= held.hash ^ hash;
                    held.hash = hash;
                    write_leaf(&mut cursor.vector[start * 8..end * 8], held.leaf);
                }
                Node::Pair { table, .. } => self.descend(cursor, child, self.pair_of(table, reference)),
            }
        }
    }

    /// Whether the subtrees of `pair` are those of a ticket's vector.
    fn is(&self, batch: &Batch, ticket: &TreeTicket, node: usize, pair: u64) -> bool {
        self.plan.children(node, pair).into_iter().all(|(child, reference)| {
            if !ticket.has_changed(child) {
                return reference == batch.held(ticket.held, child);
            }
            match self.plan.nodes[child] {
                Node::Leaf { .. } => {
                    let leaf = batch.leaf(ticket.leaves, self.plan.ordinals[child]).leaf;
                    same(self.leaf_of(reference), &leaf)
                }
                Node::Pair { table, .. } => self.is(batch, ticket, child, self.pair_of(table, reference)),
            }
        })
    }

    /// Fetches the subtrees of `pair` that are to be compared with a ticket's vector.
    fn fetch(&self, ticket: &TreeTicket, node: usize, pair: u64, deeper: bool) {
        for (child, reference) in self.plan.children(node, pair) {
            if reference == 0 || !ticket.has_changed(child) {
                continue;
            }
            match self.plan.nodes[child] {
                Node::Leaf { .. } => self.leaves.prefetch_value(reference),
                Node::Pair { table, .. } if deeper => {
                    self.fetch(ticket, child, self.pair_of(table, reference), false);
                }
                Node::Pair { table, .. } => self.pairs[table].prefetch_value(reference),
            }
        }
    }

    /// Fetches what the changed leaves of a ticket will be compared with when they are looked up.
    fn fetch_leaves(&self, batch: &Batch, ticket: &TreeTicket) {
        for (ordinal, leaf) in self.plan.leaves.iter().enumerate() {
            if ticket.has_changed(leaf.node) {
                self.leaves.candidate(batch.leaf(ticket.leaves, ordinal).tag);
            }
        }
    }

    /// Interns the subtrees of a ticket's vector that differ from those of the vector that was held then, and gives the
    /// pair at the root.
    fn intern(
        &self,
        blocks: &mut Blocks,
        batch: &Batch,
        work: &mut Vec<u32>,
        ticket: &TreeTicket,
    ) -> Result<u64, Need> {
        work.resize(self.plan.nodes.len(), 0);
        for (position, node) in self.plan.nodes.iter().enumerate() {
            let reference = match *node {
                Node::Pair { left, right, .. } if position == self.plan.root() => {
                    return Ok(pair(work[left], work[right]));
                }
                _ if !ticket.has_changed(position) => batch.held(ticket.held, position),
                Node::Leaf { .. } => {
                    self.intern_leaf(blocks, batch.leaf(ticket.leaves, self.plan.ordinals[position]))?
                }
                Node::Pair { left, right, table } => self.intern_pair(blocks, table, pair(work[left], work[right]))?,
            };
            work[position] = reference;
        }
        unreachable!("the root comes last")
    }

    /// A ticket that was made for a narrower tree, as one for today's: nothing is known about what did not change.
    #[cold]
    fn renew(&self, cursor: &mut TreeCursor, ticket: TreeTicket) -> TreeTicket {
        self.fit(cursor);
        let leaves = cursor.batch.copy_wider(ticket.leaves, ticket.count as usize, &self.plan);
        TreeTicket { changed: u64::MAX, leaves, count: self.plan.leaves.len() as u32, ..ticket }
    }

    /// Makes today's tree the left half of a wider one; numbers stay.
    fn widen(&mut self, words: usize) -> Result<(), Exhausted> {
        let map = |id| match self.top().get(id) {
            [ZEROS] => [ZEROS],
            _ => [pair(id, 0)],
        };
        // Words of zeros do not change the hash of a vector, so states are found where they were.
        let wider = self.top().renamed(map).ok_or(Exhausted::Memory)?;
        // The old roots are looked up as pairs from now on.
        let last = self.last();
        if !self.pairs[last].retag() {
            return Err(Exhausted::Memory);
        }
        self.pairs.push(wider);
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
        assert!(vector.len().is_multiple_of(8), "vectors are whole words of eight bytes");
        self.fit(cursor);
        if vector.len() > cursor.vector.len() {
            return Err(Need::Width(vector.len() / 8));
        }
        if vector.len() as u32 > self.longest.load(Relaxed) {
            self.longest.fetch_max(vector.len() as u32, Relaxed);
        }
        let TreeCursor { nodes, hash, batch, .. } = cursor;
        let (mut hash, mut changed) = (*hash, 0);
        let held = batch.hold(|| nodes.iter().map(|node| node.reference));
        let (leaves, room) = batch.begin(self.plan.leaves.len());
        for (leaf, room) in self.plan.leaves.iter().zip(room) {
            let (words, held) = (read_leaf(vector, leaf.start, leaf.end), &nodes[leaf.node]);
            let mut tag = 0;
            // A plan with more nodes than bits treats everything as changed.
            if !same(words, &held.leaf) || self.plan.is_large() {
                let mixed = mix(words, leaf.start);
                hash ^= mixed ^ held.hash;
                changed |= leaf.above;
                tag = (mixed >> 32) as u32;
                self.leaves.prefetch(tag);
            }
            *room = Hashed { leaf: words, tag };
        }
        let tag = (hash >> 32) as u32;
        self.top().prefetch(tag);
        Ok(TreeTicket { changed, tag, leaves, held, count: self.plan.leaves.len() as u32 })
    }

    #[inline]
    fn guess(&self, ticket: TreeTicket) -> u32 {
        self.top().candidate(ticket.tag)
    }

    #[inline]
    fn approach(&self, cursor: &TreeCursor, ticket: TreeTicket, guess: u32, round: u32) {
        if ticket.count as usize != self.plan.leaves.len() {
            return;
        }
        match guess {
            0 if round == 0 => self.fetch_leaves(&cursor.batch, &ticket),
            0 => {}
            id => self.fetch(&ticket, self.plan.root(), self.root_of(id), round > 0),
        }
    }

    #[inline]
    fn rounds(&self) -> u32 {
        if self.plan.leaves.len() > 2 { 2 } else { 1 }
    }

    #[inline]
    fn insert(&self, cursor: &mut TreeCursor, mut ticket: TreeTicket, guess: u32) -> Result<Visit, Need> {
        if ticket.count as usize != self.plan.leaves.len() {
            ticket = self.renew(cursor, ticket);
        }
        let root = self.plan.root();
        if guess != 0 && self.is(&cursor.batch, &ticket, root, self.root_of(guess)) {
            return Ok(Visit { id: guess, new: false });
        }
        let TreeCursor { blocks, batch, work, .. } = cursor;
        let batch = &*batch;
        let is = |id| self.is(batch, &ticket, root, self.root_of(id));
        let inserted = self.top().insert_with(ticket.tag, is, || {
            let value = top_value(self.intern(blocks, batch, work, &ticket)?);
            Ok((&mut blocks.pairs[self.last()], [value]))
        });
        match inserted {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Lack::Room) => Err(Need::Room(self.last())),
            Err(Lack::Other(need)) => Err(need),
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

    fn grow(&mut self, need: Need, bytes_max: u64) -> Result<(), Exhausted> {
        let bytes = match need {
            Need::Room(LEAVES) => self.bytes_after_growth(&self.leaves)?,
            Need::Room(table) => self.bytes_after_growth(&self.pairs[table])?,
            Need::Width(words) if words <= self.plan.words => return Ok(()),
            Need::Width(_) => self.bytes() + self.top().bytes(),
        };
        if bytes > bytes_max {
            return Err(Exhausted::Memory);
        }
        let grown = match need {
            Need::Room(LEAVES) => self.leaves.grow(),
            Need::Room(table) => self.pairs[table].grow(),
            Need::Width(words) => return self.widen(words),
        };
        grown.then_some(()).ok_or(Exhausted::Memory)
    }

    fn bytes(&self) -> u64 {
        self.leaves.bytes() + self.pairs.iter().map(PairTable::bytes).sum::<u64>()
    }

    fn ids_end(&self) -> u32 {
        self.top().references_end()
    }
}

/// What an insertion lacks.
enum Lack {
    /// Room among the visited states.
    Room,
    /// Something else.
    Other(Need),
}

impl From<Full> for Lack {
    fn from(_: Full) -> Self {
        Self::Room
    }
}

impl From<Need> for Lack {
    fn from(need: Need) -> Self {
        Self::Other(need)
    }
}

impl TreeTicket {
    #[inline]
    fn has_changed(&self, node: usize) -> bool {
        self.changed >> (node & 63) & 1 == 1
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

#[cfg(test)]
mod tests;
