//! Restoring snapshots: moves back what differs, and nothing else.
//!
//! Differences are found by identity: where a table, group or chunk keeps the very image that is to be restored, its content is that
//! of the image, and it is skipped. Everything else is put back page by page. To the state of the same base, which is the most
//! frequent case in a search, only pages of the two deltas are looked at.
//!
//! **Invariant:** translations and lowered code never outlive what they were made of: each page that is exchanged is repointed in
//! the translations, and `code_epoch` is raised if code was noted in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::memory::Memory;
use crate::object::Object;
use crate::owner::Owner;
use crate::snapshot::{BaseImage, Image, ObjectImage, Snapshot, SpaceImage};
use crate::space::Space;
use crate::table::{CHUNK, ChunkImage, Entry, GROUP, Group, GroupImage, PageImage, Stamp, Table, TableImage};
use crate::{ObjectId, SpaceId};

impl Memory {
    /// Restores a snapshot, whatever the state is now, in time proportional to the difference. All marks are gone. No space is
    /// entered afterwards.
    ///
    /// Snapshots of other memories may be restored: nothing in an image refers to a memory, and
    /// epochs are not part of it. The stamps of restored entries have epoch 0, which no memory ever
    /// has, so the first store to each page copies it.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let image = &*snapshot.0;
        self.leave();
        self.journal.clear();
        self.begin_epoch();
        self.dirty.clear();
        self.drains += 1;
        let is_near = self.nearest.base.as_ref().is_some_and(|base| Arc::ptr_eq(base, &image.base))
            && image.base.has_layout_of(&self.stores);
        if !is_near {
            self.restore_base(&image.base);
        }
        self.restore_delta(image);
        assert_eq!(self.resident, image.resident, "a snapshot restores the pages that it was taken of");
        (self.sum, self.resident) = (image.sum, image.resident);
    }

    fn restore_base(&mut self, base: &Arc<BaseImage>) {
        self.nearest.forget();
        (self.sum, self.resident) = (base.sum, base.resident);
        let moved = [self.restore_objects(&base.objects), self.restore_spaces(&base.spaces)];
        // Lowered code is validated again only if its pages may differ: most restores change data alone.
        if moved.contains(&true) {
            self.code_epoch += 1;
        }
        self.nearest.base = Some(Arc::clone(base));
    }

    /// Restores a delta, given that the memory is at its base but for pages that changed since.
    fn restore_delta(&mut self, image: &Image) {
        self.nearest.order();
        let nothing = PageImage::default();
        for (owner, page) in std::mem::take(&mut self.nearest.since) {
            let is_other = image.delta.iter().any(|delta| (delta.0, delta.1) == (owner, page));
            // Objects are those of the base.
            let Owner::Space(space) = owner else { continue };
            if !is_other {
                let entry = image.base.table(space).and_then(|table| table.entry(page)).unwrap_or(&nothing);
                self.put_page(owner, page, entry);
            }
        }
        for (owner, page, entry) in &image.delta {
            self.put_page(*owner, *page, entry);
        }
        self.nearest.since = image.delta.iter().map(|(owner, page, _)| (*owner, *page)).collect();
        for ((_, space), (_, image)) in self.stores.spaces.iter_mut().zip(&image.base.spaces) {
            (space.layout_sum, space.layout_dirty) = (image.layout_sum, false);
        }
    }

    /// Puts the image of a page in its place.
    ///
    /// A page that is here already by identity has the content of the image. If it is dirty, only
    /// what the sum counts for it is wrong.
    pub(crate) fn put_page(&mut self, owner: Owner, page: u64, image: &PageImage) {
        let entry = self.stores.table(owner).entry(page);
        let held = entry.and_then(|entry| entry.page.as_ref());
        let is_here = held.map(Arc::as_ptr) == image.page.as_ref().map(Arc::as_ptr);
        if is_here && !entry.is_some_and(|entry| entry.stamp.dirty()) {
            return;
        }
        if image.page.is_none() {
            return self.give_up(owner, page);
        }
        self.replace(owner, page, image.page.clone(), Stamp::settled(image.over));
        let entry = self.stores.table_mut(owner).entry_made(page);
        let old = std::mem::replace(&mut entry.content, image.content);
        self.recount(owner, page, old, image.content);
        if self.stores.holds_code(owner, page) {
            self.code_epoch += 1;
        }
    }

    /// Leaves the current space.
    fn leave(&mut self) {
        if let Some(space) = self.current.take() {
            let other = self.spare_tlbs.pop().unwrap_or_default();
            let mut left = std::mem::replace(&mut self.tlb, other);
            left.revoke_writes();
            self.stores.space_mut(space).tlb = Some(left);
        }
    }

    /// True if pages with noted code may have changed.
    fn restore_spaces(&mut self, images: &[(SpaceId, SpaceImage)]) -> bool {
        let spaces = &mut self.stores.spaces;
        if spaces.keys().eq(images.iter().map(|(id, _)| id)) {
            let pairs = spaces.values_mut().zip(images);
            return pairs.fold(false, |moved, (space, (_, image))| restore_space(space, image) || moved);
        }
        let mut old = std::mem::take(&mut self.stores.spaces);
        let mut moved = false;
        for (id, image) in images {
            moved |= !old.contains_key(id);
            let mut space = old.remove(id).unwrap_or_default();
            moved |= restore_space(&mut space, image);
            self.stores.spaces.insert(*id, space);
        }
        moved |= !old.is_empty();
        old.into_values().for_each(|space| self.recycle(space.table));
        moved
    }

    fn restore_objects(&mut self, images: &[(ObjectId, ObjectImage)]) -> bool {
        let mut old = std::mem::take(&mut self.stores.objects);
        let mut moved = false;
        if old.keys().eq(images.iter().map(|(id, _)| id)) {
            for (object, (id, image)) in old.values_mut().zip(images) {
                moved |= self.restore_object(*id, object, image);
            }
            self.stores.objects = old;
            return moved;
        }
        for (id, image) in images {
            moved |= !old.contains_key(id);
            let mut object = old.remove(id).unwrap_or_else(|| Box::new(Object::empty(0)));
            moved |= self.restore_object(*id, &mut object, image);
            self.stores.objects.insert(*id, object);
        }
        moved |= !old.is_empty();
        old.into_values().for_each(|object| self.recycle(object.table));
        let objects = &self.stores.objects;
        self.watchers.retain(|(id, _), _| objects.contains_key(id));
        moved
    }

    fn restore_object(&mut self, id: ObjectId, object: &mut Object, image: &ObjectImage) -> bool {
        let unchanged = object.table.image.as_ref().is_some_and(|table| Arc::ptr_eq(table, &image.table));
        if !unchanged || object.shape != image.shape {
            let watchers: Vec<_> = self.watchers.range((id, 0)..=(id, u64::MAX)).map(|(key, _)| *key).collect();
            for key in watchers {
                self.forget_watchers(key);
            }
        }
        let mut moved = object.shape != image.shape && !object.code.is_empty();
        object.shape = image.shape;
        object.base = image.base.clone();
        let Object { table, code, .. } = object;
        restore_table(table, &image.table, |pages| moved |= hold_code(code, pages));
        moved
    }

    /// Translations of a mapped object point into its pages; those of other spaces than the current
    /// one, too.
    fn forget_watchers(&mut self, key: (ObjectId, u64)) {
        for (space, page) in self.watchers.remove(&key).unwrap_or_default() {
            if let Some(tlb) = self.tlb_of(space) {
                tlb.repoint(page, None);
            }
        }
    }
}

/// Whether code was noted in one of these pages.
fn hold_code(code: &BTreeSet<u64>, pages: &[u64]) -> bool {
    pages.iter().any(|page| code.contains(page))
}

/// True if pages with noted code may have changed.
fn restore_space(space: &mut Space, image: &SpaceImage) -> bool {
    let mut moved = !Arc::ptr_eq(&space.layout, &image.layout);
    if moved {
        // All translations may be wrong.
        space.tlb = None;
    }
    space.layout = Arc::clone(&image.layout);
    (space.layout_sum, space.layout_dirty) = (image.layout_sum, false);
    let Space { table, tlb, code, .. } = space;
    let forget = |pages: &[u64]| {
        moved |= hold_code(code, pages);
        if let Some(tlb) = tlb {
            pages.iter().for_each(|page| tlb.repoint(*page, None));
        }
    };
    restore_table(table, &image.table, forget);
    moved
}

/// Restores a table; `changed` gets the pages that change.
///
/// Groups that the image does not have are dropped whole, and all their pages told: asking which
/// were held would cost as much.
fn restore_table(table: &mut Table, image: &Arc<TableImage>, mut changed: impl FnMut(&[u64])) {
    if table.image.as_ref().is_some_and(|old| Arc::ptr_eq(old, image)) {
        return;
    }
    for (number, image) in &image.groups {
        let group = table.groups.entry(*number).or_insert_with(Group::empty);
        restore_group(group, image, number * GROUP, &mut changed);
    }
    if table.groups.len() > image.groups.len() {
        table.groups.retain(|number, _| {
            let keep = image.groups.binary_search_by_key(number, |(number, _)| *number).is_ok();
            if !keep {
                changed(&std::array::from_fn::<u64, { GROUP as usize }, _>(|index| number * GROUP + index as u64));
            }
            keep
        });
    }
    (table.sum, table.resident, table.image) = (image.sum, image.resident, Some(Arc::clone(image)));
}

fn restore_group(group: &mut Group, image: &Arc<GroupImage>, start: u64, changed: &mut impl FnMut(&[u64])) {
    if group.image.as_ref().is_some_and(|old| Arc::ptr_eq(old, image)) {
        return;
    }
    for (index, image) in image.iter().enumerate() {
        let same = match (&group.chunks[index], image) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => group.is_vacant(index),
            _ => false,
        };
        if !same {
            let first = start + (index * CHUNK) as u64;
            let pages = restore_chunk(&mut group.entries[index * CHUNK..][..CHUNK], image.as_deref(), first);
            group.chunks[index].clone_from(image);
            changed(&pages);
        }
    }
    (group.changed, group.image) = (0, Some(Arc::clone(image)));
}

/// Restores a chunk; the pages that change.
fn restore_chunk(entries: &mut [Entry], image: Option<&ChunkImage>, first: u64) -> Vec<u64> {
    let nothing = PageImage::default();
    let mut pages = Vec::new();
    for (index, entry) in entries.iter_mut().enumerate() {
        let image = image.map_or(&nothing, |image| &image[index]);
        let is_same = match (&entry.page, &image.page) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !is_same {
            pages.push(first + index as u64);
            entry.page.clone_from(&image.page);
        }
        (entry.stamp, entry.content) = (Stamp::settled(image.over), image.content);
    }
    pages
}
