//! Watching: armed pages, the log of accesses, pages that hold code.

use std::ops::Range;

use crate::access::{Check, Piece};
use crate::memory::Memory;
use crate::owner::{Owner, Place};
use crate::tlb::LOG;
use crate::{AccessKind, Logged, PAGE_SIZE, SpaceId, hash};

/// Bits of a logged access: address, size, store.
///
/// User addresses have 47 bits (see [`crate::USER_END`]), a size 16: an entry never crosses a page.
const SIZE_SHIFT: u32 = 47;
const WRITE_BIT: u64 = 1 << 63;

pub(crate) fn pack(addr: u64, size: usize, write: bool) -> u64 {
    addr | (size as u64) << SIZE_SHIFT | if write { WRITE_BIT } else { 0 }
}

pub(crate) fn unpack(word: u64) -> Logged {
    let size = ((word & !WRITE_BIT) >> SIZE_SHIFT) as u32;
    Logged { addr: word & ((1 << SIZE_SHIFT) - 1), size, write: word & WRITE_BIT != 0 }
}

impl Memory {
    /// Guest accesses to pages of this range of addresses are stopped before they happen. Armed ranges are no part of the
    /// state: neither undone, nor in snapshots, nor in the fingerprint. The kernel's accesses are not stopped.
    ///
    /// Armed pages have no translation, so the fast path misses them and the slow one stops:
    /// nothing is tested on accesses to other pages.
    pub fn arm(&mut self, space: SpaceId, range: Range<u64>) {
        let pages = range.start / PAGE_SIZE..range.end.div_ceil(PAGE_SIZE);
        if let Some(tlb) = self.tlb_of(space) {
            tlb.forget(pages.start, pages.end.max(pages.start));
        }
        let space = self.stores.space_mut(space);
        if !space.armed.contains(&pages) && !pages.is_empty() {
            space.armed.push(pages);
        }
    }

    /// Accesses to pages of this range are executed again.
    pub fn disarm(&mut self, space: SpaceId, range: Range<u64>) {
        let (start, end) = (range.start / PAGE_SIZE, range.end.div_ceil(PAGE_SIZE));
        let armed = &mut self.stores.space_mut(space).armed;
        let cut = |old: Range<u64>| [old.start..old.end.min(start), old.start.max(end)..old.end];
        *armed = armed.drain(..).flat_map(cut).filter(|range| !range.is_empty()).collect();
    }

    /// Whether accesses to armed pages are executed all the same: for the step that was stopped before one.
    pub fn pass_armed(&mut self, pass: bool) {
        self.pass_armed = pass;
    }

    /// Whether guest stores to pages with noted code ([`Self::note_code`]) are stopped before they happen, as
    /// [`crate::Halt::Visible`]: an interpreter must not change the block that it executes.
    ///
    /// x86 processors execute self-modified code as written (Intel SDM volume 3A, "Self-Modifying
    /// Code"); lowered blocks must be made again before the next instruction.
    pub fn stop_at_code(&mut self, stop: bool) {
        self.stop_at_code = stop;
    }

    /// Whether accesses are logged: every load and store of the guest, and what the kernel reads and writes in the
    /// current space, one entry per page. Off, this costs nothing.
    pub fn log_accesses(&mut self, on: bool) {
        let tag = if on { LOG } else { 0 };
        if tag == self.log_tag {
            return;
        }
        self.log_tag = tag;
        self.tlb.forget_all();
        self.stores.spaces.values_mut().for_each(|space| space.tlb = None);
    }

    /// Accesses logged since the last call, oldest first.
    pub fn take_log(&mut self) -> Vec<Logged> {
        self.keep_log();
        self.log.drain(..).map(unpack).collect()
    }

    /// The same into a list that is used again and again.
    pub fn take_log_into(&mut self, list: &mut Vec<Logged>) {
        list.clear();
        self.keep_log();
        list.extend(self.log.drain(..).map(unpack));
    }

    /// Forgets what was logged.
    pub fn forget_log(&mut self) {
        self.keep_log();
        self.log.clear();
    }

    /// How many accesses are logged.
    #[must_use]
    pub fn log_len(&self) -> usize {
        self.log.len()
    }

    /// Logged accesses from the `first` on, oldest first; they stay in the log.
    pub fn logged_since(&self, first: usize) -> impl Iterator<Item = Logged> + '_ {
        self.log.get(first..).unwrap_or_default().iter().copied().map(unpack)
    }

    /// Takes the newest accesses out of the log, so that `len` are left: they were undone.
    pub fn cut_log(&mut self, len: usize) {
        self.log.truncate(len);
    }

    /// Logged accesses belong to the read set, if that is recorded.
    fn keep_log(&mut self) {
        let read_set = self.read_set.get_mut();
        if read_set.is_on {
            read_set.accesses.extend_from_slice(&self.log);
        }
    }

    /// Notes a read made by the checker itself.
    pub(crate) fn note_peek(&self, space: SpaceId, addr: u64, len: usize) {
        let mut read_set = self.read_set.borrow_mut();
        if read_set.is_on {
            read_set.peeks.push((space, addr, len));
        }
    }

    /// Notes that more than words of the current space is read.
    ///
    /// Such a step gets no [`crate::Effect`]: it is executed in every state.
    pub(crate) fn note_more(&self) {
        self.read_set.borrow_mut().is_more = true;
    }

    /// Whether code may have been noted in a page that a space holds privately, in any state: it may differ from one state to
    /// the next.
    #[must_use]
    pub fn is_patched(&self) -> bool {
        self.is_patched
    }

    /// Notes an access that faults, as a read of one byte: it depends on the mapping of its page like any other.
    pub(crate) fn log_fault(&mut self, space: SpaceId, addr: u64) {
        if self.log_tag != 0 && self.current == Some(space) && addr < 1 << SIZE_SHIFT {
            self.log.push(pack(addr, 1, false));
        }
    }

    /// Notes that the kernel has found, without an access, that there would be a fault.
    pub fn note_fault(&mut self, space: SpaceId, addr: u64) {
        self.log_fault(space, addr);
    }

    /// Notes an access of the kernel, if it is to the current space.
    ///
    /// Accesses to other spaces (process_vm_readv(2), a tracer) are no words of the current one.
    pub(crate) fn log_kernel(&mut self, space: SpaceId, piece: Piece, write: bool) {
        if self.log_tag != 0 && self.current == Some(space) {
            self.log.push(pack(piece.addr, piece.len, write));
        } else {
            self.note_more();
        }
    }

    /// Notes that a page (by number) of the current space has code that was lowered: changes of it move [`Self::code_epoch`]
    /// from now on.
    pub fn note_code(&mut self, page: u64) {
        if let Some(space) = self.current {
            self.watch_code(space, page);
        }
    }

    /// Noted with the space and with the object beneath: a store through another mapping of the
    /// same file changes the code as well.
    fn watch_code(&mut self, id: SpaceId, page: u64) -> Option<Place> {
        let place = self.locate(id, page * PAGE_SIZE, AccessKind::Execute, Check::Permission).ok()?;
        self.is_patched |=
            matches!(place.owner, Owner::Space(_)) && self.stores.table(place.owner).page(page).is_some();
        let space = self.stores.space_mut(id);
        if space.code.insert(page)
            && let Some(tlb) = self.tlb_of(id)
        {
            tlb.repoint(page, None);
        }
        let object = match place.owner {
            Owner::Object(object) => Some((object, place.page)),
            Owner::Space(_) => place.under,
        };
        if let Some((object, page)) = object
            && self.stores.object_mut(object).code.insert(page)
        {
            self.moved(Owner::Object(object), page);
        }
        Some(place)
    }

    /// The hash of a page, if it is known.
    fn known_content(&self, owner: Owner, page: u64) -> Option<u128> {
        match (self.stores.table(owner).entry(page).filter(|entry| entry.page.is_some()), owner) {
            (Some(entry), _) => (!entry.stamp.dirty()).then_some(entry.content),
            (None, Owner::Object(_)) => Some(self.stores.content_beneath(owner, page)),
            (None, Owner::Space(_)) => None,
        }
    }

    /// Hash of the content of a page that can be executed, 0 for any other. Equal versions mean equal contents, in
    /// all spaces, states and runs, so lowered code may be kept by it. Also does what [`Self::note_code`] does.
    pub fn code_version(&mut self, space: SpaceId, page: u64) -> u64 {
        let Some(place) = self.watch_code(space, page) else { return 0 };
        let known = self.known_content(place.owner, place.page).or_else(|| {
            let (object, page) = place.under.filter(|_| self.stores.table(place.owner).page(place.page).is_none())?;
            self.known_content(Owner::Object(object), page)
        });
        let content = known.filter(|content| *content != 0).unwrap_or_else(|| hash::content(self.stores.view(place)));
        content as u64
    }

    /// Changes whenever a page with noted code may have other content, in any space: by a store, a change of mappings, an undo
    /// or a restore. Never the same for two different contents, and no part of the state.
    #[must_use]
    pub fn code_epoch(&self) -> u64 {
        self.code_epoch
    }
}
