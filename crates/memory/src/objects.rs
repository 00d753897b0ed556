//! Objects: making, reading, writing, cutting and dropping them.

use std::sync::Arc;

use crate::access::pieces;
use crate::journal::Record;
use crate::lazy::Source;
use crate::memory::Memory;
use crate::object::{InitialContent, Object, Shape, shape_sum};
use crate::owner::{Owner, Place};
use crate::{MapError, Mapping, ObjectId, PAGE_SIZE, SpaceId, page};

impl Memory {
    /// An object of `len` zeros, held until [`Self::drop_object`].
    ///
    /// # Panics
    /// If it exists.
    pub fn create_object(&mut self, id: ObjectId, len: u64) {
        self.add_object(id, Object::empty(len));
    }

    /// An object that starts with the given bytes, which are shared and never changed. All of them are hashed.
    ///
    /// # Panics
    /// If it exists.
    pub fn create_object_over(&mut self, id: ObjectId, bytes: Arc<[u8]>) {
        self.add_object(id, Object::over(id, Arc::new(InitialContent::new(bytes))));
    }

    /// An object that starts with bytes that are read page by page, on demand. They count as "as in the
    /// file": to write what is there already makes another state.
    ///
    /// # Panics
    /// If it exists.
    pub fn create_object_from(&mut self, id: ObjectId, source: Arc<dyn Source>) {
        self.add_object(id, Object::over(id, Arc::new(InitialContent::lazy(source))));
    }

    fn add_object(&mut self, id: ObjectId, object: Object) {
        assert!(!self.stores.objects.contains_key(&id), "the object is new");
        self.put_object(id, Box::new(object));
        self.remember(Record::Object { id, old: None });
    }

    /// Whether there is such an object: held, or still mapped.
    #[must_use]
    pub fn object_exists(&self, id: ObjectId) -> bool {
        self.stores.objects.contains_key(&id)
    }

    /// The ids of all objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.stores.objects.keys().copied()
    }

    /// Bytes of an object.
    #[must_use]
    pub fn object_len(&self, id: ObjectId) -> u64 {
        self.stores.object(id).shape.len
    }

    /// All bytes of an object that still has its initial content: a file that was never written, and that is not read page by
    /// page.
    #[must_use]
    pub fn object_unchanged(&self, id: ObjectId) -> Option<&Arc<[u8]>> {
        let object = self.stores.object(id);
        object
            .base
            .as_ref()
            .filter(|base| object.table.resident == 0 && object.shows_all_of(base))
            .and_then(|base| base.bytes())
    }

    /// The bytes of an object; copied only if it was changed.
    #[must_use]
    pub fn object_content(&self, id: ObjectId) -> Arc<[u8]> {
        self.object_unchanged(id).cloned().unwrap_or_else(|| {
            let mut bytes = vec![0; self.object_len(id) as usize];
            self.read_object(id, 0, &mut bytes);
            bytes.into()
        })
    }

    /// Reads from an offset up to the end; how many bytes there were.
    pub fn read_object(&self, id: ObjectId, offset: u64, buffer: &mut [u8]) -> usize {
        self.note_more();
        let object = self.stores.object(id);
        let count = object.shape.len.saturating_sub(offset).min(buffer.len() as u64) as usize;
        for piece in pieces(offset, count) {
            let bytes = object.view(piece.page);
            buffer[piece.range()].copy_from_slice(&bytes[piece.offset..piece.offset + piece.len]);
        }
        count
    }

    /// Writes at an offset; the object grows if need be, with zeros in between.
    ///
    /// # Errors
    /// If the limit of pages is reached; bytes before the page that failed are written. Also if the end would overflow.
    pub fn write_object(&mut self, id: ObjectId, offset: u64, bytes: &[u8]) -> Result<(), MapError> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(MapError::Invalid)?;
        if end > self.object_len(id) && !bytes.is_empty() {
            self.resize_object(id, end)?;
        }
        for piece in pieces(offset, bytes.len()) {
            self.write_object_page(id, piece.page, piece.offset, &bytes[piece.range()])?;
        }
        Ok(())
    }

    fn write_object_page(&mut self, id: ObjectId, page: u64, offset: usize, bytes: &[u8]) -> Result<(), MapError> {
        let place = Place { owner: Owner::Object(id), page, under: None };
        page::write(self.own(place).map_err(|_| MapError::NoMemory)?, offset, bytes);
        Ok(())
    }

    /// Cuts an object or lets it grow with zeros, as ftruncate(2) does. Pages behind the new end are gone in all mappings,
    /// private copies too.
    ///
    /// # Errors
    /// If the limit of pages is reached.
    pub fn resize_object(&mut self, id: ObjectId, len: u64) -> Result<(), MapError> {
        let shape = self.stores.object(id).shape;
        if len == shape.len {
            return Ok(());
        }
        // Bytes between the end and the end of its page: a shared mapping may have written there, and a file that was cut
        // must not show its old bytes when it grows again.
        self.zero_page_behind(id, len.min(shape.len))?;
        if len < shape.len {
            self.cut_object(id, len);
        }
        let base_pages = shape.base_pages.min(len.div_ceil(PAGE_SIZE));
        self.change_shape(id, Shape { len, base_pages, ..shape });
        Ok(())
    }

    fn zero_page_behind(&mut self, id: ObjectId, end: u64) -> Result<(), MapError> {
        let (page, offset) = (end / PAGE_SIZE, (end % PAGE_SIZE) as usize);
        if offset == 0 || self.stores.object(id).view(page)[offset..].iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let zeros = vec![0; PAGE_SIZE as usize - offset];
        self.write_object_page(id, page, offset, &zeros)
    }

    /// Drops all pages behind an end.
    fn cut_object(&mut self, id: ObjectId, len: u64) {
        let (owner, first) = (Owner::Object(id), len.div_ceil(PAGE_SIZE));
        let pages = self.stores.table(owner).held(first, self.stores.object(id).pages());
        for page in &pages {
            self.give_up(owner, *page);
        }
        self.tidy(owner, &pages);
        for (space, mapping) in self.mappings_of(id) {
            let (_, offset) = mapping.object_at(mapping.start).expect("it maps the object");
            let start = mapping.start + first.saturating_mul(PAGE_SIZE).saturating_sub(offset).min(mapping.len);
            self.give_up_range(space, start, mapping.end());
        }
    }

    /// Every mapping of an object, with its space.
    fn mappings_of(&self, id: ObjectId) -> Vec<(SpaceId, Mapping)> {
        let shows = |mapping: &&Mapping| mapping.object_at(mapping.start).is_some_and(|(object, _)| object == id);
        let all = |space: SpaceId| self.mappings(space).filter(shows).map(move |mapping| (space, mapping.clone()));
        self.spaces().flat_map(all).collect()
    }

    fn change_shape(&mut self, id: ObjectId, shape: Shape) {
        let object = self.stores.object_mut(id);
        let (old, images) = (object.shape, object.table.take_table_image());
        // The table's image counts the base too.
        self.remember(Record::Images { owner: Owner::Object(id), page: 0, images });
        self.remember(Record::Shape { id, old });
        self.set_shape(id, shape);
    }

    /// Sets the shape, counts it, and lets translations of pages that come or go be looked up anew.
    pub(crate) fn set_shape(&mut self, id: ObjectId, shape: Shape) {
        let object = self.stores.object_mut(id);
        let old = std::mem::replace(&mut object.shape, shape);
        drop(object.table.take_table_image());
        let change = shape_sum(id, shape).wrapping_sub(shape_sum(id, old));
        self.sum = self.sum.wrapping_add(change);
        self.recount_base(id, old, shape);
        let first = old.len.min(shape.len) / PAGE_SIZE;
        let stale: Vec<u64> = self.watchers.range((id, first)..=(id, u64::MAX)).map(|((_, page), _)| *page).collect();
        for page in stale {
            self.moved(Owner::Object(id), page);
        }
        if self.stores.object(id).code.range(first..).next().is_some() {
            self.code_epoch += 1;
        }
    }

    /// Counts pages of the base that come to light, or go.
    fn recount_base(&mut self, id: ObjectId, old: Shape, new: Shape) {
        if new.lazy {
            return;
        }
        let owner = Owner::Object(id);
        let (from, to) = (old.base_pages.min(new.base_pages), old.base_pages.max(new.base_pages));
        for page in from..to {
            if self.stores.table(owner).page(page).is_some() {
                continue;
            }
            let content = self.stores.object(id).content_of_base(page);
            let shown = |shape: Shape| if page < shape.base_pages { content } else { 0 };
            self.recount(owner, page, shown(old), shown(new));
        }
    }

    /// Releases an object. It is gone when no space maps it any more.
    pub fn drop_object(&mut self, id: ObjectId) {
        let shape = self.stores.object(id).shape;
        self.change_shape(id, Shape { held: false, ..shape });
        self.drop_unused_objects(vec![id]);
    }

    /// Removes those of the objects that are neither held nor mapped.
    pub(crate) fn drop_unused_objects(&mut self, ids: Vec<ObjectId>) {
        for id in ids {
            let loose = self.stores.objects.get(&id).is_some_and(|object| !object.shape.held);
            if loose && self.mappings_of(id).is_empty() {
                self.remove_object(id);
            }
        }
    }

    fn remove_object(&mut self, id: ObjectId) {
        if self.journal.is_active() {
            // The journal keeps objects counted, so that dirty pages are not lost with them.
            self.settle();
        }
        let object = self.take_object(id).expect("the object exists");
        if self.journal.is_active() {
            self.journal.records.push(Record::Object { id, old: Some(object) });
        } else {
            self.recycle(object.table);
        }
    }

    /// Takes an object out, uncounted.
    pub(crate) fn take_object(&mut self, id: ObjectId) -> Option<Box<Object>> {
        let object = self.stores.objects.remove(&id)?;
        self.sum = self.sum.wrapping_sub(object.table.sum).wrapping_sub(object.shape_sum(id));
        self.resident -= object.table.resident;
        Some(object)
    }

    /// Puts an object in and counts it.
    pub(crate) fn put_object(&mut self, id: ObjectId, object: Box<Object>) {
        self.sum = self.sum.wrapping_add(object.table.sum).wrapping_add(object.shape_sum(id));
        self.resident += object.table.resident;
        self.stores.objects.insert(id, object);
    }
}
