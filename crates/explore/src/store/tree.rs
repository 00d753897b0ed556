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
    /// The same for the vector being interned; equal to `held` between calls.
    work: Vec<u32>,
    /// Positions in `work` that differ from `held`.
    touched: Vec<u32>,
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
        cursor.work[slot] = reference;
        let value = if reference == 0 { 0 } else { self.tables[level].get(reference)[0] };
        if level == 0 {
            let start = cursor.chunks[position] as usize * 8;
            cursor.vector[start..start + 8].copy_from_slice(&value.to_le_bytes());
        } else {
            self.descend(cursor, level - 1, position * 2, (value >> 32) as u32);
            self.descend(cursor, level - 1, position * 2 + 1, value as u32);
        }
    }

    /// Interns the chunks of `vector` that differ from the held vector and notes their positions.
    #[inline]
    fn intern_chunks(&self, cursor: &mut TreeCursor, vector: &[u8]) -> Result<(), Need> {
        let (same_length, rest) = cursor.vector.split_at(vector.len());
        let pairs = vector.chunks_exact(8).zip(same_length.chunks_exact(8));
        for (index, (new, old)) in pairs.enumerate() {
            let (new, old) = (chunk(new), chunk(old));
            if new != old {
                let leaf = cursor.leaves[index];
                cursor.work[leaf as usize] = self.intern(&mut cursor.own, 0, new)?;
                cursor.touched.push(leaf);
            }
        }
        for (old, leaf) in rest.chunks_exact(8).zip(&cursor.leaves[vector.len() / 8..]) {
            if chunk(old) != 0 {
                cursor.work[*leaf as usize] = 0;
                cursor.touched.push(*leaf);
            }
        }
        Ok(())
    }

    /// Interns the pairs above the touched ones, level by level, and gives the pair at the top.
    #[inline]
    fn intern_pairs(&self, cursor: &mut TreeCursor) -> Result<u64, Need> {
        let mut below = 0..cursor.touched.len();
        for level in 1..self.height() {
            let (from, to) = (level_start(cursor.width, level - 1), level_start(cursor.width, level));
            let start = cursor.touched.len();
            let mut last = u32::MAX;
            for index in below.clone() {
                let position = (cursor.touched[index] as usize - from) / 2;
                if last == position as u32 {
                    continue;
                }
                last = position as u32;
                let (left, right) = (cursor.work[from + position * 2], cursor.work[from + position * 2 + 1]);
                cursor.work[to + position] = self.intern(&mut cursor.own, level, pair(left, right))?;
                cursor.touched.push((to + position) as u32);
            }
            below = start..cursor.touched.len();
        }
        let top = level_start(cursor.width, self.height() - 1);
        Ok(pair(cursor.work[top], cursor.work[top + 1]))
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
        let result = match self.intern_chunks(cursor, vector) {
            Ok(()) => self.intern_pairs(cursor),
            Err(need) => Err(need),
        };
        while let Some(position) = cursor.touched.pop() {
            cursor.work[position as usize] = cursor.held[position as usize];
        }
        let pair = result?;
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
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Inserts a vector, growing as needed.
    fn insert(tree: &mut Tree, cursor: &mut TreeCursor, vector: &[u8]) -> Visit {
        loop {
            let done = tree.ticket(cursor, Key::Vector(vector)).and_then(|ticket| tree.insert(cursor, ticket, 0));
            match done {
                Ok(visit) => return visit,
                Err(need) => tree.grow(need, u64::MAX).unwrap(),
            }
        }
    }

    /// A vector of random length whose last chunk is not zero, mostly small numbers.
    fn random_vector(random: &mut impl FnMut() -> u64, chunks_max: u64) -> Vec<u8> {
        let chunks = random() % chunks_max + 1;
        let mut words: Vec<u64> = (0..chunks).map(|_| random() % 4).collect();
        if let Some(last) = words.last_mut() {
            *last += 1;
        }
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn generator(mut seed: u64) -> impl FnMut() -> u64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        }
    }

    #[test]
    fn vectors_of_growing_length_come_back_as_they_went_in() {
        let mut random = generator(1);
        let (mut tree, mut cursor) = (Tree::new(8).unwrap(), TreeCursor::default());
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        for round in 0..30_000_u64 {
            let vector = random_vector(&mut random, 1 + round / 500);
            let visit = insert(&mut tree, &mut cursor, &vector);
            assert_eq!(visit.new, !known.contains_key(&vector));
            assert_eq!(*known.entry(vector).or_insert(visit.id), visit.id);
        }
        for (vector, id) in &known {
            assert!(tree.matches(&mut cursor, *id, Key::Vector(vector)));
            let loaded = tree.load(&mut cursor, *id);
            assert_eq!(&loaded[..vector.len()], vector);
            assert!(loaded[vector.len()..].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn the_vector_of_zeros_is_a_state() {
        let (mut tree, mut cursor) = (Tree::new(8).unwrap(), TreeCursor::default());
        let zeros = insert(&mut tree, &mut cursor, &[0; 8]);
        assert_eq!(zeros, Visit { id: 1, new: true });
        assert!(insert(&mut tree, &mut cursor, &[1; 80]).new);
        assert_eq!(insert(&mut tree, &mut cursor, &[0; 8]), Visit { id: 1, new: false });
        assert!(tree.load(&mut cursor, 1).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_ticket_survives_a_taller_tree() {
        let (mut tree, mut cursor) = (Tree::new(8).unwrap(), TreeCursor::default());
        let early = tree.ticket(&mut cursor, Key::Vector(&[7; 16])).unwrap();
        let tall = insert(&mut tree, &mut cursor, &[9; 800]);
        let visit = tree.insert(&mut cursor, early, 0).unwrap();
        assert!(tall.new && visit.new);
        assert!(tree.matches(&mut cursor, visit.id, Key::Vector(&[7; 16])));
        assert!(!tree.matches(&mut cursor, visit.id, Key::Vector(&[7; 8])));
        assert!(!insert(&mut tree, &mut cursor, &[7; 16]).new);
    }

    #[test]
    fn a_tree_that_may_not_grow_says_so() {
        let (mut tree, mut cursor) = (Tree::new(8).unwrap(), TreeCursor::default());
        let bytes_max = tree.bytes() + 100_000;
        let refusal = (1_u64..).find_map(|word| {
            let vector = [word, word * 3, word * 5].map(u64::to_le_bytes).concat();
            loop {
                let done = tree.ticket(&mut cursor, Key::Vector(&vector)).and_then(|t| tree.insert(&mut cursor, t, 0));
                match done.map_err(|need| tree.grow(need, bytes_max)) {
                    Ok(_) => return None,
                    Err(Ok(())) => {}
                    Err(Err(refusal)) => return Some(refusal),
                }
            }
        });
        assert_eq!(refusal, Some(Exhausted::Memory));
        assert!(tree.bytes() <= bytes_max);
    }
}
