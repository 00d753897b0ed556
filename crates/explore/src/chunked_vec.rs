//! A vector that grows without moving its values: copying large ones into fresh memory takes long.

use std::ops::{Index, IndexMut};

/// Values in a chunk.
const CHUNK: usize = 1 << 12;

/// A vector in chunks of the same length.
#[derive(Debug)]
pub struct ChunkedVec<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T> ChunkedVec<T> {
    /// Adds a value at the end.
    pub fn push(&mut self, value: T) {
        if self.len.is_multiple_of(CHUNK) {
            // Few vectors need a second chunk: the first one grows.
            let room = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        self.chunks[self.len / CHUNK].push(value);
        self.len += 1;
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

impl<T> Index<usize> for ChunkedVec<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at / CHUNK][at % CHUNK]
    }
}

impl<T> IndexMut<usize> for ChunkedVec<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are_across_pieces() {
        let mut chunks = ChunkedVec::default();
        (0..2 * CHUNK + 2).for_each(|value| chunks.push(value));
        chunks[CHUNK] = 7;
        let places = [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1].map(|at| chunks[at]);
        assert_eq!(places, [CHUNK - 1, 7, CHUNK + 1, 2 * CHUNK + 1]);
        assert_eq!((chunks.len(), chunks.iter().count()), (2 * CHUNK + 2, 2 * CHUNK + 2));
    }
}
