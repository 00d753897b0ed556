//! The guest's accesses: loads and stores of the current space, all or nothing.

#![allow(unsafe_code)]

use crate::access::{Check, pieces};
use crate::memory::Memory;
use crate::owner::{Owner, Place};
use crate::tlb::{LOG, Tlb};
use crate::watch::pack;
use crate::{AccessKind, Cause, Fault, Halt, PAGE_BITS, PAGE_BYTES, PAGE_SIZE, SpaceId, Stopped, VisibleAccess, page};

mod sealed {
    pub trait Sealed {}
}

/// An integer that loads and stores move.
pub trait Word: Copy + sealed::Sealed {
    /// From and to the low bytes of a wide integer.
    fn narrow(wide: u128) -> Self;
    /// Zero-extended.
    fn widen(self) -> u128;
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl sealed::Sealed for $word {}
        impl Word for $word {
            #[inline(always)]
            fn narrow(wide: u128) -> Self {
                wide as $word
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                u128::from(self)
            }
        }
    )*};
}

words!(u8 u16 u32 u64 u128);

const _: () = assert!(cfg!(target_endian = "little"), "guest words are moved as they are");

/// With fewer slots that show an object's page, slots of dead spaces are kept.
const WATCHERS_MIN: usize = 8;

/// The page that the last byte of an access is in. Only one of two neighbouring pages can have a tag in a given slot, so
/// comparing this with the slot of the first byte also catches accesses that cross a page.
#[inline(always)]
fn last_page<W>(addr: u64) -> u64 {
    addr.wrapping_add(size_of::<W>() as u64 - 1) >> PAGE_BITS
}

impl Memory {
    /// Makes a space the one that loads and stores go to. Cheap: each space keeps its translations.
    pub fn enter(&mut self, id: SpaceId) {
        if self.current == Some(id) {
            return;
        }
        let known = self.stores.space_mut(id).tlb.take();
        let tlb = known.or_else(|| self.spare_tlbs.pop()).unwrap_or_default();
        let mut left = std::mem::replace(&mut self.tlb, tlb);
        // Only the current space has write tags, so that a mark need not look at the others.
        left.revoke_writes();
        match self.current.replace(id) {
            Some(space) => self.stores.space_mut(space).tlb = Some(left),
            None => self.spare_tlbs.push(left),
        }
    }

    /// The space that loads and stores go to.
    #[must_use]
    pub fn current(&self) -> Option<SpaceId> {
        self.current
    }

    /// Why the last load or store that stopped did so.
    #[must_use]
    pub fn halt(&self) -> Halt {
        self.halt
    }

    /// Loads a word. The error is free of content so that it fits in registers: [`Self::halt`] says why.
    ///
    /// # Errors
    /// If the access faults, or is to an armed page.
    #[inline(always)]
    pub fn fast_load<W: Word>(&mut self, addr: u64) -> Result<W, Stopped> {
        if let Ok(word) = self.quick_load(addr) {
            return Ok(word);
        }
        if self.load_slowly::<W>(addr) { Ok(W::narrow(self.loaded)) } else { Err(Stopped) }
    }

    /// Stores a word. The error is free of content so that it fits in registers: [`Self::halt`] says why.
    ///
    /// # Errors
    /// If the access faults, or is to an armed page.
    #[inline(always)]
    pub fn fast_store<W: Word>(&mut self, addr: u64, value: W) -> Result<(), Stopped> {
        if self.quick_store(addr, value).is_ok() {
            return Ok(());
        }
        let wide = value.widen();
        if self.store_slowly::<W>(addr, wide as u64, (wide >> 64) as u64) { Ok(()) } else { Err(Stopped) }
    }

    /// A load that hits the translation cache.
    ///
    /// # Errors
    /// On a miss; nothing was done then.
    #[inline(always)]
    pub fn quick_load<W: Word>(&mut self, addr: u64) -> Result<W, Stopped> {
        let slot = self.tlb.slot(addr);
        if slot.read != last_page::<W>(addr) {
            return Err(Stopped);
        }
        // SAFETY: a read tag says that all bytes of the page are readable at `base`, and the access lies inside it.
        Ok(unsafe { slot.base.wrapping_add(addr as usize).cast::<W>().read_unaligned() })
    }

    /// A store that hits the translation cache.
    ///
    /// # Errors
    /// On a miss; nothing was done then.
    #[inline(always)]
    pub fn quick_store<W: Word>(&mut self, addr: u64, value: W) -> Result<(), Stopped> {
        let slot = self.tlb.slot(addr);
        if slot.write != last_page::<W>(addr) {
            return Err(Stopped);
        }
        // SAFETY: a write tag says that the page is ours alone and at `base`, and the access lies inside it.
        unsafe { slot.base.wrapping_add(addr as usize).cast::<W>().write_unaligned(value) };
        Ok(())
    }

    /// Where a word can be read until the next access; null on a miss of the translation cache. For
    /// words that are better not taken through general registers.
    #[inline(always)]
    pub fn quick_pointer<W: Word>(&mut self, addr: u64) -> *const u8 {
        let slot = self.tlb.slot(addr);
        if slot.read == last_page::<W>(addr) { slot.base.wrapping_add(addr as usize) } else { std::ptr::null() }
    }

    /// Where a word can be read until the next access; null if the load was stopped.
    #[inline(always)]
    pub fn fast_pointer<W: Word>(&mut self, addr: u64) -> *const u8 {
        let quick = self.quick_pointer::<W>(addr);
        if !quick.is_null() {
            return quick;
        }
        if self.load_slowly::<W>(addr) { (&raw const self.loaded).cast() } else { std::ptr::null() }
    }

    /// Where a word can be written until the next access; null on a miss of the translation cache.
    #[inline(always)]
    pub fn quick_target<W: Word>(&mut self, addr: u64) -> *mut u8 {
        let slot = self.tlb.slot(addr);
        if slot.write == last_page::<W>(addr) { slot.base.wrapping_add(addr as usize) } else { std::ptr::null_mut() }
    }

    /// Leaves the loaded word in `loaded`; whether it could. The common case while accesses are logged.
    #[cold]
    #[inline(never)]
    fn load_slowly<W: Word>(&mut self, addr: u64) -> bool {
        let slot = self.tlb.slot(addr);
        if slot.read == last_page::<W>(addr) | LOG {
            // SAFETY: as in `quick_load`.
            let word = unsafe { slot.base.wrapping_add(addr as usize).cast::<W>().read_unaligned() };
            self.loaded = word.widen();
            self.log.push(pack(addr, size_of::<W>(), false));
            return true;
        }
        self.load_missed(addr, size_of::<W>())
    }

    #[inline(never)]
    fn load_missed(&mut self, addr: u64, size: usize) -> bool {
        let mut bytes = [0; 16];
        let result = self.load_bytes(addr, &mut bytes[..size]);
        self.loaded = u128::from_le_bytes(bytes);
        result.map_err(|halt| self.halt = halt).is_ok()
    }

    /// Stores a word that comes in halves, for a wide integer would be passed in memory; whether it could.
    #[cold]
    #[inline(never)]
    fn store_slowly<W: Word>(&mut self, addr: u64, low: u64, high: u64) -> bool {
        let wide = u128::from(low) | u128::from(high) << 64;
        let slot = self.tlb.slot(addr);
        if slot.write == last_page::<W>(addr) | LOG {
            // SAFETY: as in `quick_store`.
            unsafe { slot.base.wrapping_add(addr as usize).cast::<W>().write_unaligned(W::narrow(wide)) };
            self.log.push(pack(addr, size_of::<W>(), true));
            return true;
        }
        self.store_missed(addr, &wide.to_le_bytes()[..size_of::<W>()])
    }

    #[inline(never)]
    fn store_missed(&mut self, addr: u64, bytes: &[u8]) -> bool {
        self.store_bytes(addr, bytes).map_err(|halt| self.halt = halt).is_ok()
    }

    fn load_bytes(&mut self, addr: u64, buffer: &mut [u8]) -> Result<(), Halt> {
        let size = buffer.len();
        if !slot_read(&self.tlb, addr, self.log_tag, buffer) {
            let space = self.entered(addr, AccessKind::Read)?;
            self.check(space, VisibleAccess { addr, size: size as u32, access: AccessKind::Read })?;
            for piece in pieces(addr, size) {
                let place =
                    self.resolve(space, piece.addr, AccessKind::Read, Check::Permission).map_err(Halt::Fault)?;
                let bytes = self.stores.view(place);
                buffer[piece.range()].copy_from_slice(&bytes[piece.offset..piece.offset + piece.len]);
                let bytes = bytes.as_ptr();
                self.fill_read(space, piece.page, place, bytes);
            }
        }
        self.log_guest(addr, size, false);
        Ok(())
    }

    fn store_bytes(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Halt> {
        if !slot_write(&self.tlb, addr, self.log_tag, bytes) {
            let space = self.entered(addr, AccessKind::Write)?;
            self.check(space, VisibleAccess { addr, size: bytes.len() as u32, access: AccessKind::Write })?;
            if (addr % PAGE_SIZE) as usize + bytes.len() > PAGE_BYTES {
                self.check_pages(space, addr, bytes.len())?;
            }
            for piece in pieces(addr, bytes.len()) {
                let place =
                    self.resolve(space, piece.addr, AccessKind::Write, Check::Permission).map_err(Halt::Fault)?;
                self.check_code(place, addr, bytes.len())?;
                let own = self.own(place).map_err(|_| Halt::Fault(no_memory(piece.addr)))?;
                page::write(own, piece.offset, &bytes[piece.range()]);
                let own = own.pointer();
                self.fill_write(space, piece.page, place, own);
            }
        }
        self.log_guest(addr, bytes.len(), true);
        Ok(())
    }

    /// Stops before a store to a page that holds code, when asked to.
    fn check_code(&self, place: Place, addr: u64, size: usize) -> Result<(), Halt> {
        if self.stop_at_code && self.stores.holds_code(place.owner, place.page) {
            return Err(Halt::Visible(VisibleAccess { addr, size: size as u32, access: AccessKind::Write }));
        }
        Ok(())
    }

    /// Whether every page of a store can be written: one that faults in its second page has not written the first.
    fn check_pages(&mut self, space: SpaceId, addr: u64, size: usize) -> Result<(), Halt> {
        let mut new = 0;
        for piece in pieces(addr, size) {
            let place = self.resolve(space, piece.addr, AccessKind::Write, Check::Permission).map_err(Halt::Fault)?;
            self.check_code(place, addr, size)?;
            new += u64::from(self.stores.table(place.owner).page(place.page).is_none());
            if new > 0 && self.resident + new > self.limit.pages {
                return Err(Halt::Fault(no_memory(piece.addr)));
            }
        }
        Ok(())
    }

    fn entered(&self, addr: u64, access: AccessKind) -> Result<SpaceId, Halt> {
        self.current.ok_or(Halt::Fault(Fault { addr, access, cause: Cause::Unmapped }))
    }

    /// Stops before an access to an armed page, whether or not it will fault.
    fn check(&self, space: SpaceId, touch: VisibleAccess) -> Result<(), Halt> {
        let armed = self.stores.space(space);
        if self.pass_armed || armed.armed.is_empty() {
            return Ok(());
        }
        let is_armed = pieces(touch.addr, touch.size as usize).any(|piece| armed.is_armed(piece.page));
        if is_armed { Err(Halt::Visible(touch)) } else { Ok(()) }
    }

    fn log_guest(&mut self, addr: u64, size: usize, write: bool) {
        if self.log_tag != 0 {
            self.log.push(pack(addr, size, write));
        }
    }

    fn fill_read(&mut self, space: SpaceId, page: u64, place: Place, bytes: *const u8) {
        if !self.stores.space(space).is_armed(page) {
            self.watch_object(space, page, place);
            self.tlb.fill_read(page, self.log_tag, bytes);
        }
    }

    /// The page is held alone: later stores hit the translation cache, unless each has to be stopped.
    fn fill_write(&mut self, space: SpaceId, page: u64, place: Place, bytes: *mut u8) {
        if !self.stores.space(space).is_armed(page) && !self.stores.holds_code(place.owner, place.page) {
            self.watch_object(space, page, place);
            self.tlb.fill_write(page, self.log_tag, bytes);
        }
    }

    /// Remembers that the slot of a page shows an object, to find it when the object's page moves.
    fn watch_object(&mut self, space: SpaceId, page: u64, place: Place) {
        let object = match place.owner {
            Owner::Object(object) => Some((object, place.page)),
            Owner::Space(_) => place.under,
        };
        if let Some(key) = object {
            let watchers = self.watchers.entry(key).or_default();
            if watchers.contains(&(space, page)) {
                return;
            }
            if watchers.len() >= WATCHERS_MIN {
                // Slots of dead spaces are dropped.
                watchers.retain(|(space, _)| self.stores.spaces.contains_key(space));
            }
            watchers.push((space, page));
        }
    }
}

fn no_memory(addr: u64) -> Fault {
    Fault { addr, access: AccessKind::Write, cause: Cause::NoMemory }
}

/// Copies from the slot's page, if the access hits: a hit that the fast path did not see, being logged or long.
fn slot_read(tlb: &Tlb, addr: u64, log: u64, buffer: &mut [u8]) -> bool {
    let (slot, offset) = (tlb.slot(addr), (addr % PAGE_SIZE) as usize);
    if slot.read != addr >> PAGE_BITS | log || offset + buffer.len() > PAGE_BYTES {
        return false;
    }
    // SAFETY: as in `quick_load`; the access lies inside the page.
    unsafe { std::ptr::copy_nonoverlapping(slot.base.wrapping_add(addr as usize), buffer.as_mut_ptr(), buffer.len()) };
    true
}

/// Copies to the slot's page, if the access hits: a hit that the fast path did not see, being logged or long.
fn slot_write(tlb: &Tlb, addr: u64, log: u64, bytes: &[u8]) -> bool {
    let (slot, offset) = (tlb.slot(addr), (addr % PAGE_SIZE) as usize);
    if slot.write != addr >> PAGE_BITS | log || offset + bytes.len() > PAGE_BYTES {
        return false;
    }
    // SAFETY: as in `quick_store`; the access lies inside the page.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), slot.base.wrapping_add(addr as usize), bytes.len()) };
    true
}

macro_rules! accesses {
    ($($load:ident $store:ident $word:ty;)*) => {
        impl Memory {$(
            #[doc = concat!("Loads a `", stringify!($word), "` of the current space.")]
            ///
            /// # Errors
            /// If the access faults, or is to an armed page; nothing was done then.
            #[inline(always)]
            pub fn $load(&mut self, addr: u64) -> Result<$word, Halt> {
                self.fast_load(addr).map_err(|Stopped| self.halt)
            }

            #[doc = concat!("Stores a `", stringify!($word), "` into the current space.")]
            ///
            /// # Errors
            /// If the access faults, or is to an armed page; nothing was done then.
            #[inline(always)]
            pub fn $store(&mut self, addr: u64, value: $word) -> Result<(), Halt> {
                self.fast_store(addr, value).map_err(|Stopped| self.halt)
            }
        )*}
    };
}

accesses! {
    load_u8 store_u8 u8;
    load_u16 store_u16 u16;
    load_u32 store_u32 u32;
    load_u64 store_u64 u64;
    load_u128 store_u128 u128;
}

impl Memory {
    /// Loads any number of bytes of the current space, all or nothing: for `fxsave` areas and the like.
    ///
    /// # Errors
    /// If the access faults, or is to an armed page; nothing was done then.
    pub fn load<const N: usize>(&mut self, addr: u64) -> Result<[u8; N], Halt> {
        let mut bytes = [0; N];
        self.load_bytes(addr, &mut bytes)?;
        Ok(bytes)
    }

    /// Stores any number of bytes into the current space, all or nothing.
    ///
    /// # Errors
    /// If the access faults, or is to an armed page; nothing was done then.
    pub fn store<const N: usize>(&mut self, addr: u64, bytes: &[u8; N]) -> Result<(), Halt> {
        self.store_bytes(addr, bytes)
    }
}
