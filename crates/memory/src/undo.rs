//! Marks, and undoing what changed since a mark.
//!
//! **Invariant:** while a mark exists, every change leaves a record with what was there before. Records are undone last first, so each
//! finds the state that it was written in. The fingerprint is undone with them: nothing is hashed again.
//! **Invariant:** a new epoch begins with every mark and every undoing, so that the next store to a page copies it first: the page
//! that a record holds is never written.
//!
//! Marks serve one path (an interpreter that tries a step and takes it back); snapshots serve a set
//! of states that are visited in any order. Undoing is cheaper, since it moves pages and touches no
//! reference counts, but needs its records in order.

use std::sync::Arc;

use crate::dirty::Dirty;
use crate::journal::{Mark, Marked, Record};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::object::Object;
use crate::owner::Owner;
use crate::space::Space;
use crate::table::Entry;
use crate::{ObjectId, PAGE_SIZE, SpaceId};

impl Memory {
    /// Marks this state, to come back to it with [`Self::undo_to`] as often as wanted. Marks nest.
    ///
    /// The serial number tells a stale mark from a newer one of the same depth.
    pub fn mark(&mut self) -> Mark {
        self.journal.serial += 1;
        let serial = self.journal.serial;
        let (records, drains, dirty) = (self.journal.records.len(), self.drains, self.dirty.len());
        self.journal.marks.push(Marked { serial, records, drains, dirty });
        self.begin_epoch();
        Mark { depth: self.journal.marks.len(), serial }
    }

    /// Makes everything as it was at the mark, which stays; marks made after it are gone. Which space is the current one
    /// is not undone: the caller enters the one it wants to run.
    ///
    /// # Panics
    /// If the mark is gone already.
    pub fn undo_to(&mut self, mark: Mark) {
        self.journal.marks.truncate(mark.depth);
        let marked = *self.journal.marks.last().expect("the mark is still there");
        assert_eq!(marked.serial, mark.serial, "the mark is still there");
        while self.journal.records.len() > marked.records {
            let record = self.journal.records.pop().expect("there are more records than at the mark");
            self.undo(record);
        }
        self.undo_dirty(marked);
        self.begin_epoch();
    }

    /// Gives up a mark that is not gone back to, and those made after it. What changed since belongs to the mark before, if there is one.
    ///
    /// # Panics
    /// If the mark is gone already.
    pub fn release(&mut self, mark: Mark) {
        let marked = self.journal.marks.get(mark.depth - 1).expect("the mark is still there");
        assert_eq!(marked.serial, mark.serial, "the mark is still there");
        self.journal.marks.truncate(mark.depth - 1);
        if self.journal.marks.is_empty() {
            self.journal.clear();
        }
    }

    /// Forgets all marks and keeps this state: nothing is noted for undoing until the next mark.
    pub fn forget_marks(&mut self) {
        if !self.journal.is_active() {
            return;
        }
        self.journal.clear();
        self.stores.drop_empty_groups();
    }

    /// Brings the list of dirty things back to what it was at the mark. If the list was emptied since, undoing has added
    /// again what was dirty then; else what was added since is at its end.
    fn undo_dirty(&mut self, marked: Marked) {
        if self.drains == marked.drains {
            return self.dirty.truncate(marked.dirty);
        }
        self.compact_dirty();
        let (drains, dirty) = (self.drains, self.dirty.len());
        let last = self.journal.marks.last_mut().expect("the mark is still there");
        *last = Marked { drains, dirty, ..*last };
    }

    fn undo(&mut self, record: Record) {
        match record {
            Record::Page { owner, page, old } => self.undo_page(owner, page, old),
            Record::Images { owner, page, images } => self.stores.table_mut(owner).put_images(page, images),
            Record::Layout { space, old, sum, dirty, start, end } => {
                self.undo_layout(space, old, sum, dirty);
                self.remapped(space, start, end);
            }
            Record::Space { id, old } => self.undo_space(id, old),
            Record::Object { id, old } => self.undo_object(id, old),
            Record::Shape { id, old } => self.set_shape(id, old),
        }
    }

    /// The entry comes back with the very stamp it had, and so is dirty again if it was: the sum
    /// counts what the old entry counted.
    fn undo_page(&mut self, owner: Owner, page: u64, old: Entry) {
        self.nearest.note_page(owner, page);
        let beneath = self.stores.content_beneath(owner, page);
        let table = self.stores.table_mut(owner);
        // Images of what is undone; those of what comes back are in the journal, too.
        drop(table.take_images(page));
        let entry = table.entry_made(page);
        let (dirty, come, then) = (old.stamp.dirty(), u64::from(old.page.is_some()), old.counted(beneath));
        let undone = std::mem::replace(entry, old);
        let gone = u64::from(undone.page.is_some());
        table.resident = table.resident + come - gone;
        self.resident = self.resident + come - gone;
        self.recount(owner, page, undone.counted(beneath), then);
        self.pool.give(undone.page);
        if dirty {
            self.dirty.push(Dirty::Page(owner, page));
        }
        if self.stores.holds_code(owner, page) {
            self.code_epoch += 1;
        }
        self.moved(owner, page);
    }

    fn undo_layout(&mut self, id: SpaceId, old: Arc<Layout>, sum: u128, dirty: bool) {
        let space = self.stores.space_mut(id);
        self.sum = self.sum.wrapping_sub(space.layout_sum).wrapping_add(sum);
        (space.layout, space.layout_sum, space.layout_dirty) = (old, sum, dirty);
        if dirty {
            self.dirty.push(Dirty::Layout(id));
        }
    }

    fn undo_space(&mut self, id: SpaceId, old: Option<Box<Space>>) {
        if let Some(space) = self.take_space(id) {
            self.recycle(space.table);
        }
        if let Some(space) = old {
            self.put_space(id, space);
        }
    }

    fn undo_object(&mut self, id: ObjectId, old: Option<Box<Object>>) {
        if let Some(object) = self.take_object(id) {
            self.recycle(object.table);
        }
        if let Some(object) = old {
            self.put_object(id, object);
        }
    }

    /// Translations of a range of addresses are void.
    pub(crate) fn remapped(&mut self, space: SpaceId, start: u64, end: u64) {
        let (start, end) = (start / PAGE_SIZE, end / PAGE_SIZE);
        if let Some(tlb) = self.tlb_of(space) {
            tlb.forget(start, end);
        }
        if self.stores.space(space).code.range(start..end).next().is_some() {
            self.code_epoch += 1;
        }
    }
}
