//! Changing what a table holds: the only places where pages come and go.
//!
//! Every way to change a page ends in `Memory::own` (a store) or `Memory::replace` (anything else);
//! these keep, together: the images above the page, the nearest base's list, the journal, the list
//! of what is dirty, the resident count, translations and the code epoch. A page changed elsewhere
//! would be missing from one of them, and a state would be restored wrong without an error.

use std::sync::Arc;

use crate::dirty::Dirty;
use crate::journal::Record;
use crate::memory::Memory;
use crate::owner::{Owner, Place};
use crate::page::Page;
use crate::table::{Entry, Stamp};
use crate::{Cause, PAGE_SIZE, SpaceId, hash};

impl Entry {
    /// What the fingerprint counts for this entry, given what lies beneath.
    ///
    /// A dirty entry counts by its `content`, which is the hash that the sum still has, not that of
    /// the bytes.
    pub(crate) fn counted(&self, beneath: u128) -> u128 {
        if self.page.is_none() && !self.stamp.dirty() { beneath } else { self.content }
    }
}

impl Memory {
    /// Makes a page that this memory holds alone until the epoch ends.
    ///
    /// The page counts as dirty from now on, so the caller may store into it as often as it likes
    /// until the epoch ends or the fingerprint is taken. # Errors [`Cause::NoMemory`] if the guest
    /// needs a new page and there is no room; a page it holds already is always copied.
    pub(crate) fn own(&mut self, place: Place) -> Result<&mut Arc<Page>, Cause> {
        let Place { owner, page, under } = place;
        if self.stores.holds_code(owner, page) {
            self.code_epoch += 1;
            self.is_patched = true;
        }
        if !self.own_in_place(owner, page, under.is_some()) {
            self.own_copy(place)?;
        }
        let entry = self.stores.table_mut(owner).entry_made(page);
        Ok(entry.page.as_mut().expect("the page is ours"))
    }

    /// Whether the page may be written in place: it is of this epoch, or no mark and no snapshot has it.
    ///
    /// Under a mark only pages of this epoch: an older one is what undoing must bring back, even
    /// though nobody else holds it yet.
    fn own_in_place(&mut self, owner: Owner, page: u64, over: bool) -> bool {
        let Some(entry) = self.stores.table_mut(owner).entry_mut(page) else { return false };
        let Some(own) = entry.page.as_mut() else { return false };
        let undoable = self.journal.is_active();
        if entry.stamp.epoch() != self.epoch && (undoable || Arc::get_mut(own).is_none()) {
            return false;
        }
        if !entry.stamp.dirty() {
            self.dirty.push(Dirty::Page(owner, page));
        }
        entry.stamp = Stamp::written(self.epoch, over);
        true
    }

    /// Whether there is no room for another page.
    fn is_full(&self) -> bool {
        /// Pages between two questions: eight megabytes.
        const ASKED_EVERY: u64 = 2048;
        let asks = self.resident.is_multiple_of(ASKED_EVERY);
        self.resident >= self.limit.pages || asks && self.limit.is_pressed.is_some_and(|is_pressed| is_pressed())
    }

    /// Replaces a page by a copy of this epoch.
    fn own_copy(&mut self, place: Place) -> Result<(), Cause> {
        self.bound_dirty();
        let Place { owner, page, under } = place;
        let held = self.stores.table(owner).page(page);
        if held.is_none() && self.is_full() {
            return Err(Cause::NoMemory);
        }
        let shown = held.map_or_else(|| self.stores.view(place), |page| page.bytes());
        let copy = self.pool.copy_of(shown);
        self.replace(owner, page, Some(copy), Stamp::written(self.epoch, under.is_some()));
        Ok(())
    }

    /// Puts a page where another, or none, was.
    pub(crate) fn replace(&mut self, owner: Owner, page: u64, new: Option<Arc<Page>>, stamp: Stamp) {
        self.nearest.note_page(owner, page);
        let beneath = self.stores.content_beneath(owner, page);
        let table = self.stores.table_mut(owner);
        let images = table.take_images(page);
        let entry = table.entry_made(page);
        let content = entry.counted(beneath);
        let old = std::mem::replace(entry, Entry { page: new, stamp, content });
        let (gone, come) = (u64::from(old.page.is_some()), u64::from(entry.page.is_some()));
        table.resident = table.resident + come - gone;
        self.resident = self.resident + come - gone;
        if !old.stamp.dirty() && stamp.dirty() {
            self.dirty.push(Dirty::Page(owner, page));
        }
        if !images.is_empty() {
            self.remember(Record::Images { owner, page, images });
        }
        if self.journal.is_active() {
            self.journal.records.push(Record::Page { owner, page, old });
        } else {
            self.pool.give(old.page);
        }
        self.moved(owner, page);
    }

    /// Gives a page up: the object beneath, or zeros, are read again.
    pub(crate) fn give_up(&mut self, owner: Owner, page: u64) {
        self.replace(owner, page, None, Stamp::settled(false));
        // Nothing needs hashing, so it is counted at once and leaves no trace in the table.
        let beneath = self.stores.content_beneath(owner, page);
        let entry = self.stores.table_mut(owner).entry_made(page);
        let counted = std::mem::replace(&mut entry.content, 0);
        self.recount(owner, page, counted, beneath);
        if self.stores.holds_code(owner, page) {
            self.code_epoch += 1;
        }
    }

    /// Gives up all pages that a space holds in a range of addresses.
    pub(crate) fn give_up_range(&mut self, space: SpaceId, start: u64, end: u64) {
        // The pages are lost, also words that are not in the read set.
        self.note_more();
        let owner = Owner::Space(space);
        let pages = self.stores.table(owner).held(start / PAGE_SIZE, end / PAGE_SIZE);
        for page in &pages {
            self.give_up(owner, *page);
        }
        self.tidy(owner, &pages);
    }

    /// Drops what emptied groups leave behind. Under a mark it stays, for undoing would make it again.
    pub(crate) fn tidy(&mut self, owner: Owner, pages: &[u64]) {
        if !self.journal.is_active() {
            self.stores.table_mut(owner).drop_empty_groups(pages);
        }
    }

    /// The fingerprint counted `old` for a page and shall count `new`.
    pub(crate) fn recount(&mut self, owner: Owner, page: u64, old: u128, new: u128) {
        if old == new {
            return;
        }
        let change = hash::placed(new.wrapping_sub(old), owner, page);
        let table = self.stores.table_mut(owner);
        table.sum = table.sum.wrapping_add(change);
        self.sum = self.sum.wrapping_add(change);
    }

    /// A page moved: translations follow.
    pub(crate) fn moved(&mut self, owner: Owner, page: u64) {
        let held = self.stores.table(owner).page(page).map(|page| page.pointer());
        match owner {
            Owner::Space(space) => {
                if let Some(tlb) = self.tlb_of(space) {
                    tlb.repoint(page, held);
                }
            }
            Owner::Object(object) => {
                let Some(watchers) = self.watchers.remove(&(object, page)) else { return };
                for (space, page) in watchers {
                    if let Some(tlb) = self.tlb_of(space) {
                        tlb.repoint(page, None);
                    }
                }
            }
        }
    }
}
