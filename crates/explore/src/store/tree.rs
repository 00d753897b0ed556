//! The lossless store: vectors as binary trees whose equal subtrees are kept once.
//!
//! A vector is cut into a few leaves of up to 32 bytes. Leaves are interned into references of four bytes, pairs of
//! references are interned up to the root, and the pairs at the root are the visited states: their references are the
//! states' numbers. A step changes one or two leaves, so all but one of the lookups for a successor hit small tables
//! that stay in the cache, and a state costs little more than the one pair at its root.
//!
//! Leaves and subtrees of zeros have reference 0 and cost nothing. Vectors are padded with zeros, so two vectors that
//! differ only by zero words at the end are one state: a system must make the length follow from the content.

use super::plan::{LEAF, Node, Plan};
use super::sample::Sample;
use super::table::{Block, Full, PairTable, Table, tag};
use super::{Exhausted, Need, Visit, Visited};
use crate::system::Key;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Stands for the pair (0, 0) at the root: the vector of zeros is a state like any other.
const ZEROS: u64 = u64::MAX;
/// In [`Need::Room`]: the table of leaves. Tables of pairs have their own number.
const LEAVES: usize = usize::MAX;

/// The words of a leaf, padded with zeros.
type Leaf = [u64; LEAF];

/// The lossless visited store.
pub struct Tree {
    plan: Plan,
    leaves: Table<LEAF>,
    /// Pairs below the root, then the roots of ever wider trees; the last one holds the visited states.
    pairs: Vec<PairTable>,
    /// Length in bytes of the longest vector seen: what [`Visited::load`] gives back, padded with zeros.
    longest: AtomicU32,
}

/// A worker's view: one vector with the references of all its subtrees.
#[derive(Default)]
pub struct TreeCursor {
    /// The state whose vector is held; 0 for the vector of zeros.
    id: u32,
    vector: Vec<u8>,
    /// For each node of the plan.
    nodes: Vec<Held>,
    blocks: Blocks,
}

/// One subtree of a cursor.
#[derive(Clone, Copy, Default)]
struct Held {
    /// The words, if it is a leaf.
    leaf: Leaf,
    /// The reference in the held vector.
    reference: u32,
    /// The reference in the vector being interned.
    work: u32,
}

/// References that a worker has reserved in each table.
#[derive(Default)]
struct Blocks {
    leaves: Block,
    pairs: Vec<Block>,
}

/// A state half inserted: the pair at its root, and the table that was the last when that was computed.
#[derive(Clone, Copy)]
pub struct TreeTicket {
    pair: u64,
    tag: u32,
    table: u32,
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
    fn intern_leaf(&self, blocks: &mut Blocks, leaf: Leaf) -> Result<u32, Need> {
        if leaf == [0; LEAF] {
            return Ok(0);
        }
        match self.leaves.insert(&mut blocks.leaves, leaf) {
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
        self.hold(cursor, cursor.id);
    }

    /// Makes the cursor hold the vector of a state, touching only what differs from the one it held.
    #[inline]
    fn hold(&self, cursor: &mut TreeCursor, id: u32) {
        let pair = match id {
            0 => 0,
            id => match self.top().get(id) {
                [ZEROS] => 0,
                [pair] => pair,
            },
        };
        cursor.id = id;
        self.descend(cursor, self.plan.root(), pair);
    }

    /// Makes the subtrees of a node be those of `pair`.
    fn descend(&self, cursor: &mut TreeCursor, node: usize, pair: u64) {
        let Node::Pair { left, right, .. } = self.plan.nodes[node] else { unreachable!("leaves have no subtrees") };
        for (child, reference) in [(left, (pair >> 32) as u32), (right, pair as u32)] {
            let held = &mut cursor.nodes[child];
            if held.reference == reference {
                continue;
            }
            held.reference = reference;
            match self.plan.nodes[child] {
                Node::Leaf { start, end } => {
                    held.leaf = if reference == 0 { [0; LEAF] } else { self.leaves.get(reference) };
                    write_leaf(&mut cursor.vector[start * 8..end * 8], held.leaf);
                }
                Node::Pair { table, .. } => {
                    let pair = if reference == 0 { 0 } else { self.pairs[table].get(reference)[0] };
                    self.descend(cursor, child, pair);
                }
            }
        }
    }

    /// Interns the subtrees of `vector` that differ from those of the held vector, and gives the pair at the root.
    #[inline]
    fn intern(&self, cursor: &mut TreeCursor, vector: &[u8]) -> Result<u64, Need> {
        let TreeCursor { nodes: held, blocks, .. } = cursor;
        for (position, node) in self.plan.nodes.iter().enumerate() {
            match *node {
                Node::Leaf { start, end } => {
                    let (leaf, held) = (read_leaf(vector, start, end), &mut held[position]);
                    held.work = if same(leaf, &held.leaf) { held.reference } else { self.intern_leaf(blocks, leaf)? };
                }
                Node::Pair { left, right, table } => {
                    let (left, right) = (&held[left], &held[right]);
                    let pair = pair(left.work, right.work);
                    if position + 1 == self.plan.nodes.len() {
                        return Ok(pair);
                    }
                    let same = left.work == left.reference && right.work == right.reference;
                    let held = &mut held[position];
                    held.work = if same { held.reference } else { self.intern_pair(blocks, table, pair)? };
                }
            }
        }
        unreachable!("the root comes last")
    }

    /// A ticket's pair as it looks in the tree of today's width.
    fn lift(&self, blocks: &mut Blocks, ticket: TreeTicket) -> Result<u64, Need> {
        let mut value = ticket.pair;
        for table in ticket.table as usize..self.last() {
            value = pair(self.intern_pair(blocks, table, value)?, 0);
        }
        Ok(value)
    }

    /// Makes today's tree the left half of a wider one; numbers stay.
    fn widen(&mut self, words: usize) -> Result<(), Exhausted> {
        let map = |id| match self.top().get(id) {
            [ZEROS] => [ZEROS],
            _ => [pair(id, 0)],
        };
        let wider = self.top().renamed(map).ok_or(Exhausted::Memory)?;
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
        let pair = self.intern(cursor, vector)?;
        let tag = tag([top_value(pair)]);
        self.top().prefetch(tag);
        Ok(TreeTicket { pair, tag, table: self.last() as u32 })
    }

    #[inline]
    fn guess(&self, ticket: TreeTicket) -> u32 {
        if ticket.table as usize == self.last() { self.top().candidate(ticket.tag) } else { 0 }
    }

    #[inline]
    fn insert(&self, cursor: &mut TreeCursor, ticket: TreeTicket, guess: u32) -> Result<Visit, Need> {
        let last = self.last();
        let (value, tag) = if ticket.table as usize == last {
            let value = top_value(ticket.pair);
            if self.top().holds(guess, [value]) {
                return Ok(Visit { id: guess, new: false });
            }
            (value, ticket.tag)
        } else {
            // Numbers outlive a wider tree, pairs do not.
            self.fit(cursor);
            let value = top_value(self.lift(&mut cursor.blocks, ticket)?);
            (value, tag([value]))
        };
        match self.top().insert_tagged(&mut cursor.blocks.pairs[last], [value], tag) {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Full) => Err(Need::Room(last)),
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

/// The words of a vector from `start` to `end`; zeros where it is shorter.
#[inline]
fn read_leaf(vector: &[u8], start: usize, end: usize) -> Leaf {
    let bytes = &vector[vector.len().min(start * 8)..vector.len().min(end * 8)];
    // By cases, so that the words stay in registers.
    match *bytes.as_chunks().0 {
        [] => [0; LEAF],
        [a] => [word(a), 0, 0, 0],
        [a, b] => [word(a), word(b), 0, 0],
        [a, b, c] => [word(a), word(b), word(c), 0],
        [a, b, c, d, ..] => [word(a), word(b), word(c), word(d)],
    }
}

#[inline]
fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Whether two leaves are equal, word by word: what was just computed is not yet fit for a wide load from memory.
#[inline]
fn same([a, b, c, d]: Leaf, [e, f, g, h]: &Leaf) -> bool {
    (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0
}

#[inline]
fn write_leaf(bytes: &mut [u8], leaf: Leaf) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(leaf) {
        *bytes = word.to_le_bytes();
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
