//! Objects: bytes that files, shared memory and mappings of them have in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::lazy::{Lazy, Source};
use crate::owner::Owner;
use crate::page::{Bytes, Page, ZERO};
use crate::table::Table;
use crate::{ObjectId, PAGE_BYTES, PAGE_SIZE, hash};

/// Content that an object starts with, never changed, shared by all worlds.
#[derive(Debug)]
pub(crate) enum InitialContent {
    /// Read as a whole.
    Whole(WholeContent),
    /// Read page by page, on demand.
    Lazy(Lazy),
}

/// Bytes that were read as a whole.
#[derive(Debug)]
pub(crate) struct WholeContent {
    bytes: Arc<[u8]>,
    /// The last page if the content does not fill it: its bytes, then zeros.
    tail: Option<Arc<Page>>,
    /// Hash of each page's content.
    hashes: Vec<u128>,
}

impl InitialContent {
    pub(crate) fn new(bytes: Arc<[u8]>) -> Self {
        let (whole, rest) = bytes.as_chunks::<PAGE_BYTES>();
        let mut hashes: Vec<u128> = whole.iter().map(hash::content_or_zero).collect();
        let tail = (!rest.is_empty()).then(|| {
            let mut padded = [0; PAGE_BYTES];
            padded[..rest.len()].copy_from_slice(rest);
            hashes.push(hash::content_or_zero(&padded));
            crate::page::Pool::default().copy_of(&padded)
        });
        Self::Whole(WholeContent { bytes, tail, hashes })
    }

    pub(crate) fn lazy(source: Arc<dyn Source>) -> Self {
        Self::Lazy(Lazy::new(source))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(whole) => whole.bytes.len() as u64,
            Self::Lazy(lazy) => lazy.len(),
        }
    }

    fn pages(&self) -> u64 {
        self.len().div_ceil(PAGE_SIZE)
    }

    fn is_lazy(&self) -> bool {
        matches!(self, Self::Lazy(_))
    }

    /// All of it, if it was read as a whole.
    pub(crate) fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Whole(whole) => Some(&whole.bytes),
            Self::Lazy(_) => None,
        }
    }

    /// Hash of a page's content. Of a lazy one it means "as in the file", whatever that is.
    fn content(&self, page: u64) -> u128 {
        match self {
            Self::Whole(whole) => whole.hashes[page as usize],
            Self::Lazy(_) => UNREAD,
        }
    }

    fn page(&self, page: u64) -> &Bytes {
        match self {
            Self::Whole(whole) => whole.page(page),
            Self::Lazy(lazy) => lazy.page(page),
        }
    }
}

/// The hash of a lazy page.
const UNREAD: u128 = 0x6a09_e667_f3bc_c908_bb67_ae85_84ca_a73b;

impl WholeContent {
    fn page(&self, page: u64) -> &Bytes {
        let (whole, _) = self.bytes.as_chunks::<PAGE_BYTES>();
        let tail = || self.tail.as_ref().expect("asked for a page of the base").bytes();
        whole.get(page as usize).unwrap_or_else(tail)
    }
}

/// What an object is apart from its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Bytes.
    pub(crate) len: u64,
    /// Pages that show the base where nothing was written; fewer than the base has once it was cut.
    pub(crate) base_pages: u64,
    /// Held by the kernel, not just by mappings.
    pub(crate) held: bool,
    /// The base is read page by page: how much of it shows is not counted by its pages.
    pub(crate) lazy: bool,
}

/// Bytes that files, shared memory and mappings of them have in common.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) shape: Shape,
    pub(crate) base: Option<Arc<InitialContent>>,
    pub(crate) table: Table,
    /// Pages with noted code.
    pub(crate) code: BTreeSet<u64>,
}

impl Object {
    /// Zeros.
    pub(crate) fn empty(len: u64) -> Self {
        let shape = Shape { len, base_pages: 0, held: true, lazy: false };
        Self { shape, base: None, table: Table::default(), code: BTreeSet::new() }
    }

    /// The bytes of a base.
    pub(crate) fn over(id: ObjectId, base: Arc<InitialContent>) -> Self {
        let shape = Shape { len: base.len(), base_pages: base.pages(), held: true, lazy: base.is_lazy() };
        let placed = |page: u64| hash::placed(base.content(page), Owner::Object(id), page);
        let counted = if base.is_lazy() { 0 } else { base.pages() };
        let sum = (0..counted).map(placed).fold(0, u128::wrapping_add);
        let table = Table { sum, ..Table::default() };
        Self { shape, base: Some(base), table, code: BTreeSet::new() }
    }

    /// Pages up to its end, the last one perhaps in part.
    pub(crate) fn pages(&self) -> u64 {
        self.shape.len.div_ceil(PAGE_SIZE)
    }

    /// Whether neither end nor middle of the base was ever cut off.
    pub(crate) fn shows_all_of(&self, base: &InitialContent) -> bool {
        self.shape.len == base.len() && self.shape.base_pages == base.pages()
    }

    /// The base that a page shows where nothing was written.
    fn base_of(&self, page: u64) -> Option<&InitialContent> {
        self.base.as_deref().filter(|_| page < self.shape.base_pages)
    }

    /// What a page shows where nothing was written.
    pub(crate) fn beneath(&self, page: u64) -> &Bytes {
        self.base_of(page).map_or(ZERO.bytes(), |base| base.page(page))
    }

    /// Hash of what a page shows where nothing was written.
    pub(crate) fn content_beneath(&self, page: u64) -> u128 {
        self.base_of(page).map_or(0, |base| base.content(page))
    }

    /// Hash of a page of the base, whether it still shows or not.
    pub(crate) fn content_of_base(&self, page: u64) -> u128 {
        self.base.as_ref().map_or(0, |base| base.content(page))
    }

    /// What a page shows.
    pub(crate) fn view(&self, page: u64) -> &Bytes {
        self.table.page(page).map_or_else(|| self.beneath(page), |own| own.bytes())
    }

    /// What its shape adds to the fingerprint.
    pub(crate) fn shape_sum(&self, id: ObjectId) -> u128 {
        shape_sum(id, self.shape)
    }
}

/// What an object's shape adds to the fingerprint. How much of the base still shows is counted by the pages, unless they
/// are too many to be counted.
pub(crate) fn shape_sum(id: ObjectId, shape: Shape) -> u128 {
    let shown = if shape.lazy { shape.base_pages } else { 0 };
    let known = u128::from(shown) << 70 | u128::from(shape.len) << 2 | u128::from(shape.held) << 1 | 1;
    hash::placed(known, Owner::Object(id), u64::MAX)
}
