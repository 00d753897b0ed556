//! A table on its way to a journal and back.

use super::grow::{larger, values_for};
use super::{BLOCK, LINE, LINES_FIRST, LOAD, REFERENCES_MAX, Table};
use crate::journal::{Broken, Reader, Writer};
use crate::store::LeftOut;
use crate::store::pages::Pages;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

impl<const W: usize> Table<W> {
    /// Writes values in the order of their references, then the entries of the index: values are found under tags that only who
    /// inserted them knows. What is left out was never given out, to whoever reads it.
    pub fn write(&self, to: &mut Writer<'_>, left_out: &LeftOut) -> io::Result<()> {
        let end = self.kept_end(left_out);
        to.u32(end)?;
        for reference in 0..end {
            let value = if left_out.has(reference) { [0; W] } else { self.get(reference) };
            value.into_iter().try_for_each(|word| to.u64(word))?;
        }
        let entries = self.index.iter().map(|slot| slot.load(Relaxed));
        let entries = entries.filter(|entry| *entry != 0 && !left_out.has(*entry as u32));
        to.u64(entries.clone().count() as u64)?;
        entries.into_iter().try_for_each(|entry| to.u64(entry))
    }

    /// Where references end once some are left out; whole blocks, as workers take them.
    fn kept_end(&self, left_out: &LeftOut) -> u32 {
        let end = self.references_end();
        if matches!(left_out, LeftOut::Nothing) {
            return end;
        }
        let last = (0..end).rev().find(|reference| !left_out.has(*reference) && self.has(*reference));
        last.map_or(0, |last| (last + 1).next_multiple_of(BLOCK))
    }

    /// A table that was written, into which so many workers will insert.
    pub fn read(from: &mut Reader, workers: usize) -> Result<Self, Broken> {
        let end = from.u32()?;
        from.holds(u64::from(end), 8 * W as u64)?;
        if u64::from(end) > REFERENCES_MAX || !end.is_multiple_of(BLOCK) {
            return Err(Broken::Contradictory("references that no table gives out"));
        }
        let mut lines = LINES_FIRST;
        while (lines * LOAD).min(REFERENCES_MAX) < u64::from(end) {
            lines = larger(lines);
        }
        let values = values_for::<W>(lines).ok_or(Broken::Memory)?;
        let index = Pages::zeroed(lines as usize * LINE).ok_or(Broken::Memory)?;
        let table = Self { values, index, lines, next: AtomicU32::new(end), shared: workers > 1 };
        table.read_values(from, end)?;
        table.read_entries(from, end)?;
        Ok(table)
    }

    fn read_values(&self, from: &mut Reader, end: u32) -> Result<(), Broken> {
        for reference in 0..end {
            let mut value = [0; W];
            for word in &mut value {
                *word = from.u64()?;
            }
            // Pages that nobody touches cost nothing.
            if value != [0; W] {
                self.set(reference, value);
            }
        }
        Ok(())
    }

    /// There are no more entries than references, so the index has room for them.
    fn read_entries(&self, from: &mut Reader, end: u32) -> Result<(), Broken> {
        let count = from.count(8)?;
        if count > u64::from(end) {
            return Err(Broken::Contradictory("more entries than values"));
        }
        for _ in 0..count {
            let entry = from.u64()?;
            if !self.has(entry as u32) {
                return Err(Broken::Contradictory("an entry without a value"));
            }
            self.place(entry, false);
        }
        Ok(())
    }

    /// Whether a reference was given out and has a value.
    pub fn has(&self, reference: u32) -> bool {
        reference > 0 && reference < self.references_end() && self.get(reference) != [0; W]
    }

    /// References for which there is room: below that, looking at one that was never given out is no mistake.
    pub fn room(&self) -> u64 {
        (self.values.len() / W) as u64
    }
}
