//! A list that grows without being copied: large ones would be, again and again, into memory that is new each time.

use std::ops::{Index, IndexMut};

/// Values in a piece.
const PIECE: usize = 1 << 12;

/// A list in pieces of the same length.
#[derive(Debug)]
pub struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }
}

impl<T> Pieces<T> {
    /// Adds a value at the end.
    pub fn push(&mut self, value: T) {
        if self.len.is_multiple_of(PIECE) {
            // Few lists need a second piece: the first one grows.
            let room = if self.pieces.is_empty() { 0 } else { PIECE };
            self.pieces.push(Vec::with_capacity(room));
        }
        self.pieces[self.len / PIECE].push(value);
        self.len += 1;
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }
}

impl<T> Index<usize> for Pieces<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.pieces[at / PIECE][at % PIECE]
    }
}

impl<T> IndexMut<usize> for Pieces<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.pieces[at / PIECE][at % PIECE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are_across_pieces() {
        let mut pieces = Pieces::default();
        (0..2 * PIECE + 2).for_each(|value| pieces.push(value));
        pieces[PIECE] = 7;
        let places = [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1].map(|at| pieces[at]);
        assert_eq!(places, [PIECE - 1, 7, PIECE + 1, 2 * PIECE + 1]);
        assert_eq!((pieces.len(), pieces.iter().count()), (2 * PIECE + 2, 2 * PIECE + 2));
    }
}
