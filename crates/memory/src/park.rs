//! Parked states: whole memories put aside, sharing what they have in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::layout::Layout;
use crate::memory::Memory;
use crate::object::{Base, Object, Shape};
use crate::space::Space;
use crate::store::{Owner, Stores};
use crate::table::{CHUNK, ChunkImage, Entry, GROUP, Group, GroupImage, ParkedEntry, Stamp, Table, TableImage};
use crate::twins::TwinsOf;
use crate::{ObjectId, SpaceId};

/// A state put aside. Cheap to clone; may go to another thread and be restored into any memory there.
#[derive(Clone, Debug)]
pub struct Parked(Arc<Image>);

#[derive(Debug)]
struct Image {
    spaces: Vec<(SpaceId, SpaceImage)>,
    objects: Vec<(ObjectId, ObjectImage)>,
    sum: u128,
    resident: u64,
}

#[derive(Debug)]
struct SpaceImage {
    layout: Arc<Layout>,
    layout_sum: u128,
    table: Arc<TableImage>,
}

#[derive(Debug)]
struct ObjectImage {
    shape: Shape,
    base: Option<Arc<Base>>,
    table: Arc<TableImage>,
}

impl Parked {
    /// The fingerprint of the state.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.0.sum
    }

    /// Pages that all spaces and objects of the state hold, shared or not.
    #[must_use]
    pub fn resident_pages(&self) -> u64 {
        self.0.resident
    }
}

impl Memory {
    /// Puts this state aside. Takes time by what changed since it was last parked or restored. Marks stay.
    pub fn park(&mut self) -> Parked {
        self.settle();
        // Pages that were ours alone are the parked state's too.
        self.begin_epoch();
        let mut twins = std::mem::take(&mut self.twins);
        let Stores { spaces, objects } = &mut self.stores;
        let park =
            |(id, space): (&SpaceId, &mut Box<Space>)| (*id, park_space(space, &mut twins.of(Owner::Space(*id))));
        let spaces = spaces.iter_mut().map(park).collect();
        let park =
            |(id, object): (&ObjectId, &mut Box<Object>)| (*id, park_object(object, &mut twins.of(Owner::Object(*id))));
        let objects = objects.iter_mut().map(park).collect();
        for (owner, page, spare) in twins.exchanged.drain(..) {
            self.moved(owner, page);
            self.pool.give(Some(spare));
        }
        self.twins = twins;
        Parked(Arc::new(Image { spaces, objects, sum: self.sum, resident: self.resident }))
    }

    /// Makes everything as it was when the state was parked, whatever it is now. All marks are gone. Takes time by what
    /// differs. No space is entered afterwards.
    pub fn restore(&mut self, parked: &Parked) {
        let image = &*parked.0;
        self.leave();
        self.journal.clear();
        self.begin_epoch();
        (self.sum, self.resident) = (image.sum, image.resident);
        self.dirty.clear();
        self.drains += 1;
        let moved = [self.restore_objects(&image.objects), self.restore_spaces(&image.spaces)];
        // Lowered code is looked at anew only if what it was taken from may differ: most restores change data alone.
        if moved.contains(&true) {
            self.code_epoch += 1;
        }
    }

    /// No space is the current one.
    fn leave(&mut self) {
        if let Some(space) = self.current.take() {
            let other = self.spare_tlbs.pop().unwrap_or_default();
            let mut left = std::mem::replace(&mut self.tlb, other);
            left.revoke_writes();
            self.stores.space_mut(space).tlb = Some(left);
        }
    }

    /// Whether pages that instructions were taken from may have changed.
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

    fn forget_watchers(&mut self, key: (ObjectId, u64)) {
        for (space, page) in self.watchers.remove(&key).unwrap_or_default() {
            if let Some(tlb) = self.tlb_of(space) {
                tlb.repoint(page, None);
            }
        }
    }
}

fn park_space(space: &mut Space, twins: &mut TwinsOf<'_>) -> SpaceImage {
    let (layout, layout_sum) = (Arc::clone(&space.layout), space.layout_sum);
    SpaceImage { layout, layout_sum, table: park_table(&mut space.table, twins) }
}

fn park_object(object: &mut Object, twins: &mut TwinsOf<'_>) -> ObjectImage {
    ObjectImage { shape: object.shape, base: object.base.clone(), table: park_table(&mut object.table, twins) }
}

fn park_table(table: &mut Table, twins: &mut TwinsOf<'_>) -> Arc<TableImage> {
    let (sum, resident) = (table.sum, table.resident);
    let groups = &mut table.groups;
    let parked = || {
        let park = |(number, group): (&u64, &mut Box<Group>)| (*number, park_group(group, number * GROUP, twins));
        let mut groups: Vec<_> = groups.iter_mut().map(park).collect();
        groups.sort_unstable_by_key(|(number, _)| *number);
        Arc::new(TableImage { groups, sum, resident })
    };
    Arc::clone(table.image.get_or_insert_with(parked))
}

fn park_group(group: &mut Group, start: u64, twins: &mut TwinsOf<'_>) -> Arc<GroupImage> {
    let Group { entries, chunks, changed, image } = group;
    let parked = || {
        for (index, entries) in entries.chunks_exact_mut(CHUNK).enumerate() {
            let is_changed = chunks[index].is_none() && *changed & 1 << index != 0;
            if is_changed && entries.iter().any(|entry| entry.page.is_some()) {
                twins.share(entries, start + (index * CHUNK) as u64);
                chunks[index] = Some(Arc::new(std::array::from_fn(|index| park_entry(&entries[index]))));
            }
        }
        *changed = 0;
        Arc::new(chunks.clone())
    };
    Arc::clone(image.get_or_insert_with(parked))
}

fn park_entry(entry: &Entry) -> ParkedEntry {
    ParkedEntry { page: entry.page.clone(), content: entry.content, over: entry.stamp.over() }
}

/// Whether instructions were taken from one of these pages.
fn hold_code(code: &BTreeSet<u64>, pages: &[u64]) -> bool {
    pages.iter().any(|page| code.contains(page))
}

/// Whether pages that instructions were taken from may have changed.
fn restore_space(space: &mut Space, image: &SpaceImage) -> bool {
    let mut moved = !Arc::ptr_eq(&space.layout, &image.layout);
    if moved {
        // Whatever was translated may be mapped differently.
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

/// Makes a table as parked, telling the pages that change.
fn restore_table(table: &mut Table, image: &Arc<TableImage>, mut changed: impl FnMut(&[u64])) {
    if table.image.as_ref().is_some_and(|old| Arc::ptr_eq(old, image)) {
        return;
    }
    for (number, parked) in &image.groups {
        let group = table.groups.entry(*number).or_insert_with(Group::empty);
        restore_group(group, parked, number * GROUP, &mut changed);
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
    for (index, parked) in image.iter().enumerate() {
        let same = match (&group.chunks[index], parked) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => group.is_vacant(index),
            _ => false,
        };
        if !same {
            let first = start + (index * CHUNK) as u64;
            let pages = restore_chunk(&mut group.entries[index * CHUNK..][..CHUNK], parked.as_deref(), first);
            group.chunks[index].clone_from(parked);
            changed(&pages);
        }
    }
    (group.changed, group.image) = (0, Some(Arc::clone(image)));
}

/// Makes a chunk as parked; the pages that are others now.
fn restore_chunk(entries: &mut [Entry], image: Option<&ChunkImage>, first: u64) -> Vec<u64> {
    let nothing = ParkedEntry::default();
    let mut pages = Vec::new();
    for (index, entry) in entries.iter_mut().enumerate() {
        let parked = image.map_or(&nothing, |image| &image[index]);
        let is_same = match (&entry.page, &parked.page) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !is_same {
            pages.push(first + index as u64);
            entry.page.clone_from(&parked.page);
        }
        (entry.stamp, entry.content) = (Stamp::settled(parked.over), parked.content);
    }
    pages
}
