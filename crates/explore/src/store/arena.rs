//! A growing array of atomics whose elements never move.

use super::pages::{Pages, Word, prefetch};
use std::sync::OnceLock;

/// Elements of the first chunk; each further chunk is twice as long as the one before.
///
/// Chunk `k` has `FIRST << k` elements, so 21 chunks reach 2^32 and the place of an element is one
/// logarithm.
const FIRST: usize = 4096;
/// Enough chunks for 2^32 elements.
const CHUNKS: usize = 21;

/// A growing array: a directory of chunks, each made when the first of its elements is asked for.
///
/// Growing needs no lock and moves nothing, so references handed out stay true while other workers insert.
///
/// At most half of what is reserved is unused, and untouched pages cost no memory.
pub struct Arena<T: Word> {
    width: usize,
    chunks: [OnceLock<Pages<T>>; CHUNKS],
}

impl<T: Word> Arena<T> {
    /// An empty array of elements that are `width` words each.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { width, chunks: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// Makes sure that the element exists; `false` if the system has no memory for it.
    pub fn provide(&self, element: u32) -> bool {
        let (chunk, _) = place(element);
        if self.chunks[chunk].get().is_some() {
            return true;
        }
        let Some(pages) = Pages::zeroed((FIRST << chunk) * self.width) else { return false };
        // Another worker may have been faster; its chunk is as good.
        let _ = self.chunks[chunk].set(pages);
        true
    }

    /// One word of an element that [`Arena::provide`] made.
    #[inline]
    #[must_use]
    pub fn word(&self, element: u32, word: usize) -> &T {
        let (chunk, offset) = place(element);
        let pages = self.chunks[chunk].get().expect("an element is provided before it is used");
        &pages[offset * self.width + word]
    }

    /// All words of an element that [`Arena::provide`] made.
    #[inline]
    #[must_use]
    pub fn words(&self, element: u32) -> &[T] {
        let (chunk, offset) = place(element);
        let pages = self.chunks[chunk].get().expect("an element is provided before it is used");
        &pages[offset * self.width..][..self.width]
    }

    /// One word of an element, if it exists.
    #[inline]
    #[must_use]
    pub fn try_word(&self, element: u32, word: usize) -> Option<&T> {
        let (chunk, offset) = place(element);
        self.chunks[chunk].get().map(|pages| &pages[offset * self.width + word])
    }

    /// Fetches an element's line ahead of its use.
    #[inline]
    pub fn prefetch(&self, element: u32) {
        prefetch(self.word(element, 0));
    }
}

/// The chunk of an element and its offset there.
#[inline]
fn place(element: u32) -> (usize, usize) {
    let shifted = element as usize + FIRST;
    let chunk = (shifted / FIRST).ilog2() as usize;
    (chunk, shifted - (FIRST << chunk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn chunks_follow_each_other_without_a_gap() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(4095), (0, 4095));
        assert_eq!(place(4096), (1, 0));
        assert_eq!(place(4096 + 8191), (1, 8191));
        assert_eq!(place(4096 * 3), (2, 0));
        assert!(place(u32::MAX).0 < CHUNKS);
    }

    #[test]
    fn elements_keep_their_words() {
        let arena = Arena::<AtomicU32>::new(2);
        for element in [0, 4095, 4096, 70_000] {
            assert!(arena.provide(element));
            arena.word(element, 1).store(element, Relaxed);
        }
        assert_eq!(arena.word(70_000, 1).load(Relaxed), 70_000);
        assert_eq!(arena.word(4096, 0).load(Relaxed), 0);
    }
}
