//! Vectors on their way into the tree store.
//!
//! The store is far larger than the caches, and a lookup is a chain of waits for memory. So successors are collected,
//! and each link of the chain is fetched for all of them before the first is followed: see [`super::Visited::guess`].

use super::plan::LEAF;

/// The words of a leaf, padded with zeros.
pub type Leaf = [u64; LEAF];

/// A leaf of a vector that differs from that of the vector it came from.
#[derive(Clone, Copy)]
pub struct Changed {
    /// What it is.
    pub leaf: Leaf,
    /// Its node.
    pub node: u32,
    /// From [`mix`]: where its table has it.
    pub tag: u32,
    /// How far the look for it has come.
    pub probe: u64,
}

/// Vectors on their way into the store, each as what differs from the vector that it came from.
#[derive(Default)]
pub struct Batch {
    /// The changed leaves of one vector after the other.
    changed: Vec<Changed>,
    /// The references of one held vector after the other: one for each node of the plan.
    references: Vec<u32>,
    /// Where those of the vector that is held now begin, if they are in.
    held: Option<u32>,
}

impl Batch {
    /// Adds a leaf to the vector at hand.
    #[inline]
    pub fn add(&mut self, node: usize, leaf: Leaf, tag: u32) {
        self.changed.push(Changed { leaf, node: node as u32, tag, probe: 0 });
    }

    /// How many leaves were added: where those of the next vector will begin.
    #[inline]
    pub fn end(&self) -> u32 {
        self.changed.len() as u32
    }

    /// The leaves that were added from `begin` to `end`.
    #[inline]
    pub fn changed(&self, begin: u32, end: u32) -> &[Changed] {
        &self.changed[begin as usize..end as usize]
    }

    /// The same, to note how far the look for them has come.
    #[inline]
    pub fn changed_mut(&mut self, begin: u32, end: u32) -> &mut [Changed] {
        &mut self.changed[begin as usize..end as usize]
    }

    /// Where the references of the vector that is held now begin.
    #[inline]
    pub fn hold(&mut self, references: &[u32]) -> u32 {
        if let Some(held) = self.held {
            return held;
        }
        let begin = self.references.len() as u32;
        self.references.extend_from_slice(references);
        self.held = Some(begin);
        begin
    }

    /// Another vector is held from now on.
    #[inline]
    pub fn forget_held(&mut self) {
        self.held = None;
    }

    /// The references of a vector that was held, of which there are `nodes`.
    #[inline]
    pub fn held(&self, begin: u32, nodes: usize) -> &[u32] {
        &self.references[begin as usize..][..nodes]
    }

    /// Forgets all vectors.
    #[inline]
    pub fn clear(&mut self) {
        self.changed.clear();
        self.references.clear();
        self.held = None;
    }
}

/// A hash of the words of a leaf and of where it starts, which the salt stands for. That of a vector is the exclusive or
/// over all its leaves, each compared with zeros in its place.
#[inline]
pub fn mix([a, b, c, d]: Leaf, salt: u64) -> u64 {
    let left = fold(a ^ salt, b ^ 0xd6e8_feb8_6659_fd93);
    let right = fold(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ salt.rotate_left(32));
    fold(left.wrapping_add(salt), right ^ 0xa076_1d64_78bd_642f) ^ left.rotate_left(32) ^ right
}

/// What tells the hash of a leaf from that of another one with the same words.
pub fn salt(start: usize) -> u64 {
    (start as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The words of a vector from `start` to `end`; zeros where it is shorter.
#[inline]
pub fn read_leaf(vector: &[[u8; 8]], start: usize, end: usize) -> Leaf {
    let words = vector.get(start..end).unwrap_or_else(|| vector.get(start..).unwrap_or(&[]));
    // By cases, so that the words stay in registers.
    match *words {
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
