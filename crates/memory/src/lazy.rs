//! Content that is read page by page, on demand: a file may be larger than all memory.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::page::Bytes;
use crate::{PAGE_BYTES, PAGE_SIZE};

/// Where bytes come from that are read when they are needed. The same place must always give the same.
pub trait Source: Send + Sync {
    /// Bytes in all.
    fn len(&self) -> u64;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads from an offset; what lies behind the end stays as it is.
    fn read(&self, offset: u64, buffer: &mut [u8]);
}

/// Pages that have a place together: a file of a terabyte has 65,536 such groups.
const GROUP: u64 = 4096;

/// Pages of one group, as far as they were read. They stay where they are: others hold their addresses.
type Group = Box<[OnceLock<Box<Bytes>>]>;

/// Content that is read page by page.
pub(crate) struct Lazy {
    source: Arc<dyn Source>,
    groups: Box<[OnceLock<Group>]>,
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lazy({} bytes)", self.source.len())
    }
}

impl Lazy {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        let groups = source.len().div_ceil(GROUP * PAGE_SIZE);
        Self { source, groups: (0..groups).map(|_| OnceLock::new()).collect() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }

    /// A page; zeros behind the end.
    pub(crate) fn page(&self, page: u64) -> &Bytes {
        let group = self.groups[(page / GROUP) as usize].get_or_init(|| (0..GROUP).map(|_| OnceLock::new()).collect());
        group[(page % GROUP) as usize].get_or_init(|| {
            let mut bytes = Box::new([0; PAGE_BYTES]);
            self.source.read(page * PAGE_SIZE, &mut bytes[..]);
            bytes
        })
    }
}
