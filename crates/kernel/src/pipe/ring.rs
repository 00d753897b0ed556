//! The bytes of a pipe, in pages.
//!
//! A read returns bytes across pages, so page boundaries are visible only by how much fits: a pipe
//! of 16 pages holds 16 writes of 3,000 bytes, not 21.

use crate::id::Id;
use crate::map::Map;
use std::collections::VecDeque;

/// Bytes of a page; also `PIPE_BUF`, up to which a write is not torn.
pub(super) const PAGE: usize = 4096;
/// Pages of a new pipe.
const SLOTS: usize = 16;

/// All pipes.
pub type Pipes = Map<Id, Pipe>;

/// A pipe, or a FIFO while somebody has it open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pipe {
    /// Pages with something to read, oldest first.
    pub(super) pages: VecDeque<Page>,
    /// How many pages there may be.
    pub(super) slots: usize,
    /// Open reading ends.
    pub(super) readers: u32,
    /// Open writing ends.
    pub(super) writers: u32,
    /// Whether a writer has been there since a reader came: only then can the writers have gone (`POLLHUP`).
    pub(super) written: bool,
}

/// A page of a pipe.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Page {
    bytes: Vec<u8>,
    /// How much of it was read.
    start: usize,
}

impl Default for Pipe {
    fn default() -> Self {
        Self { pages: VecDeque::new(), slots: SLOTS, readers: 0, writers: 0, written: false }
    }
}

impl Pipe {
    /// Bytes to read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.iter().map(|page| page.bytes.len() - page.start).sum()
    }

    /// What could be read, oldest first, page by page.
    pub fn content(&self) -> impl Iterator<Item = &[u8]> {
        self.pages.iter().map(|page| &page.bytes[page.start..])
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether no page is free.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.pages.len() >= self.slots
    }

    /// `F_GETPIPE_SZ`.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        (self.slots * PAGE) as u64
    }

    /// Bytes that fit in for sure.
    #[must_use]
    pub fn room(&self) -> usize {
        self.slots.saturating_sub(self.pages.len()) * PAGE
    }

    /// Takes up to `len` bytes out.
    pub fn take(&mut self, len: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(page) = self.pages.front_mut().filter(|_| taken.len() < len) {
            let end = page.bytes.len().min(page.start + len - taken.len());
            taken.extend_from_slice(&page.bytes[page.start..end]);
            page.start = end;
            if end == page.bytes.len() {
                self.pages.pop_front();
            }
        }
        taken
    }

    /// The first `len` bytes, left where they are (`tee(2)`).
    #[must_use]
    pub fn peek(&self, len: usize) -> Vec<u8> {
        self.pages.iter().flat_map(|page| &page.bytes[page.start..]).take(len).copied().collect()
    }

    /// Puts bytes in as far as there is room; how many.
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let mut done = self.join(bytes);
        while done < bytes.len() && !self.is_full() {
            let end = bytes.len().min(done + PAGE);
            self.pages.push_back(Page { bytes: bytes[done..end].to_vec(), start: 0 });
            done = end;
        }
        done
    }

    /// The odd bytes of a write go into the last page if they all fit there.
    fn join(&mut self, bytes: &[u8]) -> usize {
        let odd = bytes.len() % PAGE;
        match self.pages.back_mut() {
            Some(page) if odd > 0 && page.bytes.len() + odd <= PAGE => {
                page.bytes.extend_from_slice(&bytes[..odd]);
                odd
            }
            _ => 0,
        }
    }
}
