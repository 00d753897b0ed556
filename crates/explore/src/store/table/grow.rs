//! Growth of tables.

use super::{BLOCK, LINE, LOAD, REFERENCES_MAX, Table, tag};
use crate::store::pages::Pages;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Lines of an index whose values are worth a large page.
const LINES_LARGE: u64 = 1 << 12;
/// Lines of an index that several threads fill.
const LINES_SHARED: u64 = 1 << 13;

impl<const W: usize> Table<W> {
    /// Memory in use once the table has grown and filled up again, what it was copied from included.
    #[must_use]
    pub fn bytes_after_growth(&self) -> u64 {
        let lines = larger(self.lines);
        self.bytes() + index_bytes(lines) + lines * LOAD * 8 * W as u64
    }

    /// Whether more references are impossible, however much memory there is.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.capacity() == REFERENCES_MAX
    }

    /// Makes room for as many values again, with so many threads; `false` if the system has no memory.
    #[must_use]
    pub fn grow(&mut self, threads: usize) -> bool {
        if u64::from(self.references_end()) + u64::from(BLOCK) <= self.capacity() {
            return true;
        }
        let lines = larger(self.lines);
        let Some(index) = Pages::zeroed(lines as usize * LINE) else { return false };
        if !self.make_room_for_values(lines) {
            return false;
        }
        if lines == LINES_LARGE {
            self.values.make_first_large();
        }
        let old = std::mem::replace(&mut self.index, index);
        self.lines = lines;
        self.fill_from(&old, if lines < LINES_SHARED { 1 } else { threads.max(1) });
        true
    }

    /// Puts the entries of a smaller index into this one. Large ones are worth some threads: searches wait meanwhile, and
    /// most of the time goes to fresh pages.
    fn fill_from(&self, old: &[AtomicU64], threads: usize) {
        let fill = |slots: &[AtomicU64]| {
            let entries = slots.iter().map(|slot| slot.load(Relaxed)).filter(|entry| *entry != 0);
            entries.for_each(|entry| self.place(entry, threads > 1));
        };
        let (own, others) = old.split_at(old.len() / threads);
        std::thread::scope(|scope| {
            for slots in others.chunks(old.len().div_ceil(threads)) {
                // Without threads it takes longer.
                if std::thread::Builder::new().spawn_scoped(scope, move || fill(slots)).is_err() {
                    fill(slots);
                }
            }
            fill(own);
        });
    }

    /// Copies the values to where there is room for as many as an index of so many lines takes.
    fn make_room_for_values(&mut self, lines: u64) -> bool {
        if self.values.len() as u64 >= references_for(lines) * W as u64 {
            return true;
        }
        let Some(values) = values_for::<W>(lines) else { return false };
        for (to, from) in values.iter().zip(&self.values[..self.references_end() as usize * W]) {
            to.store(from.load(Relaxed), Relaxed);
        }
        self.values = values;
        true
    }

    /// Puts an entry into a free slot, while no worker searches, and other threads place entries only if `shared`.
    pub(super) fn place(&self, entry: u64, shared: bool) {
        let mut line = self.home((entry >> 32) as u32);
        loop {
            let slots = &self.index[line * LINE..(line + 1) * LINE];
            let is_free = |slot: &AtomicU64| slot.load(Relaxed) == 0;
            let takes = |slot: &&AtomicU64| !shared || slot.compare_exchange(0, entry, Relaxed, Relaxed).is_ok();
            if let Some(slot) = slots.iter().filter(|slot| is_free(slot)).find(takes) {
                return slot.store(entry, Relaxed);
            }
            line = if line + 1 == self.lines as usize { 0 } else { line + 1 };
        }
    }

    /// Makes values be found under their own tags, whatever tags they were inserted under; `false` if the system has no
    /// memory.
    #[must_use]
    pub fn retag(&mut self) -> bool {
        let Some(index) = Pages::zeroed(self.lines as usize * LINE) else { return false };
        self.index = index;
        for reference in 0..self.references_end() {
            let value = self.get(reference);
            if value != [0; W] {
                self.place(u64::from(tag(value)) << 32 | u64::from(reference), false);
            }
        }
        true
    }

    /// A table in which every reference of `self` has the value `map(reference)` and is found under the same tag; `None` if
    /// the system has no memory.
    #[must_use]
    pub fn renamed<const V: usize>(&self, map: impl Fn(u32) -> [u64; V]) -> Option<Table<V>> {
        let end = self.references_end();
        let (values, index) = (values_for::<V>(self.lines)?, Pages::zeroed(self.lines as usize * LINE)?);
        let table = Table { values, index, lines: self.lines, next: AtomicU32::new(end), shared: self.shared };
        for (slot, entry) in self.index.iter().enumerate().map(|(slot, entry)| (slot, entry.load(Relaxed))) {
            if entry != 0 {
                table.index[slot].store(entry, Relaxed);
                table.set(entry as u32, map(entry as u32));
            }
        }
        Some(table)
    }
}

pub(super) fn larger(lines: u64) -> u64 {
    2 * lines
}

/// References that an index of so many lines takes.
fn references_for(lines: u64) -> u64 {
    (lines * LOAD).min(REFERENCES_MAX) + u64::from(BLOCK)
}

/// Room for all values that there can ever be, or at least for those that an index of so many lines takes.
pub(super) fn values_for<const W: usize>(lines: u64) -> Option<Pages<AtomicU64>> {
    let room = |references: u64| Pages::reserved(usize::try_from(references).ok()?.checked_mul(W)?);
    room(references_for(u64::from(u32::MAX))).or_else(|| room(references_for(lines)))
}

pub(super) fn index_bytes(lines: u64) -> u64 {
    lines * LINE as u64 * 8
}
