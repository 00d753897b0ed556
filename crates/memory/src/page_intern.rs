//! Interned pages: snapshots share pages of equal content. The same few contents recur in thousands of states.
//!
//! Without it, a hundred thousand states with a counter in one page and a lock in another would
//! hold a page for every *pair* of values; with it, one for every value. Interning costs a lookup
//! by the hash that the fingerprint needs anyway, and never compares bytes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::owner::Owner;
use crate::page::Page;
use crate::table::{Entry, PageHasher};

/// Pages that no snapshot holds are dropped once there are twice as many as after the last time, and at least this many.
const MIN: usize = 1024;

/// The pages that snapshots hold, by hash of their content.
///
/// **Invariant:** equal hashes are equal contents, as for the fingerprint (128 bits).
///
/// Dropping looks at all pages, but not before their number has doubled: constant time for each
/// page added, amortised.
#[derive(Debug)]
pub(crate) struct PageIntern {
    pages: HashMap<u128, Arc<Page>, BuildHasherDefault<PageHasher>>,
    /// How many there may be before those that no snapshot holds are dropped.
    most: usize,
    /// Pages that interned ones have replaced, and where.
    pub(crate) exchanged: Vec<(Owner, u64, Arc<Page>)>,
}

impl Default for PageIntern {
    fn default() -> Self {
        Self { pages: HashMap::default(), most: MIN, exchanged: Vec::new() }
    }
}

/// Interns the pages of one owner.
pub(crate) struct OwnersPages<'a> {
    interned: &'a mut PageIntern,
    owner: Owner,
}

impl PageIntern {
    pub(crate) fn of(&mut self, owner: Owner) -> OwnersPages<'_> {
        OwnersPages { interned: self, owner }
    }

    /// The page of this content.
    pub(crate) fn find(&self, content: u128) -> Option<Arc<Page>> {
        self.pages.get(&content).cloned()
    }

    /// Adds a page with a content that is new.
    pub(crate) fn add(&mut self, content: u128, page: &Arc<Page>) {
        let known = self.other(content, page);
        assert!(known.is_none(), "a content is interned once");
    }

    /// The page of this content, if it is not this one, which is added.
    ///
    /// A strong count of 1 is the table's own reference: no snapshot, no memory holds the page.
    fn other(&mut self, content: u128, page: &Arc<Page>) -> Option<Arc<Page>> {
        if let Some(known) = self.pages.get(&content) {
            return Some(Arc::clone(known));
        }
        if self.pages.len() >= self.most {
            self.pages.retain(|_, page| Arc::strong_count(page) > 1);
            self.most = MIN.max(2 * self.pages.len());
        }
        self.pages.insert(content, Arc::clone(page));
        None
    }
}

impl OwnersPages<'_> {
    /// Replaces the pages of settled entries, which begin at page `first`, by interned ones.
    ///
    /// Settled entries, since the hash of a dirty one is that of its old content.
    pub(crate) fn share(&mut self, entries: &mut [Entry], first: u64) {
        for (index, entry) in entries.iter_mut().enumerate() {
            // A page with other holders is interned already.
            let Some(page) = entry.page.as_mut().filter(|page| Arc::strong_count(page) == 1) else { continue };
            if let Some(other) = self.interned.other(entry.content, page) {
                let spare = std::mem::replace(page, other);
                self.interned.exchanged.push((self.owner, first + index as u64, spare));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::{Limit, Mapping, PAGE_SIZE, Protection, SpaceId};

    const SPACE: SpaceId = SpaceId(1);
    const START: u64 = 0x10_0000;

    fn memory() -> Memory {
        let mut memory = Memory::new(Limit::default());
        memory.create_space(SPACE);
        memory.map(SPACE, Mapping::anonymous(START, 4 * PAGE_SIZE, Protection::READ | Protection::WRITE)).unwrap();
        memory
    }

    fn page(memory: &Memory, number: u64) -> Arc<Page> {
        Arc::clone(memory.stores.table(Owner::Space(SPACE)).page(START / PAGE_SIZE + number).unwrap())
    }

    #[test]
    fn equal_contents_share_one_page() {
        let mut memory = memory();
        memory.write(SPACE, START, b"one").unwrap();
        let one = (memory.snapshot(), page(&memory, 0));
        memory.write(SPACE, START, b"two").unwrap();
        let two = (memory.snapshot(), page(&memory, 0));
        memory.write(SPACE, START, b"one").unwrap();
        memory.write(SPACE, START + PAGE_SIZE, b"two").unwrap();
        memory.snapshot();
        assert!(Arc::ptr_eq(&page(&memory, 0), &one.1) && Arc::ptr_eq(&page(&memory, 1), &two.1));
        // A store copies an interned page.
        memory.write(SPACE, START, b"new").unwrap();
        memory.restore(&one.0);
        let mut bytes = [0; 3];
        memory.read(SPACE, START, &mut bytes).unwrap();
        assert_eq!(&bytes, b"one");
    }

    #[test]
    fn pages_that_no_snapshot_holds_are_dropped() {
        let mut memory = memory();
        for number in 0..4 * MIN as u64 {
            memory.write(SPACE, START, &number.to_le_bytes()).unwrap();
            memory.snapshot();
        }
        assert!(memory.interned.pages.len() <= MIN);
    }
}
