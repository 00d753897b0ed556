//! Vectors on their way into the tree store.
//!
//! The store is far larger than the caches, and a lookup is a chain of two to four waits for memory. So successors are
//! collected, and each link of the chain is fetched for all of them before the first is followed: see
//! [`super::Visited::approach`].

use super::plan::{LEAF, Plan};

/// The words of a leaf, padded with zeros.
pub type Leaf = [u64; LEAF];

/// A leaf, and where its table has it.
#[derive(Clone, Copy)]
pub struct Hashed {
    /// The words.
    pub leaf: Leaf,
    /// From [`mix`]; 0 if it did not change.
    pub tag: u32,
}

/// Vectors on their way into the store, each with the references of the vector that it came from.
#[derive(Default)]
pub struct Batch {
    /// The leaves of one vector after the other; never shrinks.
    leaves: Vec<Hashed>,
    /// How many of them count.
    used: usize,
    /// The references of one held vector after the other: one for each node of the plan.
    references: Vec<u32>,
    /// Where those of the vector that is held now begin, if they are in.
    held: Option<u32>,
}

impl Batch {
    /// Where the leaves of the next vector begin, and room for `count` of them.
    #[inline]
    pub fn begin(&mut self, count: usize) -> (u32, &mut [Hashed]) {
        let (begin, end) = (self.used, self.used + count);
        if end > self.leaves.len() {
            self.leaves.resize(2 * end, Hashed { leaf: [0; LEAF], tag: 0 });
        }
        self.used = end;
        (begin as u32, &mut self.leaves[begin..end])
    }

    /// A leaf of a vector.
    #[inline]
    pub fn leaf(&self, begin: u32, ordinal: usize) -> Hashed {
        self.leaves[begin as usize + ordinal]
    }

    /// Where the references of the vector that is held now begin; they are given by `references`.
    #[inline]
    pub fn hold<I: Iterator<Item = u32>>(&mut self, references: impl FnOnce() -> I) -> u32 {
        if let Some(held) = self.held {
            return held;
        }
        let begin = self.references.len() as u32;
        self.references.extend(references());
        self.held = Some(begin);
        begin
    }

    /// Another vector is held from now on.
    #[inline]
    pub fn forget_held(&mut self) {
        self.held = None;
    }

    /// A reference of a vector that was held.
    #[inline]
    pub fn held(&self, begin: u32, node: usize) -> u32 {
        self.references[begin as usize + node]
    }

    /// Copies a vector of `narrow` leaves that was added for a narrower plan, and gives its new beginning.
    pub fn copy_wider(&mut self, begin: u32, narrow: usize, plan: &Plan) -> u32 {
        let (wider, _) = self.begin(plan.leaves.len());
        for (ordinal, place) in plan.leaves.iter().enumerate() {
            let leaf = if ordinal < narrow { self.leaf(begin, ordinal).leaf } else { [0; LEAF] };
            let tag = (mix(leaf, place.start) >> 32) as u32;
            self.leaves[wider as usize + ordinal] = Hashed { leaf, tag };
        }
        wider
    }

    /// Forgets all vectors.
    pub fn clear(&mut self) {
        self.used = 0;
        self.references.clear();
        self.held = None;
    }
}

/// A hash of the words of a leaf and of where it starts. That of a vector is the exclusive or over all its leaves, each
/// compared with zeros in its place.
#[inline]
pub fn mix([a, b, c, d]: Leaf, start: usize) -> u64 {
    let salt = (start as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let left = fold(a ^ salt, b ^ 0xd6e8_feb8_6659_fd93);
    let right = fold(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ salt.rotate_left(32));
    fold(left.wrapping_add(salt), right ^ 0xa076_1d64_78bd_642f) ^ left.rotate_left(32) ^ right
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The words of a vector from `start` to `end`; zeros where it is shorter.
#[inline]
pub fn read_leaf(vector: &[u8], start: usize, end: usize) -> Leaf {
    let bytes = vector.get(start * 8..end * 8).unwrap_or_else(|| vector.get(start * 8..).unwrap_or(&[]));
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
pub fn same([a, b, c, d]: Leaf, [e, f, g, h]: &Leaf) -> bool {
    (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0
}

/// Writes the words of a leaf into its part of a vector.
#[inline]
pub fn write_leaf(bytes: &mut [u8], leaf: Leaf) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(leaf) {
        *bytes = word.to_le_bytes();
    }
}
