//! A batch of vectors that are being inserted into the tree store.
//!
//! The store is far larger than the caches, and a lookup is a chain of cache misses. So successors are collected, and
//! each link of the chain is prefetched for all of them before the first is followed: see [`super::Visited::guess`].

/// The words of a leaf, padded with zeros.
pub type Leaf<const L: usize> = [u64; L];

/// A leaf of a vector that differs from that of the vector it came from.
///
/// A step changes one leaf or two out of many: only these are hashed and looked up.
#[derive(Clone, Copy)]
pub struct Changed<const L: usize> {
    /// Its words.
    pub leaf: Leaf<L>,
    /// Its node.
    pub node: u32,
    /// From [`mix`]: where its table has it.
    pub tag: u32,
    /// How far the probe for it has come.
    pub probe: u64,
}

/// Vectors that are being inserted, each as its difference to its predecessor.
#[derive(Default)]
pub struct Batch<const L: usize> {
    /// The changed leaves of one vector after the other.
    changed: Vec<Changed<L>>,
    /// The references of one held vector after the other: one for each node of the plan.
    references: Vec<u32>,
    /// Where those of the vector that is held now begin, if they are in.
    held: Option<u32>,
}

impl<const L: usize> Batch<L> {
    /// Adds a leaf to the vector at hand.
    #[inline]
    pub fn add(&mut self, node: u32, leaf: Leaf<L>, tag: u32) {
        self.changed.push(Changed { leaf, node, tag, probe: 0 });
    }

    /// How many leaves were added: where those of the next vector will begin.
    #[inline]
    pub fn end(&self) -> u32 {
        self.changed.len() as u32
    }

    /// The leaves that were added from `begin` to `end`.
    #[inline]
    pub fn changed(&self, begin: u32, end: u32) -> &[Changed<L>] {
        &self.changed[begin as usize..end as usize]
    }

    /// The same, to note how far the probes for them have come.
    #[inline]
    pub fn changed_mut(&mut self, begin: u32, end: u32) -> &mut [Changed<L>] {
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

    /// The same and all that comes after it.
    #[inline]
    pub fn held_from(&self, begin: u32) -> &[u32] {
        &self.references[begin as usize..]
    }

    /// Forgets all vectors.
    #[inline]
    pub fn clear(&mut self) {
        self.changed.clear();
        self.references.clear();
        self.held = None;
    }
}

/// Hash of the words of a leaf; the salt says where it starts. That of a vector is the exclusive or over all its leaves, each
/// with that of zeros in its place.
#[inline]
pub fn mix<const L: usize>(leaf: Leaf<L>, salt: u64) -> u64 {
    let mut mixed = salt;
    // Two words at a time, independent of each other, so that the multiplications overlap.
    for pair in 0..L.div_ceil(2) {
        let (first, second) = (leaf[2 * pair], if 2 * pair + 1 < L { leaf[2 * pair + 1] } else { 0 });
        let key = salt.rotate_left(21 * pair as u32);
        mixed = mixed.wrapping_add(fold(first ^ key, second ^ 0xd6e8_feb8_6659_fd93).rotate_left(17 * pair as u32));
    }
    fold(mixed, 0xa076_1d64_78bd_642f) ^ mixed.rotate_left(32)
}

/// The salt of a leaf: leaves with the same words in different places have different hashes.
pub fn salt(start: usize) -> u64 {
    (start as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Words of a vector as a leaf.
#[inline]
pub fn read_leaf<const L: usize>(words: &[[u8; 8]]) -> Leaf<L> {
    std::array::from_fn(|at| words.get(at).map_or(0, |bytes| word(*bytes)))
}

#[inline]
fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Whether two leaves are equal, word by word: what was just computed is not yet fit for a wide load from memory.
#[inline]
pub fn same<const L: usize>(leaf: Leaf<L>, other: &Leaf<L>) -> bool {
    (0..L).fold(0, |differ, word| differ | (leaf[word] ^ other[word])) == 0
}

/// Writes the words of a leaf into its part of a vector.
#[inline]
pub fn write_leaf<const L: usize>(bytes: &mut [u8], leaf: Leaf<L>) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(leaf) {
        *bytes = word.to_le_bytes();
    }
}
