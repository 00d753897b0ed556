//! Pages of equal content, which parked states share: the same few contents come again in thousands of states.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::page::Page;
use crate::store::Owner;
use crate::table::{Entry, PageHasher};

/// Contents are looked through for those that nobody parks any more once there are twice as many as last time.
const MIN: usize = 1024;

/// The pages that parked states hold, by content. Contents of equal identity are equal, as they are to the fingerprint.
#[derive(Debug)]
pub(crate) struct Twins {
    pages: HashMap<u128, Arc<Page>, BuildHasherDefault<PageHasher>>,
    /// How many there may be before those that nobody else holds are let go of.
    most: usize,
    /// Pages that others have taken the place of, and where.
    pub(crate) exchanged: Vec<(Owner, u64, Arc<Page>)>,
}

impl Default for Twins {
    fn default() -> Self {
        Self { pages: HashMap::default(), most: MIN, exchanged: Vec::new() }
    }
}

/// The pages of one owner, on their way to be parked.
pub(crate) struct TwinsOf<'a> {
    twins: &'a mut Twins,
    owner: Owner,
}

impl Twins {
    pub(crate) fn of(&mut self, owner: Owner) -> TwinsOf<'_> {
        TwinsOf { twins: self, owner }
    }

    /// A page of this content that was parked.
    pub(crate) fn find(&self, content: u128) -> Option<Arc<Page>> {
        self.pages.get(&content).cloned()
    }

    /// Notes a page that is parked, of a content that none had before.
    pub(crate) fn add(&mut self, content: u128, page: &Arc<Page>) {
        let known = self.other(content, page);
        debug_assert!(known.is_none(), "none had it before");
    }

    /// The page of this content that others hold, if it is not this one.
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

impl TwinsOf<'_> {
    /// Makes settled entries that begin at page `first` share their pages with whoever has the same.
    pub(crate) fn share(&mut self, entries: &mut [Entry], first: u64) {
        for (index, entry) in entries.iter_mut().enumerate() {
            // What somebody else holds already was parked before.
            let Some(page) = entry.page.as_mut().filter(|page| Arc::strong_count(page) == 1) else { continue };
            if let Some(other) = self.twins.other(entry.content, page) {
                let spare = std::mem::replace(page, other);
                self.twins.exchanged.push((self.owner, first + index as u64, spare));
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
    fn what_was_parked_before_is_parked_once() {
        let mut memory = memory();
        memory.write(SPACE, START, b"one").unwrap();
        let one = (memory.park(), page(&memory, 0));
        memory.write(SPACE, START, b"two").unwrap();
        let two = (memory.park(), page(&memory, 0));
        memory.write(SPACE, START, b"one").unwrap();
        memory.write(SPACE, START + PAGE_SIZE, b"two").unwrap();
        memory.park();
        assert!(Arc::ptr_eq(&page(&memory, 0), &one.1) && Arc::ptr_eq(&page(&memory, 1), &two.1));
        // Nobody writes into what others hold.
        memory.write(SPACE, START, b"new").unwrap();
        memory.restore(&one.0);
        let mut bytes = [0; 3];
        memory.read(SPACE, START, &mut bytes).unwrap();
        assert_eq!(&bytes, b"one");
    }

    #[test]
    fn pages_that_nobody_parks_any_more_are_let_go_of() {
        let mut memory = memory();
        for number in 0..4 * MIN as u64 {
            memory.write(SPACE, START, &number.to_le_bytes()).unwrap();
            memory.park();
        }
        assert!(memory.twins.pages.len() <= MIN);
    }
}
