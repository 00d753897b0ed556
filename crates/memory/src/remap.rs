//! Moving and resizing mappings, as mremap(2) does.
//!
//! Flags, limits and the choice of an address are the kernel's part.

use std::sync::Arc;

use crate::layout::range_end;
use crate::memory::Memory;
use crate::owner::Owner;
use crate::table::Stamp;
use crate::{MapError, Mapping, PAGE_SIZE, Sharing, SpaceId};

impl Memory {
    /// Resizes a mapping in place (`to` equal to `from`) or moves it, pages and all, to where anything else is removed.
    /// With `old_len` 0 a shared mapping is not moved but mapped a second time.
    ///
    /// # Errors
    /// [`MapError::NotMapped`] if the old range is not inside one mapping, [`MapError::Occupied`] if the mapping cannot
    /// grow where it is, [`MapError::Invalid`] if old and new range overlap or make no sense.
    pub fn remap(&mut self, space: SpaceId, from: u64, old_len: u64, to: u64, new_len: u64) -> Result<(), MapError> {
        let new_end = range_end(to, new_len)?;
        let mapping = self.mapping_at(space, from).cloned().ok_or(MapError::NotMapped)?;
        if old_len == 0 {
            return self.map_again(space, &mapping, from, to, new_end);
        }
        let old_end = range_end(from, old_len)?;
        if old_end > mapping.end() {
            return Err(MapError::NotMapped);
        }
        match from == to {
            true if new_end < old_end => self.unmap(space, new_end, old_end - new_end),
            true => self.grow_mapping(space, &mapping, old_end, new_end),
            false if from < new_end && to < old_end => Err(MapError::Invalid),
            false => self.move_mapping(space, &mapping, from..old_end, to..new_end),
        }
    }

    fn map_again(&mut self, space: SpaceId, mapping: &Mapping, from: u64, to: u64, end: u64) -> Result<(), MapError> {
        // mremap(2): old_size zero is for shareable mappings only.
        if mapping.sharing != Sharing::Shared {
            return Err(MapError::Invalid);
        }
        let again = mapping.piece(from, from + (end - to));
        self.map(space, Mapping { start: to, ..again })
    }

    /// In place only where the range ends with its mapping, as Linux does; otherwise the caller may
    /// move it.
    fn grow_mapping(&mut self, space: SpaceId, mapping: &Mapping, end: u64, new_end: u64) -> Result<(), MapError> {
        if end == new_end {
            return Ok(());
        }
        if end != mapping.end() || self.mappings_in(space, end, new_end).next().is_some() {
            return Err(MapError::Occupied);
        }
        let more = mapping.piece(end, new_end);
        self.edit(space, end, new_end, |layout| layout.insert(more));
        Ok(())
    }

    fn move_mapping(
        &mut self,
        space: SpaceId,
        mapping: &Mapping,
        old: std::ops::Range<u64>,
        new: std::ops::Range<u64>,
    ) -> Result<(), MapError> {
        let piece = mapping.piece(old.start, old.end);
        let target = Mapping { start: new.start, len: new.end - new.start, ..piece };
        self.map(space, target)?;
        let kept = old.start + (old.end - old.start).min(new.end - new.start);
        self.move_pages(space, old.start..kept, new.start);
        self.unmap(space, old.start, old.end - old.start)
    }

    fn move_pages(&mut self, space: SpaceId, old: std::ops::Range<u64>, to: u64) {
        let owner = Owner::Space(space);
        let first = old.start / PAGE_SIZE;
        for page in self.stores.table(owner).held(first, old.end / PAGE_SIZE) {
            let entry = self.stores.table(owner).entry(page).expect("the page is held");
            let (held, over) = (entry.page.as_ref().map(Arc::clone), entry.stamp.over());
            // Not ours: the journal may keep it too. The next store finds out.
            self.replace(owner, page - first + to / PAGE_SIZE, held, Stamp::written(0, over));
            self.give_up(owner, page);
        }
    }
}
