//! Which pages a space or object holds: a sparse table from page numbers to pages.
//!
//! Entries lie in groups of 64, found by hash. Each group keeps the image of itself and of its chunks of four pages, as long
//! as they are unchanged: a snapshot clones what changed and shares the rest. Small chunks pay: a new image of a chunk increments
//! the reference count of every page in it, and most of these counts are cache misses.
//!
//! Sizes: a group covers 256 KiB of address space, a chunk 16 KiB. An entry is 32 bytes, so a group
//! with one page costs about 2 KiB; programs touch pages in runs, and few groups are sparse.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::page::Page;

/// Pages in a group.
pub(crate) const GROUP: u64 = 64;

/// Pages in a chunk.
pub(crate) const CHUNK: usize = 4;

/// Chunks in a group.
pub(crate) const CHUNKS: usize = GROUP as usize / CHUNK;

/// The epoch in which an entry was last written, and two flags: one word, for entries are many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamp(u64);

impl Stamp {
    const DIRTY: u64 = 1;
    const OVER: u64 = 2;

    /// An entry of this epoch, written and not yet counted in the fingerprint.
    pub(crate) fn written(epoch: u64, over: bool) -> Self {
        Self(epoch << 2 | Self::DIRTY | if over { Self::OVER } else { 0 })
    }

    /// An entry of an earlier epoch, counted.
    pub(crate) fn settled(over: bool) -> Self {
        Self(if over { Self::OVER } else { 0 })
    }

    pub(crate) fn epoch(self) -> u64 {
        self.0 >> 2
    }

    /// The content may differ from the one that the fingerprint counts.
    pub(crate) fn dirty(self) -> bool {
        self.0 & Self::DIRTY != 0
    }

    /// Lies over an object, so that a page of zeros is not the same as none.
    pub(crate) fn over(self) -> bool {
        self.0 & Self::OVER != 0
    }

    pub(crate) fn clean(self) -> Self {
        Self(self.0 & !Self::DIRTY)
    }
}

/// One page of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The page; none where the object beneath, or zeros, are read.
    pub(crate) page: Option<Arc<Page>>,
    /// When it was last written.
    pub(crate) stamp: Stamp,
    /// Hash of the content that the fingerprint counts. Meaningless where no page is held and nothing is dirty.
    pub(crate) content: u128,
}

/// Image of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageImage {
    pub(crate) page: Option<Arc<Page>>,
    pub(crate) content: u128,
    pub(crate) over: bool,
}

/// Image of a chunk.
pub(crate) type ChunkImage = [PageImage; CHUNK];

/// Image of a group; chunks without pages are left out.
pub(crate) type GroupImage = [Option<Arc<ChunkImage>>; CHUNKS];

/// Image of a table: groups by number.
#[derive(Debug, Default)]
pub(crate) struct TableImage {
    pub(crate) groups: Vec<(u64, Arc<GroupImage>)>,
    pub(crate) sum: u128,
    pub(crate) resident: u64,
}

impl TableImage {
    /// A group of pages, if any is held.
    pub(crate) fn group(&self, number: u64) -> Option<&Arc<GroupImage>> {
        let at = self.groups.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(&self.groups[at].1)
    }

    /// The image of a page.
    pub(crate) fn entry(&self, page: u64) -> Option<&PageImage> {
        let index = (page % GROUP) as usize;
        self.group(page / GROUP)?[index / CHUNK].as_ref().map(|chunk| &chunk[index % CHUNK])
    }
}

/// Pages side by side.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) entries: [Entry; GROUP as usize],
    pub(crate) chunks: [Option<Arc<ChunkImage>>; CHUNKS],
    /// Bits of the chunks without an image that may hold something; the others are empty.
    pub(crate) changed: u16,
    pub(crate) image: Option<Arc<GroupImage>>,
}

impl Group {
    pub(crate) fn empty() -> Box<Self> {
        Box::new(Self {
            entries: std::array::from_fn(|_| Entry::default()),
            chunks: std::array::from_fn(|_| None),
            changed: u16::MAX,
            image: None,
        })
    }

    /// Whether a chunk has no image because it is empty.
    pub(crate) fn is_vacant(&self, chunk: usize) -> bool {
        self.chunks[chunk].is_none() && self.changed & 1 << chunk == 0
    }

    fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.page.is_none() && !entry.stamp.dirty())
    }
}

/// Which pages a space or object holds.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) groups: HashMap<u64, Box<Group>, BuildHasherDefault<PageHasher>>,
    /// What the counted contents of all entries add to the fingerprint.
    pub(crate) sum: u128,
    /// Entries that hold a page.
    pub(crate) resident: u64,
    pub(crate) image: Option<Arc<TableImage>>,
}

/// Images that were valid until a page changed, kept to become valid again when the change is undone.
#[derive(Debug, Default)]
pub(crate) struct Images {
    chunk: Option<Arc<ChunkImage>>,
    group: Option<Arc<GroupImage>>,
    table: Option<Arc<TableImage>>,
}

impl Images {
    pub(crate) fn is_empty(&self) -> bool {
        self.chunk.is_none() && self.group.is_none() && self.table.is_none()
    }
}

impl Table {
    /// The entry, if anything was ever held there.
    pub(crate) fn entry(&self, page: u64) -> Option<&Entry> {
        self.groups.get(&(page / GROUP)).map(|group| &group.entries[(page % GROUP) as usize])
    }

    /// The page held there.
    pub(crate) fn page(&self, page: u64) -> Option<&Arc<Page>> {
        self.entry(page)?.page.as_ref()
    }

    /// The entry, if its group exists.
    pub(crate) fn entry_mut(&mut self, page: u64) -> Option<&mut Entry> {
        self.groups.get_mut(&(page / GROUP)).map(|group| &mut group.entries[(page % GROUP) as usize])
    }

    /// The entry, made if need be.
    pub(crate) fn entry_made(&mut self, page: u64) -> &mut Entry {
        &mut self.group_made(page).entries[(page % GROUP) as usize]
    }

    fn group_made(&mut self, page: u64) -> &mut Group {
        self.groups.entry(page / GROUP).or_insert_with(Group::empty)
    }

    /// Pages held in a range, in order. Takes time by what is held or by the range, whichever is less.
    #[allow(clippy::disallowed_methods, reason = "it is sorted then")]
    pub(crate) fn held(&self, start: u64, end: u64) -> Vec<u64> {
        let (first, last) = (start / GROUP, end.div_ceil(GROUP));
        let mut numbers: Vec<u64> = if last - first < self.groups.len() as u64 {
            (first..last).filter(|number| self.groups.contains_key(number)).collect()
        } else {
            self.groups.keys().copied().filter(|number| (first..last).contains(number)).collect()
        };
        numbers.sort_unstable();
        let pages = numbers.into_iter().flat_map(|number| number * GROUP..(number + 1) * GROUP);
        pages.filter(|page| (start..end).contains(page) && self.page(*page).is_some()).collect()
    }

    /// Invalidates the images of this page, for it changes.
    ///
    /// A child's image is invalid only if those above it are: the chunk, its group and the table go
    /// together, and nothing else.
    pub(crate) fn take_images(&mut self, page: u64) -> Images {
        let table = self.image.take();
        let Some(group) = self.groups.get_mut(&(page / GROUP)) else { return Images { table, ..Images::default() } };
        let index = (page % GROUP) as usize / CHUNK;
        group.changed |= 1 << index;
        let chunk = group.chunks[index].take();
        Images { chunk, group: group.image.take(), table }
    }

    /// Invalidates the image of the whole table.
    pub(crate) fn take_table_image(&mut self) -> Images {
        Images { table: self.image.take(), ..Images::default() }
    }

    /// Makes images valid again after the change that took them was undone.
    ///
    /// Newer images may have been made of the state that was undone; they were dropped when the
    /// page came back.
    pub(crate) fn put_images(&mut self, page: u64, images: Images) {
        self.image = images.table.or_else(|| self.image.take());
        if images.chunk.is_some() || images.group.is_some() {
            let group = self.group_made(page);
            let chunk = &mut group.chunks[(page % GROUP) as usize / CHUNK];
            *chunk = images.chunk.or_else(|| chunk.take());
            group.image = images.group.or_else(|| group.image.take());
        }
    }

    /// Drops every group that holds nothing.
    pub(crate) fn drop_all_empty_groups(&mut self) {
        self.groups.retain(|_, group| !group.is_empty());
    }

    /// Drops the groups of these pages if they hold nothing, so that a guest cannot fill the host with empty ones.
    pub(crate) fn drop_empty_groups(&mut self, pages: &[u64]) {
        let mut last = None;
        for number in pages.iter().map(|page| page / GROUP) {
            if last != Some(number) && self.groups.get(&number).is_some_and(|group| group.is_empty()) {
                self.groups.remove(&number);
            }
            last = Some(number);
        }
    }
}

/// Spreads numbers of groups, of which consecutive ones are the common case, and contents, which are hashes already: a
/// multiplication does.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn write_u128(&mut self, content: u128) {
        self.write_u64(content as u64);
    }
}
