//! The fingerprint, kept incrementally: a sum that is right but for what is dirty.
//!
//! **Invariant:** `sum` is the sum over all entries of the hash that each *had* when it was last
//! counted; entries whose content may differ are dirty and in the list. [`Memory::settle`] makes
//! both the same. The list may name pages that are no longer dirty, or that are gone.

use crate::dirty::Dirty;
use crate::memory::Memory;
use crate::owner::Owner;
use crate::page::Bytes;
use crate::{SpaceId, hash};

/// More dirty entries than this, and more than twice the pages there are, must be mostly stale.
const DIRTY_MIN: u64 = 65_536;

impl Memory {
    /// Fingerprint of the state: all spaces with their mappings, all objects, all contents. Equal states have equal
    /// fingerprints, whatever led to them. Takes time proportional to what was written since the last call.
    pub fn fingerprint(&mut self) -> u128 {
        self.settle();
        self.sum
    }

    /// Counts everything that is dirty.
    pub(crate) fn settle(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        // The next store to a page must make it dirty again.
        self.tlb.revoke_writes();
        self.drains += 1;
        let mut dirty = std::mem::take(&mut self.dirty);
        for item in dirty.drain(..) {
            match item {
                Dirty::Page(owner, page) => self.settle_page(owner, page),
                Dirty::Layout(space) => self.settle_layout(space),
            }
        }
        self.dirty = dirty;
    }

    /// Checks that what is kept incrementally is what it should be: sums, counts, dirty lists. For tests; slow.
    ///
    /// # Panics
    /// If not.
    #[doc(hidden)]
    pub fn check_invariants(&self) {
        let spaces = self.stores.spaces.iter().map(|(id, space)| (Owner::Space(*id), &space.table));
        let objects = self.stores.objects.iter().map(|(id, object)| (Owner::Object(*id), &object.table));
        let (mut sum, mut resident) = (0u128, 0);
        for (owner, table) in spaces.chain(objects) {
            let held = table.held(0, u64::MAX / 2);
            let counted = |page: &u64| hash::placed(table.entry(*page).expect("held").content, owner, *page);
            let own = held.iter().map(counted).fold(0, u128::wrapping_add);
            let all = own.wrapping_add(self.base_sum(owner));
            assert_eq!((table.sum, table.resident), (all, held.len() as u64), "{owner:?}");
            held.iter().for_each(|page| self.check_page(owner, *page));
            (sum, resident) = (sum.wrapping_add(all), resident + table.resident);
        }
        let layouts = self.stores.spaces.values().map(|space| space.layout_sum);
        let shapes = self.stores.objects.iter().map(|(id, object)| object.shape_sum(*id));
        assert_eq!(layouts.chain(shapes).fold(sum, u128::wrapping_add), self.sum);
        assert_eq!(resident, self.resident);
    }

    /// A page is counted, or listed as dirty.
    fn check_page(&self, owner: Owner, page: u64) {
        let entry = self.stores.table(owner).entry(page).expect("the page is held");
        let bytes = entry.page.as_ref().expect("the page is held").bytes();
        if entry.stamp.dirty() {
            let listed = |item: &Dirty| matches!(*item, Dirty::Page(o, p) if (o, p) == (owner, page));
            assert!(self.dirty.iter().any(listed), "{owner:?} {page} is dirty");
        } else {
            assert_eq!(entry.content, counted_content(entry.stamp.over(), bytes), "{owner:?} {page} is counted");
        }
    }

    /// What the pages of a base that show add to the fingerprint.
    fn base_sum(&self, owner: Owner) -> u128 {
        let Owner::Object(id) = owner else { return 0 };
        let object = self.stores.object(id);
        if object.shape.lazy {
            // Pages that are read later are not counted at first; those that were written since count instead of them.
            let held = object.table.held(0, object.shape.base_pages).into_iter();
            let unread = held.map(|page| hash::placed(object.content_beneath(page), owner, page));
            return unread.fold(0, u128::wrapping_sub);
        }
        let shown = (0..object.shape.base_pages).filter(|page| object.table.page(*page).is_none());
        shown.map(|page| hash::placed(object.content_beneath(page), owner, page)).fold(0, u128::wrapping_add)
    }

    /// Replaces what the sum counts: the old term goes, the new one comes. Nothing else of the page
    /// is known, and nothing else is needed.
    fn settle_page(&mut self, owner: Owner, page: u64) {
        // The owner may be gone.
        if !self.stores.exists(owner) {
            return;
        }
        let Some(entry) = self.stores.table_mut(owner).entry_mut(page) else { return };
        if !entry.stamp.dirty() {
            return;
        }
        let held = entry.page.as_ref().expect("a page that was given up is counted at once");
        let new = counted_content(entry.stamp.over(), held.bytes());
        let old = std::mem::replace(&mut entry.content, new);
        entry.stamp = entry.stamp.clean();
        self.recount(owner, page, old, new);
    }

    fn settle_layout(&mut self, id: SpaceId) {
        let Some(space) = self.stores.spaces.get_mut(&id).filter(|space| space.layout_dirty) else { return };
        let new = space.layout_counted(id);
        let old = std::mem::replace(&mut space.layout_sum, new);
        space.layout_dirty = false;
        self.sum = self.sum.wrapping_add(new).wrapping_sub(old);
    }

    /// Removes entries that are not dirty any more.
    ///
    /// Counted in `drains`, for marks remember how long the list was.
    pub(crate) fn compact_dirty(&mut self) {
        self.drains += 1;
        let stores = &self.stores;
        self.dirty.retain(|item| match *item {
            Dirty::Page(owner, page) => {
                stores.exists(owner) && stores.table(owner).entry(page).is_some_and(|entry| entry.stamp.dirty())
            }
            Dirty::Layout(space) => stores.spaces.get(&space).is_some_and(|space| space.layout_dirty),
        });
    }

    /// Keeps the list of dirty entries bounded where no fingerprints are computed.
    pub(crate) fn bound_dirty(&mut self) {
        if self.dirty.len() as u64 > DIRTY_MIN.max(2 * self.resident) {
            self.settle();
        }
    }
}

/// What the fingerprint counts for a page; `over` an object, zeros are not the same as nothing.
fn counted_content(over: bool, bytes: &Bytes) -> u128 {
    if over { hash::content(bytes) } else { hash::content_or_zero(bytes) }
}
