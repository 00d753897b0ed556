//! The lossless store: vectors as binary trees whose equal subtrees are kept once.
//!
//! A vector is cut into chunks of eight bytes. Chunks are interned into references of four bytes, pairs of references
//! (eight bytes again) are interned level by level, and the pairs at the top are the visited states: their references
//! are the states' numbers. A step changes one or two chunks, so all but one of the lookups for a successor hit small
//! tables that stay in the cache, and a state costs little more than the one pair at its top.
//!
//! Zero chunks and subtrees of zeros have reference 0 and cost nothing. Vectors are padded with zeros, so two vectors
//! that differ only by zero chunks at the end are one state: a system must make the length follow from the content.

use super::layout::Layout;
use super::memo::Memo;
use super::table::{Block, Full, PairTable, tag};
use super::{Exhausted, Need, Visit, Visited};
use crate::system::Key;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Stands for the pair (0, 0) at the top: the vector of zeros is a state like any other.
const ZEROS: u64 = u64::MAX;

/// The lossless visited store.
pub struct Tree {
    /// Chunks per block, see [`Layout`].
    layout: Layout,
    /// `tables[0]` interns chunks, the last one holds the visited states.
    tables: Vec<PairTable>,
    /// Length in bytes of the longest vector seen: what [`Visited::load`] gives back, padded with zeros.
    longest: AtomicU32,
}

/// A worker's view: one vector with the references of all its subtrees.
#[derive(Default)]
pub struct TreeCursor {
    /// The state whose vector is held; 0 for the vector of zeros.
    id: u32,
    /// Number of leaves the arrays below are laid out for, a power of two.
    width: usize,
    vector: Vec<u8>,
    /// The leaf of each chunk, and the chunk of each leaf that has one.
    leaves: Vec<u32>,
    chunks: Vec<u32>,
    /// References of the subtrees of `vector`: leaves first, then level by level.
    held: Vec<u32>,
    /// The same for the vector being interned, where it differs.
    work: Vec<u32>,
    /// One bit for each subtree of a level that differs, and the same for the level above.
    dirty: Vec<u64>,
    above: Vec<u64>,
    own: Own,
}

/// What a worker has of its own for interning: reserved references and recent results.
#[derive(Default)]
struct Own {
    blocks: Vec<Block>,
    memo: Memo,
}

/// A state half inserted: its top pair, and the number of levels below it when that was computed.
#[derive(Clone, Copy)]
pub struct TreeTicket {
    pair: u64,
    tag: u32,
    height: u32,
}

impl TreeCursor {
    /// The pair of two neighbours of a level that starts at `from`; the low bits of `dirty` say which of them differ
    /// from the held ones.
    #[inline]
    fn children(&self, from: usize, child: usize, dirty: u64) -> u64 {
        let slot = from + child;
        let left = if dirty & 1 == 1 { self.work[slot] } else { self.held[slot] };
        let right = if dirty & 2 == 2 { self.work[slot + 1] } else { self.held[slot + 1] };
        pair(left, right)
    }
}

impl Tree {
    /// An empty store, at its best for vectors of `bytes` bytes; `None` if the system has no memory.
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::new(bytes.div_ceil(8));
        let levels = layout.leaves.ilog2() + 1;
        let tables = (0..levels).map(|_| PairTable::new()).collect::<Option<_>>()?;
        Some(Self { layout, tables, longest: AtomicU32::new(0) })
    }

    /// Levels below the top.
    fn height(&self) -> usize {
        self.tables.len() - 1
    }

    fn width(&self) -> usize {
        1 << self.height()
    }

    fn top(&self) -> &PairTable {
        &self.tables[self.height()]
    }

    #[inline]
    fn intern(&self, own: &mut Own, level: usize, value: u64) -> Result<u32, Need> {
        if value == 0 {
            return Ok(0);
        }
        own.memo.get(level, value, || match self.tables[level].insert(&mut own.blocks[level], [value]) {
            Ok((reference, _)) => Ok(reference),
            Err(Full) => Err(Need::Room(level)),
        })
    }

    /// Lays the cursor out anew if the tree has grown taller.
    #[inline]
    fn fit(&self, cursor: &mut TreeCursor) {
        if cursor.width != self.width() {
            self.refit(cursor);
        }
    }

    #[cold]
    fn refit(&self, cursor: &mut TreeCursor) {
        let id = cursor.id;
        cursor.width = self.width();
        cursor.own.blocks.resize_with(self.tables.len(), Block::default);
        let chunks = self.layout.chunks_on(cursor.width);
        cursor.vector.clear();
        cursor.vector.resize(chunks * 8, 0);
        cursor.leaves = (0..chunks).map(|chunk| self.layout.leaf(chunk) as u32).collect();
        cursor.chunks = vec![0; cursor.width];
        for (chunk, leaf) in cursor.leaves.iter().enumerate() {
            cursor.chunks[*leaf as usize] = chunk as u32;
        }
        cursor.held.clear();
        cursor.held.resize(cursor.width * 2, 0);
        cursor.work.clone_from(&cursor.held);
        cursor.dirty = vec![0; cursor.width.div_ceil(64)];
        cursor.above.clone_from(&cursor.dirty);
        cursor.id = 0;
        self.hold(cursor, id);
    }

    /// Makes the cursor hold the vector of a state, touching only what differs from the one it held.
    fn hold(&self, cursor: &mut TreeCursor, id: u32) {
        let pair = match id {
            0 => 0,
            id => match self.top().get(id) {
                [ZEROS] => 0,
                [pair] => pair,
            },
        };
        cursor.id = id;
        self.descend(cursor, self.height() - 1, 0, (pair >> 32) as u32);
        self.descend(cursor, self.height() - 1, 1, pair as u32);
    }

    fn descend(&self, cursor: &mut TreeCursor, level: usize, position: usize, reference: u32) {
        let slot = level_start(cursor.width, level) + position;
        if cursor.held[slot] == reference {
            return;
        }
        cursor.held[slot] = reference;
        let value = if reference == 0 { 0 } else { self.tables[level].get(reference)[0] };
        if level == 0 {
            let start = cursor.chunks[position] as usize * 8;
            cursor.vector[start..start + 8].copy_from_slice(&value.to_le_bytes());
        } else {
            self.descend(cursor, level - 1, position * 2, (value >> 32) as u32);
            self.descend(cursor, level - 1, position * 2 + 1, value as u32);
        }
    }

    /// Interns the chunks of `vector` that differ from the held vector and marks their leaves.
    #[inline]
    fn intern_chunks(&self, cursor: &mut TreeCursor, vector: &[u8]) -> Result<(), Need> {
        match &mut cursor.dirty[..] {
            [only] => *only = 0,
            many => many.fill(0),
        }
        let (same_length, rest) = cursor.vector.split_at(vector.len());
        let pairs = vector.chunks_exact(8).zip(same_length.chunks_exact(8));
        for ((new, old), leaf) in pairs.zip(&cursor.leaves) {
            let new = chunk(new);
            if new != chunk(old) {
                cursor.work[*leaf as usize] = self.intern(&mut cursor.own, 0, new)?;
                mark(&mut cursor.dirty, *leaf as usize);
            }
        }
        if !rest.is_empty() {
            for (old, leaf) in rest.chunks_exact(8).zip(&cursor.leaves[vector.len() / 8..]) {
                if chunk(old) != 0 {
                    cursor.work[*leaf as usize] = 0;
                    mark(&mut cursor.dirty, *leaf as usize);
                }
            }
        }
        Ok(())
    }

    /// Interns the pairs above what differs, level by level, and gives the pair at the top.
    #[inline]
    fn intern_pairs(&self, cursor: &mut TreeCursor) -> Result<u64, Need> {
        match cursor.dirty[..] {
            [dirty] => self.intern_pairs_narrow(cursor, dirty),
            _ => self.intern_pairs_wide(cursor),
        }
    }

    /// For at most 64 leaves, which is nearly every system: the marks of a level fit a register.
    #[inline]
    fn intern_pairs_narrow(&self, cursor: &mut TreeCursor, mut dirty: u64) -> Result<u64, Need> {
        let (mut from, mut size, mut level) = (0, cursor.width, 1);
        while size > 2 {
            let (to, mut above, mut left) = (from + size, 0, dirty);
            while left != 0 {
                let child = left.trailing_zeros() & !1;
                left &= !(3 << child);
                let value = cursor.children(from, child as usize, dirty >> child);
                cursor.work[to + child as usize / 2] = self.intern(&mut cursor.own, level, value)?;
                above |= 1 << (child / 2);
            }
            (dirty, from, size, level) = (above, to, size / 2, level + 1);
        }
        Ok(cursor.children(from, 0, dirty))
    }

    fn intern_pairs_wide(&self, cursor: &mut TreeCursor) -> Result<u64, Need> {
        let (mut from, mut size) = (0, cursor.width);
        for level in 1..self.height() {
            self.intern_level(cursor, level, from, from + size)?;
            std::mem::swap(&mut cursor.dirty, &mut cursor.above);
            from += size;
            size /= 2;
        }
        Ok(cursor.children(from, 0, cursor.dirty[0]))
    }

    /// Interns the pairs of one level: children start at `from`, parents at `to`.
    fn intern_level(&self, cursor: &mut TreeCursor, level: usize, from: usize, to: usize) -> Result<(), Need> {
        cursor.above.fill(0);
        for word in 0..cursor.dirty.len() {
            let dirty = cursor.dirty[word];
            let mut left = dirty;
            while left != 0 {
                // Both children of a parent are in one word.
                let bit = left.trailing_zeros() & !1;
                left &= !(3 << bit);
                let child = word * 64 + bit as usize;
                let value = cursor.children(from, child, dirty >> bit);
                cursor.work[to + child / 2] = self.intern(&mut cursor.own, level, value)?;
                mark(&mut cursor.above, child / 2);
            }
        }
        Ok(())
    }

    /// A ticket's pair as it looks in the tree of today's height.
    fn lift(&self, own: &mut Own, ticket: TreeTicket) -> Result<u64, Need> {
        let mut value = ticket.pair;
        for level in ticket.height as usize..self.height() {
            value = pair(self.intern(own, level, value)?, 0);
        }
        Ok(value)
    }

    fn grow_taller(&mut self) -> Result<(), Exhausted> {
        let map = |id| match self.top().get(id) {
            [ZEROS] => [ZEROS],
            _ => [pair(id, 0)],
        };
        let taller = self.top().renamed(map).ok_or(Exhausted::Memory)?;
        self.tables.push(taller);
        Ok(())
    }
}

impl Visited for Tree {
    type Cursor = TreeCursor;
    type Ticket = TreeTicket;
    const RESTORES: bool = true;

    #[inline]
    fn ticket(&self, cursor: &mut TreeCursor, key: Key<'_>) -> Result<TreeTicket, Need> {
        let Key::Vector(vector) = key else { panic!("the tree store keeps vectors, not fingerprints") };
        assert!(vector.len().is_multiple_of(8), "vectors are whole chunks of eight bytes");
        self.fit(cursor);
        if vector.len() > cursor.vector.len() {
            return Err(Need::Height(vector.len() / 8));
        }
        if vector.len() as u32 > self.longest.load(Relaxed) {
            self.longest.fetch_max(vector.len() as u32, Relaxed);
        }
        self.intern_chunks(cursor, vector)?;
        let pair = self.intern_pairs(cursor)?;
        let tag = tag([top_value(pair)]);
        self.top().prefetch(tag);
        Ok(TreeTicket { pair, tag, height: self.height() as u32 })
    }

    #[inline]
    fn guess(&self, ticket: TreeTicket) -> u32 {
        if ticket.height as usize == self.height() { self.top().candidate(ticket.tag) } else { 0 }
    }

    #[inline]
    fn insert(&self, cursor: &mut TreeCursor, ticket: TreeTicket, guess: u32) -> Result<Visit, Need> {
        // Numbers outlive a growth in height, pairs do not.
        if ticket.height as usize == self.height() && self.top().holds(guess, [top_value(ticket.pair)]) {
            return Ok(Visit { id: guess, new: false });
        }
        self.fit(cursor);
        let top = self.height();
        let (value, tag) = if ticket.height as usize == top {
            (top_value(ticket.pair), ticket.tag)
        } else {
            let value = top_value(self.lift(&mut cursor.own, ticket)?);
            (value, tag([value]))
        };
        match self.tables[top].insert_tagged(&mut cursor.own.blocks[top], [value], tag) {
            Ok((id, new)) => Ok(Visit { id, new }),
            Err(Full) => Err(Need::Room(top)),
        }
    }

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
        match need {
            Need::Room(level) => {
                let table = &self.tables[level];
                if table.is_exhausted() {
                    return Err(Exhausted::Numbers);
                }
                if self.bytes() - table.bytes() + table.bytes_after_growth() > bytes_max {
                    return Err(Exhausted::Memory);
                }
                self.tables[level].grow().then_some(()).ok_or(Exhausted::Memory)
            }
            Need::Height(chunks) => {
                while self.width() < self.layout.leaves_for(chunks) {
                    if self.bytes() + self.top().bytes() > bytes_max {
                        return Err(Exhausted::Memory);
                    }
                    self.grow_taller()?;
                }
                Ok(())
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.tables.iter().map(PairTable::bytes).sum()
    }

    fn ids_end(&self) -> u32 {
        self.top().references_end()
    }
}

/// Where the references of a level start in the arrays of a cursor.
#[inline]
fn level_start(width: usize, level: usize) -> usize {
    2 * width - ((2 * width) >> level)
}

#[inline]
fn mark(bits: &mut [u64], position: usize) {
    bits[position / 64] |= 1 << (position % 64);
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[inline]
fn top_value(pair: u64) -> u64 {
    if pair == 0 { ZEROS } else { pair }
}

#[inline]
fn chunk(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("a chunk has eight bytes"))
}

#[cfg(test)]
mod tests;
