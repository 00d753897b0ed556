//! Snapshots: a base image of the whole memory, and the pages in which the state differs from it (the delta).
//!
//! **Invariant:** images are immutable. A page that an image holds is never written: its reference count is above one, and a
//! store copies it first. A snapshot restores exactly the state with its fingerprint, in any memory.
//!
//! Example, with pages `a` to `z` in one space. A search goes back and forth between neighbours:
//! ```text
//! S0 = base B0 {a..z}                 delta {}
//! store to c;  S1 = base B0           delta {c'}
//! store to d;  S2 = base B0           delta {c', d'}
//! restore S0:  nearest base is B0, changed since: c, d; both are put back, nothing else is looked at
//! 13 pages written;  S3 = new base B1, which shares every chunk of B0 that has not changed
//! restore S1:  another base: B0 and B1 are compared by identity of tables, groups and chunks, then c'
//! ```
//! Bases alone would clone a table, a group and a chunk for each state, deltas alone would grow
//! with the length of the path; a journal for each state (undo from parent to child) would need a
//! path between any two states, and breadth-first searches jump.

use std::sync::Arc;

use crate::layout::Layout;
use crate::object::{InitialContent, Object, Shape};
use crate::owner::Owner;
use crate::space::Space;
use crate::store::Stores;
use crate::table::{PageImage, TableImage};
use crate::{ObjectId, SpaceId};

/// A saved state of a memory. Cheap to clone; may go to another thread and be restored into any memory there.
#[derive(Clone, Debug)]
pub struct Snapshot(pub(crate) Arc<Image>);

/// **Invariant:** `sum` and `resident` are those of the base with the delta applied. A delta never
/// holds pages of objects: a change of an object, as of a mapping, makes a new base.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) base: Arc<BaseImage>,
    /// Pages of spaces that differ from the base, in order.
    pub(crate) delta: Box<[DeltaPage]>,
    pub(crate) sum: u128,
    pub(crate) resident: u64,
}

/// A page of a space that differs from that of the base.
pub(crate) type DeltaPage = (Owner, u64, PageImage);

/// With more pages than this a new base is taken: the next snapshots are small deltas to it.
pub(crate) const DELTA_MAX: usize = 12;

/// With more changes than this the nearest base is given up.
///
/// The list may hold a page several times, since noting is on the path of stores; it is ordered and
/// counted again before the base is given up for it.
const SINCE_MAX: usize = 256;

/// A whole state, shared by the snapshots that are deltas to it.
#[derive(Debug)]
pub(crate) struct BaseImage {
    pub(crate) spaces: Vec<(SpaceId, SpaceImage)>,
    pub(crate) objects: Vec<(ObjectId, ObjectImage)>,
    pub(crate) sum: u128,
    /// The fingerprint without the pages that spaces hold: of mappings and objects.
    pub(crate) layout_fingerprint: u128,
    pub(crate) resident: u64,
}

#[derive(Debug)]
pub(crate) struct SpaceImage {
    pub(crate) layout: Arc<Layout>,
    pub(crate) layout_sum: u128,
    pub(crate) table: Arc<TableImage>,
}

#[derive(Debug)]
pub(crate) struct ObjectImage {
    pub(crate) shape: Shape,
    pub(crate) base: Option<Arc<InitialContent>>,
    pub(crate) table: Arc<TableImage>,
}

impl SpaceImage {
    /// By identity, not by content: an equal layout that was built anew only costs a base.
    fn is_layout_of(&self, space: &Space) -> bool {
        Arc::ptr_eq(&self.layout, &space.layout)
    }
}

impl ObjectImage {
    fn is_of(&self, object: &Object) -> bool {
        object.shape == self.shape && object.table.image.as_ref().is_some_and(|table| Arc::ptr_eq(table, &self.table))
    }
}

/// The base that the memory was last taken or restored as, and where pages changed since.
///
/// **Invariant:** outside of `since`, the memory holds what `base` holds. Who exchanges a page
/// tells [`Self::note_page`], who exchanges a space calls [`Self::forget`]; changed mappings and
/// objects are found by [`BaseImage::has_layout_of`]. A store in place need not tell: the base
/// keeps its own pages shared, so a page that may be written in place is not one of them and has
/// been noted when it came.
#[derive(Debug, Default)]
pub(crate) struct NearestBase {
    pub(crate) base: Option<Arc<BaseImage>>,
    pub(crate) since: Vec<(Owner, u64)>,
}

impl NearestBase {
    /// A page changed.
    pub(crate) fn note_page(&mut self, owner: Owner, page: u64) {
        if self.base.is_none() {
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

    /// More than pages changed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn order(&mut self) {
        self.since.sort_unstable();
        self.since.dedup();
    }
}

impl BaseImage {
    pub(crate) fn spaces(&self) -> impl Iterator<Item = SpaceId> {
        self.spaces.iter().map(|(id, _)| *id)
    }

    pub(crate) fn table(&self, space: SpaceId) -> Option<&TableImage> {
        self.spaces.iter().find(|(id, _)| *id == space).map(|(_, image)| &*image.table)
    }

    /// Whether mappings and objects are those of a memory.
    pub(crate) fn has_layout_of(&self, stores: &Stores) -> bool {
        let (spaces, objects) = (&stores.spaces, &stores.objects);
        let mut of_spaces = spaces.iter().zip(&self.spaces);
        let mut of_objects = objects.iter().zip(&self.objects);
        spaces.len() == self.spaces.len()
            && objects.len() == self.objects.len()
            && of_spaces.all(|((id, space), (other, image))| id == other && image.is_layout_of(space))
            && of_objects.all(|((id, object), (other, image))| id == other && image.is_of(object))
    }
}

impl Snapshot {
    /// The fingerprint of the state.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.0.sum
    }

    /// The fingerprint of everything but the pages that spaces hold: of mappings and objects.
    #[must_use]
    pub fn layout_fingerprint(&self) -> u128 {
        self.0.base.layout_fingerprint
    }

    /// Pages that all spaces and objects of the state hold, shared or not.
    #[must_use]
    pub fn resident_pages(&self) -> u64 {
        self.0.resident
    }

    /// Pages that differ from the base, which many snapshots share.
    #[must_use]
    pub fn delta_pages(&self) -> u64 {
        self.0.delta.len() as u64
    }

    pub(crate) fn base(&self) -> &Arc<BaseImage> {
        &self.0.base
    }

    /// Places of the pages that differ from the base.
    pub(crate) fn delta(&self) -> impl Iterator<Item = (Owner, u64)> {
        self.0.delta.iter().map(|(owner, page, _)| (*owner, *page))
    }

    /// The snapshot that differs from this one in pages of a space.
    ///
    /// The delta grows past [`DELTA_MAX`] along chains of memoized steps; [`Self::is_delta_large`]
    /// tells the caller when a base pays.
    pub(crate) fn with(&self, space: SpaceId, pages: impl Iterator<Item = (u64, PageImage)>, sum: u128) -> Self {
        let mut resident = self.0.resident;
        let mut delta = Vec::with_capacity(self.0.delta.len() + 2);
        delta.extend_from_slice(&self.0.delta);
        for (page, entry) in pages {
            let was_held = self.entry(space, page).is_some_and(|entry| entry.page.is_some());
            resident = resident + u64::from(entry.page.is_some()) - u64::from(was_held);
            let place = (Owner::Space(space), page);
            match delta.binary_search_by_key(&place, |(owner, page, _)| (*owner, *page)) {
                Ok(at) => delta[at].2 = entry,
                Err(at) => delta.insert(at, (place.0, place.1, entry)),
            }
        }
        let base = Arc::clone(&self.0.base);
        Self(Arc::new(Image { base, delta: delta.into(), sum, resident }))
    }

    /// Whether its delta is large: it had better be restored and taken again, with a base of its own.
    #[must_use]
    pub fn is_delta_large(&self) -> bool {
        self.0.delta.len() > DELTA_MAX
    }

    /// The page image of a space at a page.
    pub(crate) fn entry(&self, space: SpaceId, page: u64) -> Option<&PageImage> {
        let delta = self.0.delta.iter().find(|delta| delta.1 == page && delta.0 == Owner::Space(space));
        match delta {
            Some((_, _, entry)) => Some(entry),
            None => self.0.base.table(space)?.entry(page),
        }
    }
}
