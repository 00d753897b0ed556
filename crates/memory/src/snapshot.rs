//! Parked states: whole memories put aside, sharing what they have in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::layout::Layout;
use crate::memory::Memory;
use crate::object::{Base, Object, Shape};
use crate::page_intern::{Twins, TwinsOf};
use crate::space::Space;
use crate::store::{Owner, Stores};
use crate::table::{CHUNK, ChunkImage, Entry, GROUP, Group, GroupImage, ParkedEntry, Stamp, Table, TableImage};
use crate::{ObjectId, SpaceId};

/// A state put aside: a whole one that is kept, and the pages that differ from it. Cheap to clone; may go to another thread and
/// be restored into any memory there.
#[derive(Clone, Debug)]
pub struct Parked(Arc<Image>);

#[derive(Debug)]
struct Image {
    whole: Arc<Whole>,
    /// Pages of spaces that differ from the whole state, in order.
    near: Box<[Near]>,
    sum: u128,
    resident: u64,
}

/// A page of a space that differs from that of a whole state.
type Near = (Owner, u64, ParkedEntry);

/// More pages than this, and the state is kept as a whole: the next ones are near that.
const NEAR_MAX: usize = 12;

/// More changes than this are not counted any more.
const SINCE_MAX: usize = 256;

/// All that a state holds.
#[derive(Debug)]
pub(crate) struct Whole {
    spaces: Vec<(SpaceId, SpaceImage)>,
    objects: Vec<(ObjectId, ObjectImage)>,
    sum: u128,
    /// What the fingerprint counts but for pages that spaces hold.
    ground: u128,
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

impl SpaceImage {
    fn is_layout_of(&self, space: &Space) -> bool {
        Arc::ptr_eq(&self.layout, &space.layout)
    }
}

impl ObjectImage {
    fn is_of(&self, object: &Object) -> bool {
        object.shape == self.shape && object.table.image.as_ref().is_some_and(|table| Arc::ptr_eq(table, &self.table))
    }
}

/// The whole state that this one was last kept or restored as, and where pages were put since.
#[derive(Debug, Default)]
pub(crate) struct Neighbour {
    whole: Option<Arc<Whole>>,
    since: Vec<(Owner, u64)>,
}

impl Neighbour {
    /// A page was put somewhere.
    pub(crate) fn put(&mut self, owner: Owner, page: u64) {
        if self.whole.is_none() {
            return;
        }
        if self.since.len() >= SINCE_MAX {
            self.order();
        }
        match self.since.len() < SINCE_MAX {
            true => self.since.push((owner, page)),
            false => self.forget(),
        }
    }

    /// More than pages has changed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    fn order(&mut self) {
        self.since.sort_unstable();
        self.since.dedup();
    }
}

impl Whole {
    pub(crate) fn spaces(&self) -> impl Iterator<Item = SpaceId> {
        self.spaces.iter().map(|(id, _)| *id)
    }

    pub(crate) fn table(&self, space: SpaceId) -> Option<&TableImage> {
        self.spaces.iter().find(|(id, _)| *id == space).map(|(_, image)| &*image.table)
    }

    /// Whether mappings and objects are those of a memory.
    fn has_ground_of(&self, stores: &Stores) -> bool {
        let (spaces, objects) = (&stores.spaces, &stores.objects);
        let mut of_spaces = spaces.iter().zip(&self.spaces);
        let mut of_objects = objects.iter().zip(&self.objects);
        spaces.len() == self.spaces.len()
            && objects.len() == self.objects.len()
            && of_spaces.all(|((id, space), (other, image))| id == other && image.is_layout_of(space))
            && of_objects.all(|((id, object), (other, image))| id == other && image.is_of(object))
    }
}

impl Parked {
    /// The fingerprint of the state.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.0.sum
    }

    /// What stands for everything but the pages that spaces hold on their own: mappings and objects.
    #[must_use]
    pub fn ground(&self) -> u128 {
        self.0.whole.ground
    }

    /// Pages that all spaces and objects of the state hold, shared or not.
    #[must_use]
    pub fn resident_pages(&self) -> u64 {
        self.0.resident
    }

    pub(crate) fn whole(&self) -> &Arc<Whole> {
        &self.0.whole
    }

    /// Where pages are that differ from the whole state.
    pub(crate) fn near(&self) -> impl Iterator<Item = (Owner, u64)> {
        self.0.near.iter().map(|(owner, page, _)| (*owner, *page))
    }

    /// The state that differs from this one in pages of a space.
    pub(crate) fn with(&self, space: SpaceId, pages: impl Iterator<Item = (u64, ParkedEntry)>, sum: u128) -> Self {
        let mut resident = self.0.resident;
        let mut near = Vec::with_capacity(self.0.near.len() + 2);
        near.extend_from_slice(&self.0.near);
        for (page, entry) in pages {
            let was_held = self.entry(space, page).is_some_and(|entry| entry.page.is_some());
            resident = resident + u64::from(entry.page.is_some()) - u64::from(was_held);
            let place = (Owner::Space(space), page);
            match near.binary_search_by_key(&place, |(owner, page, _)| (*owner, *page)) {
                Ok(at) => near[at].2 = entry,
                Err(at) => near.insert(at, (place.0, place.1, entry)),
            }
        }
        let whole = Arc::clone(&self.0.whole);
        Self(Arc::new(Image { whole, near: near.into(), sum, resident }))
    }

    /// Whether it differs in too much from the whole state that is kept with it, and had better be kept as a whole.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.0.near.len() > NEAR_MAX
    }

    /// What a space holds at a page.
    pub(crate) fn entry(&self, space: SpaceId, page: u64) -> Option<&ParkedEntry> {
        let near = self.0.near.iter().find(|near| near.1 == page && near.0 == Owner::Space(space));
        match near {
            Some((_, _, entry)) => Some(entry),
            None => self.0.whole.table(space)?.entry(page),
        }
    }
}

impl Memory {
    /// Puts this state aside. Takes time by what changed since it was last parked or restored. Marks stay.
    pub fn park(&mut self) -> Parked {
        self.settle();
        // Pages that were ours alone are the parked state's too.
        self.begin_epoch();
        let mut twins = std::mem::take(&mut self.twins);
        let whole = self.near_whole().unwrap_or_else(|| self.park_whole(&mut twins));
        let near = self.park_near(&mut twins);
        for (owner, page, spare) in twins.exchanged.drain(..) {
            self.moved(owner, page);
            self.pool.give(Some(spare));
        }
        self.twins = twins;
        Parked(Arc::new(Image { whole, near, sum: self.sum, resident: self.resident }))
    }

    /// The whole state that this one differs from in a few pages only, if there is one.
    fn near_whole(&mut self) -> Option<Arc<Whole>> {
        self.neighbour.order();
        let Neighbour { whole, since } = &self.neighbour;
        let is_page = |(owner, _): &(Owner, u64)| matches!(owner, Owner::Space(_));
        let is_near = |whole: &&Arc<Whole>| whole.has_ground_of(&self.stores);
        let is_little = since.len() <= NEAR_MAX && since.iter().all(is_page);
        whole.as_ref().filter(|_| is_little).filter(is_near).cloned()
    }

    fn park_whole(&mut self, twins: &mut Twins) -> Arc<Whole> {
        let Stores { spaces, objects } = &mut self.stores;
        let park =
            |(id, space): (&SpaceId, &mut Box<Space>)| (*id, park_space(space, &mut twins.of(Owner::Space(*id))));
        let spaces: Vec<_> = spaces.iter_mut().map(park).collect();
        let park =
            |(id, object): (&ObjectId, &mut Box<Object>)| (*id, park_object(object, &mut twins.of(Owner::Object(*id))));
        let objects = objects.iter_mut().map(park).collect();
        let held = spaces.iter().map(|(_, space)| space.table.sum).fold(0, u128::wrapping_add);
        let ground = self.sum.wrapping_sub(held);
        let whole = Arc::new(Whole { spaces, objects, sum: self.sum, ground, resident: self.resident });
        self.neighbour = Neighbour { whole: Some(Arc::clone(&whole)), since: Vec::new() };
        whole
    }

    fn park_near(&mut self, twins: &mut Twins) -> Box<[Near]> {
        let stores = &mut self.stores;
        let park = |(owner, page): &(Owner, u64)| {
            let entry = stores.table_mut(*owner).entry_made(*page);
            twins.of(*owner).share(std::slice::from_mut(entry), *page);
            (*owner, *page, park_entry(entry))
        };
        self.neighbour.since.iter().map(park).collect()
    }

    /// Makes everything as it was when the state was parked, whatever it is now. All marks are gone. Takes time by what
    /// differs. No space is entered afterwards.
    pub fn restore(&mut self, parked: &Parked) {
        let image = &*parked.0;
        self.leave();
        self.journal.clear();
        self.begin_epoch();
        self.dirty.clear();
        self.drains += 1;
        let is_near = self.neighbour.whole.as_ref().is_some_and(|whole| Arc::ptr_eq(whole, &image.whole))
            && image.whole.has_ground_of(&self.stores);
        if !is_near {
            self.restore_whole(&image.whole);
        }
        self.restore_near(image);
        (self.sum, self.resident) = (image.sum, image.resident);
    }

    fn restore_whole(&mut self, whole: &Arc<Whole>) {
        self.neighbour.forget();
        (self.sum, self.resident) = (whole.sum, whole.resident);
        let moved = [self.restore_objects(&whole.objects), self.restore_spaces(&whole.spaces)];
        // Lowered code is looked at anew only if what it was taken from may differ: most restores change data alone.
        if moved.contains(&true) {
            self.code_epoch += 1;
        }
        self.neighbour.whole = Some(Arc::clone(whole));
    }

    /// Puts the pages in their places in which a state differs from the whole one, which is here but for pages put since.
    fn restore_near(&mut self, image: &Image) {
        self.neighbour.order();
        let nothing = ParkedEntry::default();
        for (owner, page) in std::mem::take(&mut self.neighbour.since) {
            let is_other = image.near.iter().any(|near| (near.0, near.1) == (owner, page));
            // Objects are those of the whole state.
            let Owner::Space(space) = owner else { continue };
            if !is_other {
                let entry = image.whole.table(space).and_then(|table| table.entry(page)).unwrap_or(&nothing);
                self.put_page(owner, page, entry);
            }
        }
        for (owner, page, entry) in &image.near {
            self.put_page(*owner, *page, entry);
        }
        self.neighbour.since = image.near.iter().map(|(owner, page, _)| (*owner, *page)).collect();
        for ((_, space), (_, parked)) in self.stores.spaces.iter_mut().zip(&image.whole.spaces) {
            (space.layout_sum, space.layout_dirty) = (parked.layout_sum, false);
        }
    }

    /// Puts a page in its place whose content is known.
    pub(crate) fn put_page(&mut self, owner: Owner, page: u64, parked: &ParkedEntry) {
        let entry = self.stores.table(owner).entry(page);
        let held = entry.and_then(|entry| entry.page.as_ref());
        let is_here = held.map(Arc::as_ptr) == parked.page.as_ref().map(Arc::as_ptr);
        if is_here && !entry.is_some_and(|entry| entry.stamp.dirty()) {
            return;
        }
        if parked.page.is_none() {
            return self.give_up(owner, page);
        }
        self.replace(owner, page, parked.page.clone(), Stamp::settled(parked.over));
        let entry = self.stores.table_mut(owner).entry_made(page);
        let old = std::mem::replace(&mut entry.content, parked.content);
        self.recount(owner, page, old, parked.content);
        if self.stores.holds_code(owner, page) {
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
