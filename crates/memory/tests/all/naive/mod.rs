//! Memory as simple as it can be: every page a vector, every snapshot a clone. What the real one is held against.

use std::collections::BTreeMap;

use memory::{AccessKind, Cause, Fault, MapError, Protection, Sharing};

pub const PAGE: u64 = memory::PAGE_SIZE;

/// A page's bytes.
pub type Bytes = Vec<u8>;

/// One mapped page.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Mapped {
    pub protection: u8,
    /// Object and page in it.
    pub object: Option<(u64, u64)>,
    pub shared: bool,
    /// What was written privately.
    pub own: Option<Bytes>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Object {
    pub len: u64,
    pub held: bool,
    pub pages: BTreeMap<u64, Bytes>,
}

/// The whole state. Equal values are equal states.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Naive {
    pub spaces: BTreeMap<u64, BTreeMap<u64, Mapped>>,
    pub objects: BTreeMap<u64, Object>,
}

fn zeros() -> Bytes {
    vec![0; PAGE as usize]
}

fn is_zero(bytes: &Bytes) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

impl Object {
    pub fn page(&self, page: u64) -> Bytes {
        self.pages.get(&page).cloned().unwrap_or_else(zeros)
    }

    pub fn put(&mut self, page: u64, bytes: Bytes) {
        self.pages.insert(page, bytes);
        self.pages.retain(|_, bytes| !is_zero(bytes));
    }

    /// Bytes from `from` on, up to the end of its page, become zeros.
    fn zero_behind(&mut self, from: u64) {
        let mut bytes = self.page(from / PAGE);
        bytes[(from % PAGE) as usize..].fill(0);
        if !from.is_multiple_of(PAGE) {
            self.put(from / PAGE, bytes);
        }
    }
}

impl Naive {
    pub fn object(&mut self, id: u64) -> &mut Object {
        self.objects.get_mut(&id).unwrap()
    }

    pub fn space(&mut self, id: u64) -> &mut BTreeMap<u64, Mapped> {
        self.spaces.get_mut(&id).unwrap()
    }

    /// What a page shows, or why an access to it fails.
    pub fn page(&self, space: u64, page: u64, access: AccessKind) -> Result<Bytes, Cause> {
        let mapped = self.spaces[&space].get(&page).ok_or(Cause::Unmapped)?;
        if !Protection::from_bits(u64::from(mapped.protection)).allows(access) {
            return Err(Cause::Protected);
        }
        if let Some((id, page)) = mapped.object
            && page >= self.objects[&id].len.div_ceil(PAGE)
        {
            return Err(Cause::BeyondEnd);
        }
        let beneath = || mapped.object.map_or_else(zeros, |(id, page)| self.objects[&id].page(page));
        Ok(mapped.own.clone().unwrap_or_else(beneath))
    }

    /// What bytes an access finds, or where it fails.
    pub fn read(&self, space: u64, addr: u64, len: u64, access: AccessKind) -> Result<Vec<u8>, Fault> {
        let byte = |at: u64| {
            let page = self.page(space, at / PAGE, access).map_err(|cause| Fault { addr: at, access, cause })?;
            Ok(page[(at % PAGE) as usize])
        };
        (addr..addr + len).map(byte).collect()
    }

    /// Writes up to the first byte that fails.
    pub fn write(&mut self, space: u64, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        for (at, byte) in (addr..).zip(bytes) {
            let fault = |cause| Fault { addr: at, access: AccessKind::Write, cause };
            let mut page = self.page(space, at / PAGE, AccessKind::Write).map_err(fault)?;
            page[(at % PAGE) as usize] = *byte;
            self.put(space, at / PAGE, page);
        }
        Ok(())
    }

    fn put(&mut self, space: u64, page: u64, bytes: Bytes) {
        let mapped = self.space(space).get_mut(&page).unwrap();
        match mapped.object {
            Some((id, page)) if mapped.shared => self.object(id).put(page, bytes),
            None if is_zero(&bytes) => mapped.own = None,
            _ => mapped.own = Some(bytes),
        }
    }

    /// Objects that nobody holds or maps are gone.
    fn collect(&mut self) {
        let mapped: Vec<u64> =
            self.spaces.values().flat_map(BTreeMap::values).filter_map(|m| Some(m.object?.0)).collect();
        self.objects.retain(|id, object| object.held || mapped.contains(id));
    }

    pub fn map(&mut self, space: u64, page: u64, pages: u64, protection: u8, backing: Option<(u64, u64, Sharing)>) {
        for at in 0..pages {
            let object = backing.map(|(id, first, _)| (id, first + at));
            let shared = backing.is_some_and(|(_, _, sharing)| sharing == Sharing::Shared);
            self.space(space).insert(page + at, Mapped { protection, object, shared, own: None });
        }
        self.collect();
    }

    pub fn unmap(&mut self, space: u64, page: u64, pages: u64) {
        self.space(space).retain(|at, _| !(page..page + pages).contains(at));
        self.collect();
    }

    pub fn protect(&mut self, space: u64, page: u64, pages: u64, protection: u8) -> Result<(), MapError> {
        for at in page..page + pages {
            self.space(space).get_mut(&at).ok_or(MapError::NotMapped)?.protection = protection;
        }
        Ok(())
    }

    pub fn discard(&mut self, space: u64, page: u64, pages: u64) -> Result<(), MapError> {
        self.space(space).range_mut(page..page + pages).for_each(|(_, mapped)| mapped.own = None);
        if (page..page + pages).all(|at| self.spaces[&space].contains_key(&at)) {
            Ok(())
        } else {
            Err(MapError::NotMapped)
        }
    }

    /// Moves pages that are all mapped alike; the target is longer or shorter.
    pub fn move_pages(&mut self, space: u64, from: u64, old: u64, to: u64, new: u64) {
        let moved: Vec<Mapped> = (from..from + old).map(|at| self.spaces[&space][&at].clone()).collect();
        let first = moved[0].clone();
        for at in 0..new {
            let object = first.object.map(|(id, page)| (id, page + at));
            let fresh = Mapped { object, own: None, ..first.clone() };
            let mapped = moved.get(at as usize).cloned().unwrap_or(fresh);
            self.space(space).insert(to + at, mapped);
        }
        self.unmap(space, from, old);
    }

    pub fn resize(&mut self, id: u64, len: u64) {
        let object = self.object(id);
        let old = object.len;
        if old == len {
            return;
        }
        object.zero_behind(old.min(len));
        object.len = len;
        let pages = len.div_ceil(PAGE);
        object.pages.retain(|page, _| *page < pages);
        if len < old {
            let gone = |mapped: &&mut Mapped| mapped.object.is_some_and(|(object, page)| object == id && page >= pages);
            self.spaces.values_mut().flat_map(BTreeMap::values_mut).filter(gone).for_each(|mapped| mapped.own = None);
        }
    }

    pub fn write_object(&mut self, id: u64, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if end > self.objects[&id].len && !bytes.is_empty() {
            self.resize(id, end);
        }
        for (at, byte) in (offset..).zip(bytes) {
            let mut page = self.objects[&id].page(at / PAGE);
            page[(at % PAGE) as usize] = *byte;
            self.object(id).put(at / PAGE, page);
        }
    }

    pub fn drop_object(&mut self, id: u64) {
        self.object(id).held = false;
        self.collect();
    }

    pub fn drop_space(&mut self, id: u64) {
        self.spaces.remove(&id);
        self.collect();
    }
}
