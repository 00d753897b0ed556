//! Taking snapshots: clones what changed since the last one, and shares the rest.
//!
//! Near a base, a snapshot is its delta. Otherwise it is a new base: an image of everything, in which tables, groups and chunks
//! that have not changed since their last image are shared with it. The time is proportional to what changed either way.
//!
//! **Invariant:** an image that a table, group or chunk keeps is an image of its present content; whatever changes a page takes
//! the images above it away first ([`Table::take_images`]).

use std::sync::Arc;

use crate::memory::Memory;
use crate::object::Object;
use crate::owner::Owner;
use crate::page_intern::{OwnersPages, PageIntern};
use crate::snapshot::{BaseImage, DELTA_MAX, DeltaPage, Image, NearestBase, ObjectImage, Snapshot, SpaceImage};
use crate::space::Space;
use crate::store::Stores;
use crate::table::{CHUNK, Entry, GROUP, Group, GroupImage, PageImage, Table, TableImage};
use crate::{ObjectId, SpaceId};

impl Memory {
    /// Takes a snapshot, in time proportional to what changed since the last one or the last restore. Marks stay.
    pub fn snapshot(&mut self) -> Snapshot {
        self.settle();
        assert!(self.dirty.is_empty(), "the fingerprint of a snapshot counts every page");
        // Pages that the memory held alone are the snapshot's, too.
        self.begin_epoch();
        let mut interned = std::mem::take(&mut self.interned);
        let base = self.near_base().unwrap_or_else(|| self.take_base(&mut interned));
        let delta = self.take_delta(&mut interned);
        assert!(delta.len() <= DELTA_MAX, "a state far from its base has a base of its own");
        assert!(delta.is_sorted_by_key(|(owner, page, _)| (*owner, *page)), "a delta is searched by bisection");
        // An equal page that another snapshot has took the place of the memory's own: translations follow.
        for (owner, page, spare) in interned.exchanged.drain(..) {
            self.moved(owner, page);
            self.pool.give(Some(spare));
        }
        self.interned = interned;
        Snapshot(Arc::new(Image { base, delta, sum: self.sum, resident: self.resident }))
    }

    /// The base that this state differs from in a few pages only, if there is one.
    ///
    /// A delta holds pages of spaces only, so a change of an object's page rules the base out.
    fn near_base(&mut self) -> Option<Arc<BaseImage>> {
        self.nearest.order();
        let NearestBase { base, since } = &self.nearest;
        let is_page = |(owner, _): &(Owner, u64)| matches!(owner, Owner::Space(_));
        let is_near = |base: &&Arc<BaseImage>| base.has_layout_of(&self.stores);
        let is_little = since.len() <= DELTA_MAX && since.iter().all(is_page);
        base.as_ref().filter(|_| is_little).filter(is_near).cloned()
    }

    /// An image of everything, which is the nearest base from now on.
    fn take_base(&mut self, interned: &mut PageIntern) -> Arc<BaseImage> {
        let Stores { spaces, objects } = &mut self.stores;
        let image_of = |(id, space): (&SpaceId, &mut Box<Space>)| {
            (*id, image_of_space(space, &mut interned.of(Owner::Space(*id))))
        };
        let spaces: Vec<_> = spaces.iter_mut().map(image_of).collect();
        let image_of = |(id, object): (&ObjectId, &mut Box<Object>)| {
            (*id, image_of_object(object, &mut interned.of(Owner::Object(*id))))
        };
        let objects = objects.iter_mut().map(image_of).collect();
        let held = spaces.iter().map(|(_, space)| space.table.sum).fold(0, u128::wrapping_add);
        let layout_fingerprint = self.sum.wrapping_sub(held);
        let base = Arc::new(BaseImage { spaces, objects, sum: self.sum, layout_fingerprint, resident: self.resident });
        self.nearest = NearestBase { base: Some(Arc::clone(&base)), since: Vec::new() };
        base
    }

    /// Images of the pages that changed since the nearest base.
    fn take_delta(&mut self, interned: &mut PageIntern) -> Box<[DeltaPage]> {
        let stores = &mut self.stores;
        let image_of = |(owner, page): &(Owner, u64)| {
            let entry = stores.table_mut(*owner).entry_made(*page);
            interned.of(*owner).share(std::slice::from_mut(entry), *page);
            (*owner, *page, image_of_page(entry))
        };
        self.nearest.since.iter().map(image_of).collect()
    }
}

fn image_of_space(space: &mut Space, interned: &mut OwnersPages<'_>) -> SpaceImage {
    let (layout, layout_sum) = (Arc::clone(&space.layout), space.layout_sum);
    SpaceImage { layout, layout_sum, table: image_of_table(&mut space.table, interned) }
}

fn image_of_object(object: &mut Object, interned: &mut OwnersPages<'_>) -> ObjectImage {
    ObjectImage { shape: object.shape, base: object.base.clone(), table: image_of_table(&mut object.table, interned) }
}

fn image_of_table(table: &mut Table, interned: &mut OwnersPages<'_>) -> Arc<TableImage> {
    let (sum, resident) = (table.sum, table.resident);
    let groups = &mut table.groups;
    let make = || {
        let image_of =
            |(number, group): (&u64, &mut Box<Group>)| (*number, image_of_group(group, number * GROUP, interned));
        let mut groups: Vec<_> = groups.iter_mut().map(image_of).collect();
        groups.sort_unstable_by_key(|(number, _)| *number);
        Arc::new(TableImage { groups, sum, resident })
    };
    Arc::clone(table.image.get_or_insert_with(make))
}

/// The image of a group: new images of changed chunks that hold pages, the old ones of all others.
///
/// A chunk that lost its last page has no image: `None` with its bit in `changed` cleared says that
/// it is empty, and a restore need not look at its entries.
fn image_of_group(group: &mut Group, start: u64, interned: &mut OwnersPages<'_>) -> Arc<GroupImage> {
    let Group { entries, chunks, changed, image } = group;
    let make = || {
        for (index, entries) in entries.chunks_exact_mut(CHUNK).enumerate() {
            let is_changed = chunks[index].is_none() && *changed & 1 << index != 0;
            if is_changed && entries.iter().any(|entry| entry.page.is_some()) {
                interned.share(entries, start + (index * CHUNK) as u64);
                chunks[index] = Some(Arc::new(std::array::from_fn(|index| image_of_page(&entries[index]))));
            }
        }
        *changed = 0;
        Arc::new(chunks.clone())
    };
    Arc::clone(image.get_or_insert_with(make))
}

fn image_of_page(entry: &Entry) -> PageImage {
    PageImage { page: entry.page.clone(), content: entry.content, over: entry.stamp.over() }
}
