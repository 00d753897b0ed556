//! Spaces and their mappings.

use std::sync::Arc;

use crate::dirty::Dirty;
use crate::journal::Record;
use crate::layout::{Layout, range_end};
use crate::memory::Memory;
use crate::owner::Owner;
use crate::space::Space;
use crate::table::{Entry, Group, Stamp, Table};
use crate::{Backing, MapError, Mapping, ObjectId, PAGE_SIZE, Protection, Sharing, SpaceId, hash};

impl Memory {
    /// A space without mappings.
    ///
    /// # Panics
    /// If it exists.
    pub fn create_space(&mut self, id: SpaceId) {
        assert!(!self.space_exists(id), "the space is new");
        self.put_space(id, Box::default());
        self.layout_changed(id);
        self.remember(Record::Space { id, old: None });
    }

    /// Whether there is such a space.
    #[must_use]
    pub fn space_exists(&self, id: SpaceId) -> bool {
        self.stores.spaces.contains_key(&id)
    }

    /// The ids of all spaces, in order.
    pub fn spaces(&self) -> impl Iterator<Item = SpaceId> + '_ {
        self.stores.spaces.keys().copied()
    }

    /// A copy of a space, as fork(2) makes: private pages are shared until either side writes, shared mappings for ever.
    /// Armed ranges are not copied.
    ///
    /// # Errors
    /// If the copy would exceed the limit of pages.
    pub fn fork_space(&mut self, parent: SpaceId, child: SpaceId) -> Result<(), MapError> {
        assert!(!self.space_exists(child), "the child is new");
        if self.resident + self.stores.space(parent).table.resident > self.limit.pages {
            return Err(MapError::NoMemory);
        }
        // Pages that the parent held alone are the child's, too.
        self.begin_epoch();
        let from = self.stores.space(parent);
        let layout = Arc::clone(&from.layout);
        let (table, dirty) = copy_table(&from.table, child);
        let space = Space { layout, table, code: from.code.clone(), ..Space::default() };
        self.put_space(child, Box::new(space));
        self.layout_changed(child);
        self.dirty.extend(dirty);
        self.remember(Record::Space { id: child, old: None });
        Ok(())
    }

    /// Removes a space with all that it maps.
    pub fn drop_space(&mut self, id: SpaceId) {
        let objects = self.retire_space(id);
        self.drop_unused_objects(objects);
    }

    /// Removes all mappings of a space, as execve(2) does.
    pub fn clear_space(&mut self, id: SpaceId) {
        let current = self.current == Some(id);
        let objects = self.retire_space(id);
        self.put_space(id, Box::default());
        self.layout_changed(id);
        self.remember(Record::Space { id, old: None });
        self.drop_unused_objects(objects);
        if current {
            self.enter(id);
        }
    }

    /// Takes a space out and returns the objects that it mapped.
    fn retire_space(&mut self, id: SpaceId) -> Vec<ObjectId> {
        if self.journal.is_active() {
            // The journal keeps spaces counted, so that dirty pages are not lost with them.
            self.settle();
        }
        let space = self.take_space(id).expect("the space exists");
        let objects = objects_of(space.layout.mappings());
        if self.journal.is_active() {
            self.journal.records.push(Record::Space { id, old: Some(space) });
        } else {
            self.recycle(space.table);
            self.compact_dirty();
        }
        objects
    }

    /// Takes a space out, uncounted and without translations.
    pub(crate) fn take_space(&mut self, id: SpaceId) -> Option<Box<Space>> {
        self.nearest.forget();
        let mut space = self.stores.spaces.remove(&id)?;
        if self.current == Some(id) {
            self.current = None;
            self.tlb.forget_all();
        }
        space.tlb = None;
        self.sum = self.sum.wrapping_sub(space.sum());
        self.resident -= space.table.resident;
        if !space.code.is_empty() {
            self.code_epoch += 1;
        }
        Some(space)
    }

    /// Puts a space in and counts it.
    pub(crate) fn put_space(&mut self, id: SpaceId, space: Box<Space>) {
        self.nearest.forget();
        self.sum = self.sum.wrapping_add(space.sum());
        self.resident += space.table.resident;
        self.stores.spaces.insert(id, space);
    }

    /// Gives all pages of a table back to the pool.
    pub(crate) fn recycle(&mut self, table: Table) {
        for group in table.groups.into_values() {
            // An image of the group would keep its pages.
            let Group { changed: _, entries, chunks, image } = *group;
            drop((chunks, image));
            entries.into_iter().for_each(|entry| self.pool.give(entry.page));
        }
    }

    /// Adds a mapping; whatever was in its range is gone (`MAP_FIXED`).
    ///
    /// # Errors
    /// If the range, the sharing or the offset makes no sense, there is no such object, or there are too many mappings.
    pub fn map(&mut self, space: SpaceId, mapping: Mapping) -> Result<(), MapError> {
        let (start, end) = (mapping.start, range_end(mapping.start, mapping.len)?);
        self.check_backing(&mapping, end - start)?;
        self.check_room(space)?;
        let mapping = Mapping { len: end - start, ..mapping };
        self.remove_range(space, start, end, |layout| layout.insert(mapping));
        Ok(())
    }

    fn check_backing(&self, mapping: &Mapping, len: u64) -> Result<(), MapError> {
        match mapping.backing {
            // Which mappings share memory would be unknown: the caller makes an object.
            Backing::Anonymous if mapping.sharing == Sharing::Shared => Err(MapError::Invalid),
            Backing::Anonymous => Ok(()),
            Backing::Object { id, .. } if !self.stores.objects.contains_key(&id) => Err(MapError::NoObject),
            Backing::Object { offset, .. } if !offset.is_multiple_of(PAGE_SIZE) => Err(MapError::Invalid),
            Backing::Object { offset, .. } => offset.checked_add(len).map(|_| ()).ok_or(MapError::Invalid),
        }
    }

    /// Whether a change may add two mappings, the most that one call can.
    fn check_room(&self, space: SpaceId) -> Result<(), MapError> {
        let count = self.stores.space(space).layout.mappings().len();
        if count + 2 > self.limit.mappings { Err(MapError::NoMemory) } else { Ok(()) }
    }

    /// Removes whatever is mapped in a range.
    ///
    /// # Errors
    /// If the range makes no sense, or cutting a mapping in two makes too many.
    pub fn unmap(&mut self, space: SpaceId, start: u64, len: u64) -> Result<(), MapError> {
        let end = range_end(start, len)?;
        self.check_room(space)?;
        self.remove_range(space, start, end, |_| ());
        Ok(())
    }

    /// Empties a range, pages and all, and does something more to the layout.
    fn remove_range(&mut self, space: SpaceId, start: u64, end: u64, then: impl FnOnce(&mut Layout)) {
        let carved = self.edit(space, start, end, |layout| {
            let carved = layout.carve(start, end);
            then(layout);
            carved
        });
        if !carved.is_empty() {
            self.give_up_range(space, start, end);
            self.drop_unused_objects(objects_of(&carved));
        }
    }

    /// Changes the layout of a space in a range of addresses.
    pub(crate) fn edit<R>(&mut self, id: SpaceId, start: u64, end: u64, f: impl FnOnce(&mut Layout) -> R) -> R {
        let space = self.stores.space_mut(id);
        if self.journal.is_active() {
            let (old, sum, dirty) = (Arc::clone(&space.layout), space.layout_sum, space.layout_dirty);
            self.journal.records.push(Record::Layout { space: id, old, sum, dirty, start, end });
        }
        let result = f(Arc::make_mut(&mut space.layout));
        self.layout_changed(id);
        self.remapped(id, start, end);
        result
    }

    fn layout_changed(&mut self, id: SpaceId) {
        let space = self.stores.space_mut(id);
        if !space.layout_dirty {
            space.layout_dirty = true;
            self.dirty.push(Dirty::Layout(id));
        }
    }

    /// Changes what is allowed in a range, as mprotect(2) does: up to the first byte that is not mapped.
    ///
    /// # Errors
    /// If part of the range is not mapped, the range makes no sense, or there are too many mappings.
    pub fn protect(&mut self, space: SpaceId, start: u64, len: u64, protection: Protection) -> Result<(), MapError> {
        let end = range_end(start, len)?;
        self.check_room(space)?;
        self.edit(space, start, end, |layout| layout.protect(start, end, protection))
    }

    /// Forgets what was privately written in a range, as madvise(2) `MADV_DONTNEED` does: zeros or the object show again.
    /// Shared mappings keep their content.
    ///
    /// # Errors
    /// If part of the range is not mapped (the rest is done), or the range makes no sense.
    pub fn discard(&mut self, space: SpaceId, start: u64, len: u64) -> Result<(), MapError> {
        let end = range_end(start, len)?;
        self.give_up_range(space, start, end);
        if self.stores.space(space).layout.covers(start, end) { Ok(()) } else { Err(MapError::NotMapped) }
    }

    /// How long mappings that grow down may become (`RLIMIT_STACK`), in bytes.
    pub fn set_stack_limit(&mut self, space: SpaceId, bytes: u64) {
        self.edit(space, 0, 0, |layout| layout.stack_limit = bytes);
    }

    /// Where `len` bytes may go: at `hint` if that is free, else as high as possible below `below`.
    #[must_use]
    pub fn find_gap(&self, space: SpaceId, len: u64, hint: u64, below: u64) -> Option<u64> {
        self.stores.space(space).layout.find_gap(len, hint, below)
    }

    /// The mapping that an address is in.
    #[must_use]
    pub fn mapping_at(&self, space: SpaceId, addr: u64) -> Option<&Mapping> {
        self.stores.space(space).layout.find(addr)
    }

    /// All mappings, in address order.
    pub fn mappings(&self, space: SpaceId) -> impl Iterator<Item = &Mapping> {
        self.stores.space(space).layout.mappings().iter()
    }

    /// The mappings that have a byte in a range, in address order.
    pub fn mappings_in(&self, space: SpaceId, start: u64, end: u64) -> impl Iterator<Item = &Mapping> {
        self.stores.space(space).layout.overlapping(start, end).iter()
    }
}

/// The objects that mappings show.
fn objects_of(mappings: &[Mapping]) -> Vec<ObjectId> {
    mappings.iter().filter_map(|mapping| mapping.object_at(mapping.start)).map(|(id, _)| id).collect()
}

/// A table with the same pages for another space, and what in it is not counted yet.
fn copy_table(from: &Table, id: SpaceId) -> (Table, Vec<Dirty>) {
    let (mut table, mut dirty) = (Table { resident: from.resident, ..Table::default() }, Vec::new());
    let owner = Owner::Space(id);
    for (&number, group) in &from.groups {
        let copy = |index: usize| {
            let (entry, page) = (&group.entries[index], number * crate::table::GROUP + index as u64);
            let (over, own) = (entry.stamp.over(), entry.page.clone());
            if entry.stamp.dirty() {
                dirty.push(Dirty::Page(owner, page));
                return Entry { page: own, stamp: Stamp::written(0, over), content: 0 };
            }
            if own.is_some() {
                table.sum = table.sum.wrapping_add(hash::placed(entry.content, owner, page));
            }
            Entry { page: own, stamp: Stamp::settled(over), content: entry.content }
        };
        let entries = std::array::from_fn(copy);
        let (chunks, changed, image) = (group.chunks.clone(), group.changed, group.image.clone());
        table.groups.insert(number, Box::new(Group { entries, chunks, changed, image }));
    }
    (table, dirty)
}
