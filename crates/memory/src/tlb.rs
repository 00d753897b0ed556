//! The translation cache: 1024 slots from guest pages to host bytes, one cache per space.
//!
//! A read tag says that the page may be read at `base`; a write tag, that it is ours to write in this epoch, already
//! counted as dirty, and neither armed nor code. Every other store takes the slow path. Tags carry the number of the page;
//! while accesses are logged they also carry [`LOG`], so that the fast path misses without a test of its own.
//!
//! **Invariant:** a slot's base points to the page that the memory holds there now. Whoever
//! exchanges a page calls `Memory::moved` or one of the forgetting functions here before the guest
//! executes again; a stale base would be a use after free, so `unsafe` is confined to this file,
//! `guest.rs` and `page.rs`.

#![allow(unsafe_code)]

use crate::{PAGE_BITS, PAGE_SIZE};

const SLOTS: usize = 1024;

/// A tag that no page has.
const NONE: u64 = u64::MAX;

/// Set in all tags while accesses are logged.
pub(crate) const LOG: u64 = 1 << 63;

/// Where a guest page is on the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) read: u64,
    pub(crate) write: u64,
    /// Where the guest's address 0 would be, so that adding an address gives its byte.
    pub(crate) base: *mut u8,
    /// Fills the slot up to 32 bytes: the index is then a shift.
    _unused: u64,
}

const EMPTY: Slot = Slot { read: NONE, write: NONE, base: std::ptr::null_mut(), _unused: 0 };

/// The translation cache of one space.
pub(crate) struct Tlb {
    slots: Box<[Slot; SLOTS]>,
    /// Slots that may have a write tag.
    writable: Vec<u16>,
}

// SAFETY: the pointers lead to pages that the same `Memory` keeps alive; they are followed only through `&mut Memory`.
unsafe impl Send for Tlb {}
// SAFETY: nothing is reachable through a shared reference.
unsafe impl Sync for Tlb {}

impl Default for Tlb {
    fn default() -> Self {
        Self { slots: Box::new([EMPTY; SLOTS]), writable: Vec::new() }
    }
}

impl std::fmt::Debug for Tlb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tlb({} slots, {} writable)", SLOTS, self.writable.len())
    }
}

fn index(page: u64) -> usize {
    page as usize % SLOTS
}

impl Tlb {
    /// The slot that an address would be in.
    #[inline(always)]
    pub(crate) fn slot(&self, addr: u64) -> &Slot {
        &self.slots[(addr >> PAGE_BITS) as usize % SLOTS]
    }

    /// Lets a page be read at `bytes`. `log` is [`LOG`] or 0.
    pub(crate) fn fill_read(&mut self, page: u64, log: u64, bytes: *const u8) {
        let base = bytes.cast_mut().wrapping_sub((page * PAGE_SIZE) as usize);
        self.slots[index(page)] = Slot { read: page | log, write: NONE, base, _unused: 0 };
    }

    /// Lets a page be read and written at `bytes`.
    pub(crate) fn fill_write(&mut self, page: u64, log: u64, bytes: *mut u8) {
        let base = bytes.wrapping_sub((page * PAGE_SIZE) as usize);
        self.slots[index(page)] = Slot { read: page | log, write: page | log, base, _unused: 0 };
        if self.writable.len() >= 2 * SLOTS {
            // Pages that fight for a slot are in the list many times.
            self.writable.sort_unstable();
            self.writable.dedup();
        }
        self.writable.push(index(page) as u16);
    }

    /// Takes all write tags away: the next store to each page takes the slow path.
    pub(crate) fn revoke_writes(&mut self) {
        for slot in self.writable.drain(..) {
            self.slots[usize::from(slot)].write = NONE;
        }
    }

    /// The page is elsewhere from now on: read-only there, or to be looked up anew.
    pub(crate) fn repoint(&mut self, page: u64, bytes: Option<*mut u8>) {
        let slot = &mut self.slots[index(page)];
        if slot.read & !LOG != page {
            return;
        }
        slot.write = NONE;
        match bytes {
            Some(bytes) => slot.base = bytes.wrapping_sub((page * PAGE_SIZE) as usize),
            None => *slot = EMPTY,
        }
    }

    /// Pages from `start` up to `end` are to be looked up anew.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        if end - start >= SLOTS as u64 {
            return self.forget_all();
        }
        for page in start..end {
            self.repoint(page, None);
        }
    }

    pub(crate) fn forget_all(&mut self) {
        self.slots.fill(EMPTY);
        self.writable.clear();
    }
}
